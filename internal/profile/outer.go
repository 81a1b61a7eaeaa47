package profile

import (
	"cmp"
	"slices"
)

// outerStacks bounds how many stacks Outer looks at, the most frequent ones.
const outerStacks = 1000

// Outer returns the functions outwards of the part's last frame, wrappers left
// out, that at least a share of its calls came through, the nearest first:
// each as the frame that most of them have of it.
func (p *Profile) Outer(part *Part, share float64) []Frame {
	order := mostFrequentStacks(part.stacks, outerStacks)
	leaves := make([]node, len(order))
	for i, k := range order {
		leaves[i] = part.stacks[k].leaf
	}
	p.frames.nameStacks(leaves)

	var functions outerFunctions
	var all uint64
	for _, k := range order {
		calls := part.stacks[k].counters.Calls
		all += calls
		functions.begin()
		for at := p.outsideNamed(part.at[k]); at.node != root; at = p.outsideNamed(at) {
			frame := p.numbers.of(at)
			functions.add(p.numbers.function(frame), frame, calls)
		}
	}
	list := functions.withLeast(share*float64(all), p.numbers)
	slices.SortFunc(list, func(a, b outerFunction) int {
		return cmp.Or(cmp.Compare(a.depth/a.calls, b.depth/b.calls), p.numbers.frame(a.frame).compare(p.numbers.frame(b.frame)))
	})
	frames := make([]Frame, len(list))
	for i := range list {
		frames[i] = *p.numbers.frame(list[i].frame)
	}
	return frames
}

// outsideNamed is outside where all frames of the stack have a name but no
// numbers.
func (p *Profile) outsideNamed(at position) position {
	if at = p.outside(at); at.node != root {
		p.numbers.prepare(p.frames.placeIndex(at.node))
	}
	return at
}

// outerFunctions are what some stacks come through. A function that is on a
// stack more than once counts where it is nearest.
type outerFunctions struct {
	stack     int32
	distance  uint64          // from the last frame of the part
	functions []outerFunction // by number
	frames    []uint64        // calls that came through, of each frame by number
	met       []int32         // frames, in the order in which they were met
}

type outerFunction struct {
	calls, depth uint64 // depth is weighed by calls
	last         int32  // the stack that was counted last
	frame        int32  // most calls came through
}

// begin is told before the frames of each stack.
func (o *outerFunctions) begin() {
	o.stack++
	o.distance = 0
}

func (o *outerFunctions) add(function, frame int32, calls uint64) {
	o.distance++
	o.functions, o.frames = reach(o.functions, function), reach(o.frames, frame)
	f := &o.functions[function]
	if f.last == o.stack {
		return // recursion
	}
	f.last = o.stack
	f.calls += calls
	f.depth += o.distance * calls
	if o.frames[frame] == 0 {
		o.met = append(o.met, frame)
	}
	o.frames[frame] += calls
}

// reach makes a slice as long as is needed for an index.
func reach[T any](of []T, index int32) []T {
	if missing := int(index) + 1 - len(of); missing > 0 {
		return append(of, make([]T, missing)...)
	}
	return of
}

// withLeast returns the functions that as many calls came through.
func (o *outerFunctions) withLeast(calls float64, numbers *frameNumbers) []outerFunction {
	for _, frame := range o.met {
		f := &o.functions[numbers.function(frame)]
		if best := o.frames[f.frame]; f.calls > 0 && (numbers.function(f.frame) != numbers.function(frame) || o.frames[frame] > best ||
			o.frames[frame] == best && numbers.frame(frame).compare(numbers.frame(f.frame)) < 0) {
			f.frame = frame
		}
	}
	var list []outerFunction
	for _, f := range o.functions {
		if f.calls > 0 && float64(f.calls) >= calls {
			list = append(list, f)
		}
	}
	return list
}

// mostFrequentStacks returns the indexes of those with most calls, of equal
// ones the first.
func mostFrequentStacks(stacks []*stack, most int) []int {
	var least, equal uint64
	if len(stacks) > most {
		calls := mostCalls(stacks, most)
		least = calls[most-1]
		for ; equal < uint64(most) && calls[most-1-int(equal)] == least; equal++ {
		}
	}
	order := make([]int, 0, min(most, len(stacks)))
	for i := range stacks {
		calls := stacks[i].counters.Calls
		switch {
		case len(stacks) <= most || calls > least:
			order = append(order, i)
		case calls == least && equal > 0:
			equal--
			order = append(order, i)
		}
	}
	return order
}

// mostCalls returns the calls of the most frequent stacks, the most first. It
// sorts few at a time: nearly all stacks of a large site have less.
func mostCalls(stacks []*stack, most int) []uint64 {
	calls := make([]uint64, 0, 3*most)
	var least uint64 // that a stack must have; 0 while there is room
	keepMost := func() {
		slices.SortFunc(calls, func(a, b uint64) int { return cmp.Compare(b, a) })
		calls = calls[:min(most, len(calls))]
	}
	for _, st := range stacks {
		if st.counters.Calls < least {
			continue
		}
		if calls = append(calls, st.counters.Calls); len(calls) == cap(calls) {
			keepMost()
			least = calls[most-1] + 1 // there are enough that have as many
		}
	}
	keepMost()
	return calls
}
