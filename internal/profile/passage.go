package profile

// Passage tells by what kinds of wrappers, such as the functions of a
// container, calls were passed on from their site inwards to the allocator.
// Kinds are bits. Each stack is looked at once, however often it is asked for.
type Passage struct {
	profile *Profile
	byName  map[string]uint64 // kinds of all wrappers that there are by their names
	byFile  map[string]uint64 // of those that are by their files
	all     uint64            // these together
	places  []passed          // of each place, where all of its frames are wrappers
	stacks  []passed          // by the numbers of stacks
}

// passed are the kinds of some wrappers.
type passed struct {
	known     bool
	named     bool   // there was one with a name that does more than pass on
	any       uint64 // of all of them
	outermost uint64 // of the one that the site itself called
}

// PassesOn is the kind of wrappers that do nothing of their own: the site counts
// as the caller of what they call.
const PassesOn uint64 = 1 << 63

// NewPassage makes one for kinds that are told by the name of a function, or by
// its file where the name has no scope.
func (p *Profile) NewPassage(kindsOf, ofFile func(name string) uint64) *Passage {
	w := &Passage{profile: p, byName: make(map[string]uint64), byFile: make(map[string]uint64), stacks: make([]passed, p.StackCount())}
	for file := range p.wrappers.files {
		w.byFile[file] = ofFile(file)
		w.all |= w.byFile[file]
	}
	p.wrappers.each(func(function string) {
		w.byName[function] = kindsOf(function)
		w.all |= w.byName[function]
	})
	return w
}

// Kinds returns those of all wrappers that passed on calls of the part.
func (w *Passage) Kinds(part *Part) (kinds uint64) {
	if w.all == 0 {
		return 0
	}
	for i := range part.stacks {
		kinds |= w.of(part.stacks[i]).any
	}
	return kinds
}

// Calls returns how many calls of the part went through a wrapper of one of
// the kinds.
func (w *Passage) Calls(part *Part, kinds uint64) (calls uint64) {
	if w.all&kinds == 0 {
		return 0
	}
	for i := range part.stacks {
		if w.of(part.stacks[i]).any&kinds != 0 {
			calls += part.stacks[i].counters.Calls
		}
	}
	return calls
}

// Through returns the calls of the part that went through a wrapper of one of
// the kinds, and through none of the others; nil where none did.
func (w *Passage) Through(part *Part, kinds, others uint64) *Part {
	return part.only(func(st *stack) bool {
		any := w.of(st).any
		return any&kinds != 0 && any&others == 0
	})
}

// Without returns the calls of the part that went through no wrapper of one of
// the kinds; nil where all did.
func (w *Passage) Without(part *Part, kinds uint64) *Part {
	return part.only(func(st *stack) bool { return w.of(st).any&kinds == 0 })
}

// Calling returns the calls of the part where the wrapper that the site itself
// called is of one of the kinds; nil where there are none.
func (w *Passage) Calling(part *Part, kinds uint64) *Part {
	return part.only(func(st *stack) bool { return w.of(st).outermost&kinds != 0 })
}

// only returns the calls from stacks of which something holds; nil for none.
func (part *Part) only(holds func(*stack) bool) *Part {
	rest := &Part{Site: &Site{Frame: part.Frame}, Way: part.Way}
	for i := range part.stacks {
		if st := part.stacks[i]; holds(st) {
			rest.Counters.Add(st.counters)
			rest.stacks = append(rest.stacks, st)
			rest.at = append(rest.at, part.at[i])
		}
	}
	if len(rest.stacks) == 0 {
		return nil
	}
	rest.describe()
	return rest
}

func (w *Passage) of(st *stack) passed {
	of := &w.stacks[st.number]
	if of.known {
		return *of
	}
	of.known = true
	if st.leaf == root {
		return *of
	}
	frames := w.profile.frames
	site := w.profile.accepted(w.profile.sites.node(st.leaf))
	for n := frames.known(st.leaf); n != root; n = frames.parent(n) {
		if n == site.node {
			of.add(w.among(frames.placeOf(n).frames[:site.index]))
			break
		}
		of.add(w.place(frames.placeIndex(n)))
	}
	return *of
}

func (w *Passage) place(index int32) passed {
	all := w.profile.places.all
	if int(index) >= len(w.places) {
		w.places = append(w.places, make([]passed, len(all)-len(w.places))...)
	}
	if !w.places[index].known {
		w.places[index] = w.among(all[index].frames)
	}
	return w.places[index]
}

func (w *Passage) among(frames []Frame) passed {
	sum := passed{known: true}
	for i := range frames {
		if frames[i].Function != "" {
			kinds, byName := w.byName[frames[i].Function]
			if !byName {
				kinds = w.byFile[frames[i].File]
			}
			if kinds&PassesOn != 0 {
				continue
			}
			sum.named = true
			sum.outermost = kinds
			sum.any |= kinds
		}
	}
	return sum
}

// add puts wrappers outside of those that there are.
func (k *passed) add(outer passed) {
	if outer.named {
		k.any |= outer.any
		k.outermost = outer.outermost
	}
}
