package diff

import "slices"

// place is a line, or the lines of a whole stack, with how much of the metric
// came from there.
type place struct {
	lines    []int
	old, new uint64
	of       step // there
}

// placesOf sums steps by their lines, on each side.
func placesOf(steps []step, linesOf func(step) []int) (old, new []place) {
	add := func(places []place, s step, lines []int) []place {
		i, known := slices.BinarySearchFunc(places, lines, compareLines)
		if !known {
			places = slices.Insert(places, i, place{lines: lines, of: s})
		}
		places[i].old += s.old
		places[i].new += s.new
		return places
	}
	for _, s := range steps {
		if s.isNew {
			new = add(new, s, linesOf(s))
		} else {
			old = add(old, s, linesOf(s))
		}
	}
	return old, new
}

// placeAt finds lines among sorted places; -1 for nowhere.
func placeAt(places []place, lines []int) int {
	i, known := slices.BinarySearchFunc(places, lines, compareLines)
	if !known {
		return -1
	}
	return i
}

func compareLines(p place, lines []int) int { return slices.Compare(p.lines, lines) }

// telling returns of some steps one at the place where most of their change is.
// Lines may have moved between the two sides: they are the same where as much
// comes from there, else by their number, else by their order.
func (d *Diff) telling(steps []step, linesOf func(step) []int) step {
	if len(steps) == 1 {
		return steps[0]
	}
	old, new := placesOf(steps, linesOf)
	var pairs []place
	asMany := func(o, n *place) bool { return d.excessOf(o.old, n.new) == 0 }
	for _, find := range []func(n *place) int{
		func(n *place) int {
			if i := placeAt(old, n.lines); i >= 0 && asMany(&old[i], n) {
				return i
			}
			return -1
		},
		func(n *place) int { return slices.IndexFunc(old, func(o place) bool { return asMany(&o, n) }) },
		func(n *place) int { return placeAt(old, n.lines) },
		func(n *place) int { return min(0, len(old)-1) },
	} {
		new = slices.DeleteFunc(new, func(n place) bool {
			i := find(&n)
			if i < 0 {
				return false
			}
			n.old = old[i].old
			pairs, old = append(pairs, n), slices.Delete(old, i, i+1)
			return true
		})
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
