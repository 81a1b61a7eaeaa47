package diff

import (
	"math"

	"mallow/internal/recording"
)

// pairing is an entry of either side that are one site.
type pairing struct{ a, b *entry }

// What leaving two sites unpaired costs, where pairing them costs what they
// differ, 0 to 1: within a function everything is paired in order unless that
// leaves others better off; code without a name must resemble.
const (
	mustPair    = 1.0
	mayResemble = 0.3
)

// mostCells bounds the time for functions with thousands of sites, which only
// generated code has.
const mostCells = 4 << 20

// align pairs two rows of sites without changing their order, so that the sum
// of the differences and of what is left unpaired is least.
func align(as, bs []*entry, unpaired float64) []pairing {
	if len(as) == 1 && len(bs) == 1 && unpaired >= mustPair {
		return []pairing{{as[0], bs[0]}}
	}
	return newLikeness(as, bs).align(unpaired)
}

func (like *likeness) align(unpaired float64) []pairing {
	as, bs := like.as, like.bs
	if len(as)*len(bs) > mostCells {
		return like.alignByRank(unpaired)
	}
	gap := float32(unpaired / 2)
	width := len(bs) + 1
	cost := make([]float32, (len(as)+1)*width)
	step := make([]uint8, len(cost))
	const both, onlyA, onlyB = 0, 1, 2
	for i := 0; i <= len(as); i++ {
		for j := 0; j <= len(bs); j++ {
			at := i*width + j
			best, by := float32(math.Inf(1)), uint8(both)
			if i > 0 && j > 0 {
				best = cost[at-width-1] + float32(like.difference(i-1, j-1))
			}
			if i > 0 && cost[at-width]+gap < best {
				best, by = cost[at-width]+gap, onlyA
			}
			if j > 0 && cost[at-1]+gap < best {
				best, by = cost[at-1]+gap, onlyB
			}
			if i == 0 && j == 0 {
				best = 0
			}
			cost[at], step[at] = best, by
		}
	}
	var pairs []pairing
	for i, j := len(as), len(bs); i > 0 || j > 0; {
		switch step[i*width+j] {
		case both:
			i, j = i-1, j-1
			pairs = append(pairs, pairing{as[i], bs[j]})
		case onlyA:
			i--
		case onlyB:
			j--
		}
	}
	return pairs
}

// untangle pairs sites anew that changed places within their function: pairs
// that differ, where each has the figures that another one had, and no two the
// same.
func untangle(pairs []pairing) {
	if len(pairs) < 2 {
		return
	}
	had, has := make([]figures, len(pairs)), make([]figures, len(pairs))
	with, known := make(map[figures]int), make(map[figures]int) // pairs that have figures now, and how many had or have them
	for i, p := range pairs {
		had[i], has[i] = figuresOf("", &p.a.place.Counters, kindsOf(p.a)), figuresOf("", &p.b.place.Counters, kindsOf(p.b))
		if had[i] != has[i] {
			with[has[i]] = i
			known[had[i]]++
			known[has[i]]++
		}
	}
	for i := range pairs {
		if had[i] == has[i] {
			continue
		}
		circle := []int{i}
		for at := i; known[had[at]] == 2; {
			next, there := with[had[at]]
			if !there || next == i {
				break
			}
			at = next
			circle = append(circle, at)
		}
		last := circle[len(circle)-1]
		if known[had[last]] != 2 || had[last] != has[i] {
			continue
		}
		first := pairs[i].b
		for k, at := range circle[:len(circle)-1] {
			pairs[at].b = pairs[circle[k+1]].b
		}
		pairs[last].b = first
		for _, at := range circle {
			has[at] = had[at]
		}
	}
}

// alignByRank pairs the first with the first and so on.
func (like *likeness) alignByRank(unpaired float64) []pairing {
	var pairs []pairing
	for i := range min(len(like.as), len(like.bs)) {
		if like.difference(i, i) <= unpaired {
			pairs = append(pairs, pairing{like.as[i], like.bs[i]})
		}
	}
	return pairs
}

// likeness compares the sites of two rows.
type likeness struct {
	as, bs  []*entry
	kinds   map[*entry]map[recording.Group]uint64
	shifts  map[int]bool // by how many lines the sites seem to have moved
	ofLines float64      // what it counts that two moved by another number
}

