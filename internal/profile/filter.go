package profile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"mallow/internal/recording"
)

// Filter leaves stacks out. What is empty leaves out nothing.
type Filter struct {
	// Include: one of these matches a frame of the stack, by its function, its
	// file with line as "poll.c:88", or its module.
	Include []*regexp.Regexp
	// Exclude: none of these does.
	Exclude []*regexp.Regexp
	Origins []Origin
	// Modules, paths or names of files: the site lies in one of them.
	Modules []string
	// MaxSize: the stack's greatest block had at most so many bytes.
	MaxSize *uint64
	// Active: the stack allocated at the beginning of this time or later, and at
	// its end or before. How often within it nobody knows, unless it did at no
	// other.
	Active *Span
	// Region: the stack was called within the region of that name.
	Region string
}

// Span is a time of a recording, from its beginning on.
type Span struct {
	Name     string // what the program did then
	From, To time.Duration
	Last     bool // nothing came after it
	// Allocations that the processes made then, exact to the distance of two
	// moments of the timeline.
	Allocations uint64
}

// Restriction is what a profile was restricted to, and out of what.
type Restriction struct {
	Filter
	Processes []string
	Threads   []string
	// Whole are the allocations of the processes with nothing left out, by
	// origin, and Mixed those of the threads of which it is not known exactly
	// what lived.
	Whole [Origins]uint64
	Mixed uint64
	// Surely are the allocations, by origin, that were within Active.
	Surely [Origins]uint64
}

func (f *Filter) empty() bool {
	return len(f.Include) == 0 && len(f.Exclude) == 0 && len(f.Origins) == 0 && len(f.Modules) == 0 &&
		f.MaxSize == nil && f.Active == nil && f.Region == ""
}

// Restricted tells whether stacks or threads were left out, so that nothing is
// said that is only known of whole processes: frees by origin, the peak at its
// own time, the timeline, CPU samples.
func (p *Profile) Restricted() bool {
	return !p.Restriction.Filter.empty() || len(p.Restriction.Threads) > 0
}

// choose keeps the stacks that the filter takes.
func (p *Profile) choose(stacks []stack) []stack {
	r := &p.Restriction
	for i := range stacks {
		if s := &stacks[i]; s.function != recording.FreeNull {
			r.Whole[s.origin] += s.counters.Calls
		}
	}
	if r.Filter.empty() {
		return stacks
	}
	stacks = slices.DeleteFunc(stacks, func(s stack) bool { return !r.takes(&s) })
	if len(r.Modules) > 0 {
		stacks = p.inModules(stacks)
	}
	if len(r.Include) > 0 || len(r.Exclude) > 0 {
		stacks = p.matching(stacks)
	}
	if r.Active != nil {
		stacks = p.active(stacks)
	}
	return stacks
}

// takes looks at what is known without a name.
func (f *Filter) takes(s *stack) bool {
	return (len(f.Origins) == 0 || slices.Contains(f.Origins, s.origin)) &&
		(f.MaxSize == nil || s.counters.Calls > 0 && s.counters.SizeMax <= *f.MaxSize && s.function != recording.FreeNull) &&
		(f.Region == "" || slices.Contains(s.regions(), f.Region))
}

func leavesOf(stacks []stack) []node {
	leaves := make([]node, len(stacks))
	for i := range stacks {
		leaves[i] = stacks[i].leaf
	}
	return leaves
}

func (p *Profile) inModules(stacks []stack) []stack {
	p.sites.prepare(leavesOf(stacks))
	selectors := slices.Clone(p.Restriction.Modules)
	for _, im := range p.forest.images { // a copy is named by another path
		modules := im.Modules()
		for i := range modules {
			if isModule(modules[i].Path, selectors) {
				selectors = append(selectors, p.ModulePath(&modules[i]))
			}
		}
	}
	return slices.DeleteFunc(stacks, func(s stack) bool {
		at := p.sites.node(s.leaf)
		return at == root || !isModule(p.sites.frame(at).Module, selectors)
	})
}

func isModule(path string, selectors []string) bool {
	return path != "" && slices.ContainsFunc(selectors, func(s string) bool { return s == path || s == filepath.Base(path) })
}

// ChosenLibc tells whether the filters ask for what libc allocated on its own
// account: by its origin, or by modules that have nothing else.
func (p *Profile) ChosenLibc() bool {
	libc := &p.Origins[OriginLibc]
	return slices.Contains(p.Restriction.Origins, OriginLibc) ||
		len(p.Restriction.Modules) > 0 && libc.Allocations > 0 && libc.Allocations == p.Totals.Allocations
}

