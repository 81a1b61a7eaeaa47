package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mallow/internal/recording"
)

// Unit is a kind of work that the program did, or the calls of a function,
// and what was allocated for it.
type Unit struct {
	Name     string
	Function bool // the calls of the function of that name
	Count    uint64
	// Of the processes that counted any: by program and libraries, and by libc
	// on its own account.
	Allocations, Bytes         uint64
	LibcAllocations, LibcBytes uint64
}

// PerUnit divides by the count; 0 when there is none.
func (u *Unit) PerUnit(n uint64) float64 {
	if u.Count == 0 {
		return 0
	}
	return float64(n) / float64(u.Count)
}

// CountsBytes tells whether the unit is a byte, and of what ("" for none).
func (u *Unit) CountsBytes() (of string, ok bool) {
	if u.Name == "bytes" {
		return "", true
	}
	return strings.CutSuffix(u.Name, " bytes")
}

func (p *Profile) addUnits() {
	type key struct {
		name     string
		function bool
	}
	byName := make(map[key]*Unit)
	loaded := make(map[string]bool) // functions that a process has
	for _, process := range p.Processes {
		for _, u := range process.Image.Units {
			loaded[u.Name] = loaded[u.Name] || u.Refusal != recording.RefusedNotLoaded
		}
	}
	for _, process := range p.Processes {
		counted := make(map[*Unit]bool)
		for _, u := range process.Image.Units {
			k := key{u.Name, u.Source == recording.UnitOfFunction}
			unit := byName[k]
			if unit == nil {
				unit = &Unit{Name: k.name, Function: k.function}
				byName[k] = unit
				p.Units = append(p.Units, unit)
			}
			if u.Refusal != 0 && (u.Refusal != recording.RefusedNotLoaded || !loaded[u.Name]) {
				p.Quality.Warnings = append(p.Quality.Warnings, fmt.Sprintf("%s: calls of %s are not counted: %v", process.Name(), u.Name, u.Refusal))
			}
			unit.Count += u.Amount
			if u.Amount > 0 {
				counted[unit] = true
			}
		}
		for unit := range counted {
			rest := process.WithoutLibc()
			unit.Allocations += rest.Allocations
			unit.Bytes += rest.Bytes
			unit.LibcAllocations += process.Origins[OriginLibc].Allocations
			unit.LibcBytes += process.Origins[OriginLibc].Bytes
		}
	}
	slices.SortStableFunc(p.Units, func(a, b *Unit) int { return cmp.Compare(a.Name, b.Name) })
}
