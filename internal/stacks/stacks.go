// Package stacks keeps where a program allocates in little room, so that a
// later run can be compared with it: as a text that lies beside a budget and
// reads well in a diff, or as a profile of pprof for a point of a history.
//
// A Set has no addresses: it outlives the build that it was made of.
package stacks

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Set is where a program allocates.
type Set struct {
	Units  []Unit
	Stacks []Stack // by site
}

// Unit is work that was counted.
type Unit struct {
	Name     string
	Function bool // the calls of the function of that name
	Count    uint64
}

// Frame is a place in the code; Line is 0 where it is not known.
type Frame struct {
	Function, File, Module string
	Line                   int
}

// Stack is a call stack, from the site outwards, with what it allocated.
type Stack struct {
	// Libc tells that libc allocates, on behalf of the program. Its own frames,
	// which differ between versions and have lines on some machines only, are
	// left out: the site is the line that calls it.
	Libc     bool
	Function recording.Function // that was called
	Frames   []Frame
	Figures
}

// Figures of a stack or a site.
type Figures struct {
	Calls, Bytes          uint64
	SizeMin, SizeMax      uint64
	LiveBlocks, LiveBytes uint64 // at the end
	PeakBytes             uint64 // when all of the process was at its peak
}

func (f *Figures) add(o *Figures) {
	if o.Calls > 0 {
		if f.Calls == 0 || o.SizeMin < f.SizeMin {
			f.SizeMin = o.SizeMin
		}
		f.SizeMax = max(f.SizeMax, o.SizeMax)
	}
	f.Calls += o.Calls
	f.Bytes += o.Bytes
	f.LiveBlocks += o.LiveBlocks
	f.LiveBytes += o.LiveBytes
	f.PeakBytes += o.PeakBytes
}

func figuresOf(c *recording.Counters) Figures {
	return Figures{
		Calls: c.Calls, Bytes: c.Bytes, SizeMin: c.SizeMin, SizeMax: c.SizeMax,
		LiveBlocks: uint64(c.LiveBlocks()), LiveBytes: uint64(c.LiveBytes()), PeakBytes: uint64(max(0, c.PeakBytes)),
	}
}

// Of takes the stacks of a profile. Files below root ("" for none) are named
// from there, so that the Set is the same wherever the sources lie.
func Of(p *profile.Profile, root string) *Set {
	s := &Set{}
	for _, u := range p.Units {
		if u.Count > 0 {
			s.Units = append(s.Units, Unit{u.Name, u.Function, u.Count})
		}
	}
	var own, libc []*profile.Site
	for _, site := range p.Sites {
		if part := site.Without(profile.OriginLibc); part != nil {
			own = append(own, part)
		}
		if part := site.Only(profile.OriginLibc); part != nil {
			libc = append(libc, part)
		}
	}
	named := make(map[profile.Frame]Frame)
	s.addStacks(p, own, false, root, named)
	s.addStacks(p, libc, true, root, named)
	s.sort()
	return s
}

func (s *Set) addStacks(p *profile.Profile, sites []*profile.Site, libc bool, root string, named map[profile.Frame]Frame) {
	_ = p.EachStack(sites, func(site *profile.Site, st *profile.Stack) error {
		kept := Stack{Libc: libc, Function: st.Function, Figures: figuresOf(&st.Counters)}
		at := slices.Index(st.Frames, site.Frame)
		if libc {
			at = beyondLibc(p, st.Frames)
		}
		for i := max(0, at); i < len(st.Frames); i++ {
			f := &st.Frames[i]
			if i > at && p.Wraps(f) {
				continue
			}
			short, known := named[*f]
			if !known {
				short = Frame{Function: f.Function, File: within(root, f.File), Module: filepath.Base(f.Module), Line: f.Line}
				if f.Module == "" {
					short.Module = ""
				}
				named[*f] = short
			}
			kept.Frames = append(kept.Frames, short)
		}
		kept.Frames = kept.Frames[:Telling(len(kept.Frames), func(i int) (function, module string) {
			return kept.Frames[i].Function, kept.Frames[i].Module
		})]
		s.Stacks = append(s.Stacks, kept)
		return nil
	})
}

// beyondLibc is the index of the first frame outside of libc that does not only
// pass allocations on; that of the outermost frame where there is none.
func beyondLibc(p *profile.Profile, frames []profile.Frame) int {
	at := slices.IndexFunc(frames, func(f profile.Frame) bool { return !isLibc(f.Module) && !p.Wraps(&f) })
	if at < 0 {
		return len(frames) - 1
	}
	return at
}

func isLibc(module string) bool {
	name := filepath.Base(module)
	return strings.HasPrefix(name, "libc.so") || strings.HasPrefix(name, "ld-linux")
}

// Telling returns how many of the n frames of a stack, innermost first, say
// something: not those with which libc starts programs and threads.
func Telling(n int, frame func(i int) (function, module string)) int {
	for n > 1 {
		function, module := frame(n - 1)
		if function != "_start" && !isLibc(module) {
			break
		}
		n--
	}
	return n
}