// What lines count: where nobody knows how far a function has moved, less than
// any other size does, as what was put before a site and has its number now is
// not the site. Of sites that are alike otherwise the one at the same line is it:
// others may be as far from it by chance as two others are from each other.
const (
	ofLines       = 0.15
	ofKnownLines  = 0.5
	ofCommonShift = 0.01
)

func newLikeness(as, bs []*entry) *likeness {
	l := &likeness{as: as, bs: bs, kinds: make(map[*entry]map[recording.Group]uint64), shifts: commonShifts(as, bs), ofLines: ofLines}
	for _, row := range [][]*entry{as, bs} {
		for _, e := range row {
			l.kinds[e] = kindsOf(e)
		}
	}
	return l
}

func kindsOf(e *entry) map[recording.Group]uint64 {
	kinds := make(map[recording.Group]uint64)
	for _, site := range e.place.Sites {
		for f, n := range site.Calls() {
			kinds[f.Group()] += n
		}
	}
	return kinds
}

// commonShifts are the distances that several of the sites may have moved by
// together, as they do when lines before them are added or taken away.
func commonShifts(as, bs []*entry) map[int]bool {
	count := distances(knownLines(as), knownLines(bs))
	if count == nil {
		return nil
	}
	shifts := make(map[int]bool)
	for shift, n := range count {
		if n > 1 || shift == 0 {
			shifts[shift] = true
		}
	}
	return shifts
}

// knownLines are the lines of some sites, as far as they have any.
func knownLines(entries []*entry) (lines []int) {
	for _, e := range entries {
		if e.place.Line > 0 {
			lines = append(lines, e.place.Line)
		}
	}
	return lines
}

// haveMoved says by how many lines the sites' function has moved.
func (l *likeness) haveMoved(shift int) {
	l.shifts, l.ofLines = map[int]bool{shift: true}, ofKnownLines
}

// difference is 0 for sites that have everything in common and 1 or more for
// those that have nothing.
func (l *likeness) difference(i, j int) float64 {
	const ofKinds, ofSizes, ofCalls, ofGrown = 0.3, 0.35, 0.2, 0.1
	a, b := l.as[i], l.bs[j]
	ca, cb := &a.place.Counters, &b.place.Counters
	d := ofKinds*(1-overlap(l.kinds[a], l.kinds[b])) + ofSizes*differenceOfSizes(ca, cb) + ofCalls*apart(float64(ca.Calls), float64(cb.Calls)) +
		ofGrown*math.Abs(grown(ca)-grown(cb))
	switch shift := b.place.Line - a.place.Line; {
	case !l.shifts[shift] && (a.place.Line > 0 || b.place.Line > 0):
		d += l.ofLines
	case shift != 0:
		d += ofCommonShift
	}
	return d
}

// overlap is the share of calls by the same functions.
func overlap(a, b map[recording.Group]uint64) float64 {
	var ofA, ofB, both float64
	for _, n := range a {
		ofA += float64(n)
	}
	for _, n := range b {
		ofB += float64(n)
	}
	if ofA == 0 || ofB == 0 {
		return 0.5
	}
	for g, n := range a {
		both += min(float64(n)/ofA, float64(b[g])/ofB)
	}
	return both
}

func differenceOfSizes(a, b *recording.Counters) float64 {
	if a.SizeMin == b.SizeMin && a.SizeMax == b.SizeMax {
		return 0
	}
	return (1 + apart(mean(a), mean(b))) / 2
}

// grown is the share of the blocks that realloc took over.
func grown(c *recording.Counters) float64 { return float64(c.ByRealloc) / float64(max(1, c.Calls)) }

func mean(c *recording.Counters) float64 {
	if c.Calls == 0 {
		return 0
	}
	return float64(c.Bytes) / float64(c.Calls)
}

// apart is 0 for equal numbers and near to 1 for those of which one is many
// times the other.
func apart(a, b float64) float64 {
	if a == b {
		return 0
	}
	low, high := min(a, b), max(a, b)
	return 1 - math.Sqrt((low+1)/(high+1))
}
