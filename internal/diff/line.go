package diff

import (
	"cmp"
	"slices"
)

// place is a line, or the lines of a whole stack, with how much of the metric
// came from there.
type place struct {
	number   int32 // of the line or the lines, the same on both sides
	old, new uint64
	of       step // there
}

type comparison func(a, b *place) int

func byNumber(a, b *place) int { return cmp.Compare(a.number, b.number) }
func byAmount(a, b *place) int {
	return cmp.Or(cmp.Compare(a.old+a.new, b.old+b.new), byNumber(a, b))
}

func (compare comparison) sort(places []place) {
	slices.SortFunc(places, func(a, b place) int { return compare(&a, &b) })
}

// placesOf sums steps by their numbers, on each side.
func placesOf(steps []step, numberOf func(step) int32) (old, new []place) {
	index := [2]map[int32]int{make(map[int32]int), make(map[int32]int)}
	add := func(places []place, index map[int32]int, s step) []place {
		number := numberOf(s)
		i, known := index[number]
		if !known {
			i = len(places)
			index[number] = i
			places = append(places, place{number: number, of: s})
		}
		places[i].old += s.old
		places[i].new += s.new
		return places
	}
	for _, s := range steps {
		if s.isNew {
			new = add(new, index[1], s)
		} else {
			old = add(old, index[0], s)
		}
	}
	return old, new
}

// meet pairs places of both sides that are equal and fit together, and returns
// the others. Both sides are sorted by what is compared.
func meet(old, new []place, compare comparison, fit func(o, n *place) bool) (pairs, restOld, restNew []place) {
	for len(old) > 0 && len(new) > 0 {
		o, n := &old[0], &new[0]
		switch order := compare(o, n); {
		case order == 0 && fit(o, n):
			n.old = o.old
			pairs = append(pairs, *n)
			old, new = old[1:], new[1:]
		case order <= 0:
			restOld, old = append(restOld, *o), old[1:]
		default:
			restNew, new = append(restNew, *n), new[1:]
		}
	}
	return pairs, append(restOld, old...), append(restNew, new...)
}

// telling returns of some steps one at the place where most of their change is.
// Lines may have moved between the two sides: they are the same where as much
// comes from there, else by their number, else by their order. There may be
// tens of thousands of them, so that none is looked for among all others.
func (d *Diff) telling(steps []step, numberOf func(step) int32) step {
	if len(steps) == 1 {
		return steps[0]
	}
	asMany := func(o, n *place) bool { return d.excessOf(o.old, n.new) == 0 }
	anyPair := func(o, n *place) bool { return true }
	old, new := placesOf(steps, numberOf)
	var pairs []place
	for _, by := range []struct {
		order, compare comparison
		fit            func(o, n *place) bool
	}{
		{byNumber, byNumber, asMany},
		{byAmount, sameAmount, asMany},
		{byAmount, d.sameWork, asMany},
		{byNumber, byNumber, anyPair},
		{byNumber, func(o, n *place) int { return 0 }, anyPair},
	} {
		if len(old) == 0 || len(new) == 0 {
			break
		}
		by.order.sort(old)
		by.order.sort(new)
		var met []place
		met, old, new = meet(old, new, by.compare, by.fit)
		pairs = append(pairs, met...)
	}
	pairs = slices.Concat(pairs, new, old)
	var all float64
	for i := range pairs {
		all += d.excessOf(pairs[i].old, pairs[i].new)
	}
	share := func(p *place) float64 {
		excess := d.excessOf(p.old, p.new)
		if all < 0 {
			return -excess
		}
		return excess
	}
	most := &pairs[0]
	for i := range pairs {
		p := &pairs[i]
		if a, b := share(p), share(most); a > b || a == b && p.old+p.new > most.old+most.new {
			most = p
		}
	}
	return most.of
}

func sameAmount(o, n *place) int { return cmp.Compare(o.old, n.new) }

// sameWork compares how much comes from two places for as much work.
func (d *Diff) sameWork(o, n *place) int {
	if d.proportional(o.old, n.new) {
		return 0
	}
	return cmp.Compare(d.asMuchWork(o.old), float64(n.new))
}