// within names a file from root on, if it is below.
func within(root, file string) string {
	if root == "" || !filepath.IsAbs(file) {
		return file
	}
	if inside, err := filepath.Rel(root, file); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
		return inside
	}
	return file
}

// site is the first frame; none where there is no stack.
func (st *Stack) site() Frame {
	if len(st.Frames) == 0 {
		return Frame{}
	}
	return st.Frames[0]
}

func (f Frame) compare(o Frame) int {
	return cmp.Or(
		cmp.Compare(f.Module, o.Module), cmp.Compare(f.File, o.File), cmp.Compare(f.Function, o.Function), cmp.Compare(f.Line, o.Line),
	)
}

func compareStacks(a, b Stack) int {
	if a.Libc != b.Libc {
		if b.Libc {
			return -1
		}
		return 1
	}
	return cmp.Or(
		a.site().compare(b.site()),
		slices.CompareFunc(a.Frames, b.Frames, Frame.compare),
		cmp.Compare(a.Function, b.Function),
	)
}

// sort makes the order independent of figures, so that a diff of two texts
// shows what changed and no more; stacks that are the same become one.
func (s *Set) sort() {
	slices.SortStableFunc(s.Stacks, compareStacks)
	merged := s.Stacks[:0]
	for _, st := range s.Stacks {
		if n := len(merged); n > 0 && compareStacks(merged[n-1], st) == 0 {
			merged[n-1].add(&st.Figures)
			continue
		}
		merged = append(merged, st)
	}
	s.Stacks = merged
}

// Cut returns the set with at most so many callers of each site, and none
// where the site has less than a share of everything.
func (s *Set) Cut(callers int, share float64) *Set {
	type place struct {
		site Frame
		libc bool
	}
	sums := make(map[place]*Figures)
	sum := func(of place) *Figures {
		if sums[of] == nil {
			sums[of] = &Figures{}
		}
		return sums[of]
	}
	for i := range s.Stacks {
		st := &s.Stacks[i]
		sum(place{libc: st.Libc}).add(&st.Figures)
		if st.site() != (Frame{}) {
			sum(place{st.site(), st.Libc}).add(&st.Figures)
		}
	}
	matters := func(part, whole uint64) bool { return float64(part) >= share*float64(whole) && part > 0 }
	short := &Set{Units: s.Units, Stacks: slices.Clone(s.Stacks)}
	for i := range short.Stacks {
		st := &short.Stacks[i]
		of, all := sum(place{st.site(), st.Libc}), sum(place{libc: st.Libc})
		keep := 1
		if matters(of.Calls, all.Calls) || matters(of.Bytes, all.Bytes) || matters(of.PeakBytes, all.PeakBytes) || matters(of.LiveBytes, all.LiveBytes) {
			keep += callers
		}
		st.Frames = st.Frames[:min(len(st.Frames), keep)]
	}
	short.sort()
	return short
}

// OfLibc returns what libc allocates, as if the lines that call it did.
func (s *Set) OfLibc() *Set {
	libc := &Set{Units: s.Units}
	for _, st := range s.Stacks {
		if st.Libc {
			st.Libc = false
			libc.Stacks = append(libc.Stacks, st)
		}
	}
	return libc
}

// Sites adds up the stacks of each site of the program and its libraries.
func (s *Set) Sites() map[Frame]Figures {
	sites := make(map[Frame]Figures)
	for i := range s.Stacks {
		if s.Stacks[i].Libc {
			continue
		}
		sum := sites[s.Stacks[i].site()]
		sum.add(&s.Stacks[i].Figures)
		sites[s.Stacks[i].site()] = sum
	}
	return sites
}

// SameButLines tells whether the sets differ in nothing but line numbers.
func SameButLines(a, b *Set) bool {
	return slices.Equal(a.Units, b.Units) && slices.EqualFunc(a.withoutLines(), b.withoutLines(), func(a, b Stack) bool {
		return compareStacks(a, b) == 0 && a.Figures == b.Figures
	})
}

// withoutLines keeps sites of a function apart by their order.
func (s *Set) withoutLines() []Stack {
	all := slices.Clone(s.Stacks)
	lines := make(map[Frame][]int)
	rank := func(f Frame) Frame {
		bare := f
		bare.Line = 0
		at, _ := slices.BinarySearch(lines[bare], f.Line)
		bare.Line = at
		return bare
	}
	for i := range all {
		for _, f := range all[i].Frames {
			bare := f
			bare.Line = 0
			if at, known := slices.BinarySearch(lines[bare], f.Line); !known {
				lines[bare] = slices.Insert(lines[bare], at, f.Line)
			}
		}
	}
	for i := range all {
		frames := make([]Frame, len(all[i].Frames))
		for k, f := range all[i].Frames {
			frames[k] = rank(f)
		}
		all[i].Frames = frames
	}
	return all
}