// CheckModules returns an error that names a selector that means no module of
// the recordings, and those that there are.
func CheckModules(recordings []*recording.Recording, selectors []string) error {
	paths := make(map[string]bool)
	for _, rec := range recordings {
		for _, im := range rec.Images {
			for _, path := range im.ModulePaths() {
				paths[path] = true
			}
		}
	}
	for _, selector := range selectors {
		found := false
		names := make(map[string]int)
		for path := range paths {
			found = found || isModule(path, []string{selector})
			names[filepath.Base(path)] = 1
		}
		if !found {
			return fmt.Errorf("--module %s: there is none; there are %s", selector, mostFrequent(names))
		}
	}
	return nil
}

func (p *Profile) matching(stacks []stack) []stack {
	p.frames.nameStacks(leavesOf(stacks))
	include, exclude := newMatcher(p.frames, p.Restriction.Include), newMatcher(p.frames, p.Restriction.Exclude)
	return slices.DeleteFunc(stacks, func(s stack) bool {
		return len(include.expressions) > 0 && !include.stack(s.leaf) || exclude.stack(s.leaf)
	})
}

// matcher tells which stacks have a frame that matches. Each place and each
// node is looked at once.
type matcher struct {
	frames      *frameTable
	expressions []*regexp.Regexp
	place, node []verdict
}

type verdict uint8

const (
	unasked verdict = iota
	no
	yes
)

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

func newMatcher(t *frameTable, expressions []*regexp.Regexp) *matcher {
	m := &matcher{frames: t, expressions: expressions}
	if len(expressions) > 0 {
		m.place, m.node = make([]verdict, len(t.places.all)), make([]verdict, len(t.forest.parent))
	}
	return m
}

func (m *matcher) stack(leaf node) bool {
	if len(m.expressions) == 0 {
		return false
	}
	var way []node
	found := no
	for n := m.frames.known(leaf); n != root; n = m.frames.parent(n) {
		if m.node[n] != unasked {
			found = m.node[n]
			break
		}
		way = append(way, n)
	}
	for _, n := range slices.Backward(way) {
		if found != yes && m.matches(m.frames.placeIndex(n)) {
			found = yes
		}
		m.node[n] = found
	}
	return found == yes
}

func (m *matcher) matches(place int32) bool {
	if m.place[place] == unasked {
		m.place[place] = verdictOf(slices.ContainsFunc(m.frames.places.all[place].frames, m.frame))
	}
	return m.place[place] == yes
}

func (m *matcher) frame(f Frame) bool {
	position := f.File
	if f.Line > 0 {
		position = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return slices.ContainsFunc(m.expressions, func(e *regexp.Regexp) bool {
		return f.Function != "" && MatchesName(e, f.Function) || position != "" && e.MatchString(position) ||
			f.Module != "" && e.MatchString(f.Module)
	})
}

// active leaves out the stacks that allocated at no time within the span, as
// far as the recorder looked: of the last twenty calls it may have seen none,
// of the last two hundred of a stack that has thousands.
func (p *Profile) active(stacks []stack) []stack {
	span, begun := p.Restriction.Active, p.begins()
	return slices.DeleteFunc(stacks, func(s stack) bool {
		known := s.image.Knowledge(s.id)
		if known == nil || known.Births == 0 {
			return true
		}
		first := begun[s.image] + time.Duration(known.FirstMs)*time.Millisecond
		last := begun[s.image] + time.Duration(known.LastMs)*time.Millisecond
		if first > span.To || last < span.From {
			return true
		}
		p.Restriction.Surely[s.origin] += span.surely(s.counters.Calls, known, first, last)
		return false
	})
}

// surely returns how many of a stack's calls fell into the span, at the least.
// Times are whole milliseconds, so that what has the time of a boundary may
// lie on either side of it.
func (span *Span) surely(calls uint64, known *recording.Knowledge, first, last time.Duration) uint64 {
	switch {
	case span.From > 0 && first <= span.From:
		return 0
	case span.Last:
		return calls
	case last >= span.To:
		return 0
	}
	return calls - min(calls, unseen(calls)*uint64(len(known.Shards)))
}

// unseen returns how many calls of a thread, of so many, may have followed the
// last one that the recorder looked at.
func unseen(calls uint64) uint64 {
	switch {
	case calls <= 32:
		return 0
	case calls <= 4096:
		return 20
	}
	return 200
}
