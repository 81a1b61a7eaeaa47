package diff

import (
	"slices"
	"strconv"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// figures are what must be equal for two sites of different names to be one.
type figures struct {
	module                  string
	calls, bytes            uint64
	sizeMin, sizeMax        uint64
	releases, releasedBytes uint64
	kinds                   string
}

// fewestToTell is how many calls, or bytes in one size, figures need before
// that they agree is no chance.
const fewestToTell = 2

// mostAlike is how many sites of equal figures are told apart by their callers.
const mostAlike = 8

// matchFigures pairs the sites left over whose figures are equal, if their
// callers are the same functions too, or were renamed as well, or one is the
// caller of the other, and that holds of no other: they were renamed, taken out
// of a function or inlined into one.
func (m *matcher) matchFigures() {
	as, bs := byFigures(m.a.entries), byFigures(m.b.entries)
	var alike []figures
	var a, b []*entry
	for f, group := range as {
		if others := bs[f]; len(others) > 0 && len(group) <= mostAlike && len(others) <= mostAlike {
			alike, a, b = append(alike, f), append(a, group...), append(b, others...)
		}
	}
	callersOfA, callersOfB := m.a.callers(a), m.b.callers(b)
	for _, f := range alike {
		group, others := as[f], bs[f]
		m.pairAlike(group, others, callersOfA, callersOfB)
		callersOfA, callersOfB = callersOfA[len(group):], callersOfB[len(others):]
	}
}

// pairAlike pairs entries of equal figures each of which has the surroundings of
// one of the other side only.
func (m *matcher) pairAlike(group, others []*entry, callersOfA, callersOfB []map[string]uint64) {
	ofA, ofB := make([][]int, len(group)), make([][]int, len(others))
	for i, a := range group {
		for k, b := range others {
			if m.sameSurroundings(a, b, callersOfA[i], callersOfB[k]) {
				ofA[i], ofB[k] = append(ofA[i], k), append(ofB[k], i)
			}
		}
	}
	for i, a := range group {
		if len(ofA[i]) != 1 || len(ofB[ofA[i][0]]) != 1 {
			continue
		}
		b := others[ofA[i][0]]
		a.pair, b.pair = b, a
		a.match, b.match = ByFigures, ByFigures
	}
}

// byFigures are the entries left over whose figures say something.
func byFigures(entries []*entry) map[figures][]*entry {
	by := make(map[figures][]*entry)
	for _, e := range entries {
		c := &e.place.Counters
		if e.pair != nil || e.place.Function == "" || c.Calls < fewestToTell {
			continue
		}
		f := figuresOf(e.module, c, kindsOf(e))
		by[f] = append(by[f], e)
	}
	return by
}

func figuresOf(module string, c *recording.Counters, kinds map[recording.Group]uint64) figures {
	return figures{module, c.Calls, c.Bytes, c.SizeMin, c.SizeMax, c.Releases, c.ReleasedBytes, kindsText(kinds)}
}

func kindsText(kinds map[recording.Group]uint64) string {
	var text strings.Builder
	for g := range recording.GroupNew + 1 {
		text.WriteString(strconv.FormatUint(kinds[g], 10) + " ")
	}
	return text.String()
}

// callers returns the names of the functions that call each of the entries,
// with how often.
func (s *side) callers(entries []*entry) []map[string]uint64 {
	var sites []*profile.Site
	var first []int
	for _, e := range entries {
		first = append(first, len(sites))
		sites = append(sites, e.place.Sites...)
	}
	callers := s.profile.Callers(sites)
	all := make([]map[string]uint64, len(entries))
	for i, e := range entries {
		all[i] = make(map[string]uint64)
		for _, list := range callers[first[i]:][:len(e.place.Sites)] {
			for _, c := range list {
				all[i][stableName(c.Function)] += c.Counters.Calls
			}
		}
	}
	return all
}

func (m *matcher) sameSurroundings(a, b *entry, callersOfA, callersOfB map[string]uint64) bool {
	if only(callersOfA) == b.name || only(callersOfB) == a.name {
		return true
	}
	if a.file != b.file || len(callersOfA) == 0 || len(callersOfA) != len(callersOfB) {
		return false
	}
	renamedA, sameA := renamed(callersOfA, callersOfB, &m.b)
	renamedB, sameB := renamed(callersOfB, callersOfA, &m.a)
	return sameA && sameB && slices.Equal(renamedA, renamedB)
}

// renamed returns how often those of the callers call of whose name the other
// side has no function, in order, and whether the others call as often there.
func renamed(callers, others map[string]uint64, other *side) (counts []uint64, same bool) {
	for name, n := range callers {
		switch {
		case others[name] == n:
		case others[name] > 0 || other.has(name):
			return nil, false
		default:
			counts = append(counts, n)
		}
	}
	slices.Sort(counts)
	return counts, true
}

// has tells whether a function of that name is in a stack.
func (s *side) has(name string) bool {
	if s.functions == nil {
		s.functions = make(map[string]bool)
		frames := s.profile.Tree(s.profile.Sites).Frames
		for i := range frames {
			s.functions[stableName(frames[i].Function)] = true
		}
	}
	return s.functions[name]
}

// only returns the one caller that there is, "" for none or several.
func only(callers map[string]uint64) string {
	names := make([]string, 0, len(callers))
	for name := range callers {
		names = append(names, name)
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}
