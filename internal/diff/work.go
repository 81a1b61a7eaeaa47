package diff

import (
	"cmp"
	"slices"

	"mallow/internal/profile"
)

// Unit is a unit of work that one of the profiles counted, or both.
type Unit struct {
	Name     string
	Function bool
	Old, New *profile.Unit // nil where it was not counted
}

// Region is a named kind of work in one of the profiles, or in both.
type Region struct {
	Name     string
	Old, New *profile.Region
}

func (d *Diff) compareWork(per string) {
	for _, pair := range pairs(d.Old.Units, d.New.Units, func(u *profile.Unit) unitName { return unitName{u.Name, u.Function} }) {
		name := pair.key
		d.Units = append(d.Units, &Unit{Name: name.name, Function: name.function, Old: pair.old, New: pair.new})
	}
	for _, pair := range pairs(d.Old.Regions, d.New.Regions, func(r *profile.Region) string { return r.Name }) {
		d.Regions = append(d.Regions, &Region{Name: pair.key, Old: pair.old, New: pair.new})
	}
	d.countRecordings()
	d.choosePer(per)
}

// countRecordings makes a unit of work of the recordings, where there are not
// as many on both sides: each is a run.
func (d *Diff) countRecordings() {
	if len(d.Old.Recordings) == len(d.New.Recordings) || slices.ContainsFunc(d.Units, (*Unit).Both) {
		return
	}
	unitOf := func(p *profile.Profile) *profile.Unit {
		own, libc := p.WithoutLibc(), &p.Origins[profile.OriginLibc]
		return &profile.Unit{
			Name: "recording", Count: uint64(len(p.Recordings)), Allocations: own.Allocations, Bytes: own.Bytes,
			LibcAllocations: libc.Allocations, LibcBytes: libc.Bytes,
		}
	}
	d.Units = append(d.Units, &Unit{Name: "recording", Old: unitOf(d.Old), New: unitOf(d.New)})
}

type unitName struct {
	name     string
	function bool
}

// Both tells whether work of that kind was done on both sides.
func (u *Unit) Both() bool {
	return u.Old != nil && u.New != nil && u.Old.Count > 0 && u.New.Count > 0
}

// choosePer takes the unit of which there are fewest: requests rather than
// bytes. Where both sides did the same amount, counts need no unit.
func (d *Diff) choosePer(name string) {
	var per *Unit
	for _, u := range d.Units {
		if u.Both() && (name == "" || u.Name == name) &&
			(per == nil || u.Old.Count+u.New.Count < per.Old.Count+per.New.Count) {
			per = u
		}
	}
	if per != nil && per.Old.Count != per.New.Count {
		d.Per = per
	}
}

type pair[K comparable, V any] struct {
	key      K
	old, new *V
}

// pairs joins two lists by key, in the order of new, then old.
func pairs[K comparable, V any](old, new []*V, keyOf func(*V) K) []pair[K, V] {
	var all []pair[K, V]
	at := make(map[K]int)
	for _, v := range new {
		at[keyOf(v)] = len(all)
		all = append(all, pair[K, V]{key: keyOf(v), new: v})
	}
	for _, v := range old {
		i, known := at[keyOf(v)]
		if !known {
			all = append(all, pair[K, V]{key: keyOf(v), old: v})
			continue
		}
		all[i].old = v
	}
	return all
}

// HasUnit tells whether both profiles counted work of that name.
func HasUnit(old, new *profile.Profile, name string) bool {
	counted := func(u *profile.Unit) bool { return u.Name == name && u.Count > 0 }
	return slices.ContainsFunc(old.Units, counted) && slices.ContainsFunc(new.Units, counted)
}

// CommonUnits are the names of the units of work that both profiles counted.
func CommonUnits(old, new *profile.Profile) []string {
	var names []string
	for _, u := range new.Units {
		if HasUnit(old, new, u.Name) {
			names = append(names, u.Name)
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return slices.Compact(names)
}
