package diff

import (
	"maps"
	"slices"

	"mallow/internal/profile"
)

// function is one by its names on one side.
type function struct{ module, name, file string }

func functionOf(f *profile.Frame) function {
	return function{f.Module, stableName(f.Function), fileName(f)}
}

// linesOf returns the lines of the entry's function that are in any stack: of
// sites, and of calls that lead to sites elsewhere.
func (s *side) linesOf(e *entry) map[int]bool {
	if s.lines == nil {
		s.lines = make(map[function]map[int]bool)
		frames := s.profile.Tree(s.profile.Sites).Frames
		for i := range frames {
			f := &frames[i]
			if f.Line == 0 {
				continue
			}
			of := functionOf(f)
			if s.lines[of] == nil {
				s.lines[of] = make(map[int]bool)
			}
			s.lines[of][f.Line] = true
		}
	}
	return s.lines[functionOf(&e.place.Frame)]
}

// distances counts by how many lines each line of one side lies from each of the
// other; nil where they are too many.
func distances(as, bs []int) map[int]int {
	if len(as)*len(bs) > mostCells/16 {
		return nil
	}
	count := make(map[int]int)
	for _, a := range as {
		for _, b := range bs {
			count[b-a]++
		}
	}
	return count
}

const (
	// A function has moved as a whole if so many of its lines did, at least
	// leastLines, and no more than half as many by any other distance.
	mostLines  = 2.0 / 3
	leastLines = 4
)

// shiftOf is by how many lines the function whose lines these are has moved from
// one side to the other. Not sure: by none, or its lines do not tell.
func shiftOf(as, bs map[int]bool) (shift int, sure bool) {
	most, next := 0, 0
	for distance, n := range distances(slices.Collect(maps.Keys(as)), slices.Collect(maps.Keys(bs))) {
		switch {
		case n > most:
			shift, most, next = distance, n, most
		case n > next:
			next = n
		}
	}
	return shift, most >= leastLines && float64(most) >= mostLines*float64(min(len(as), len(bs))) && 2*next <= most
}

// asOne tells whether all sites of both sides are paired and have moved together,
// so that nothing more is to be asked.
func asOne(pairs []pairing, group, others []*entry) bool {
	if len(pairs) < max(len(group), len(others)) {
		return false
	}
	for _, p := range pairs {
		if p.b.place.Line-p.a.place.Line != pairs[0].b.place.Line-pairs[0].a.place.Line {
			return false
		}
	}
	return true
}
