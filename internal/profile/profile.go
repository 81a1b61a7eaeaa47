// Package profile turns recordings into what a report speaks of: totals,
// processes and sites, each with its figures, and names the frames of stacks.
package profile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// Symbolizer names addresses; see package symbolize.
type Symbolizer interface {
	Frames(m symbolize.Module, addrs []uint64) [][]symbolize.Frame
	HasLines(m symbolize.Module) bool
	Warnings() []string
}

// Options of a profile.
type Options struct {
	Symbolizer Symbolizer
	// Wrappers match the names of functions that only pass allocations on,
	// besides those that are known anyway.
	Wrappers []*regexp.Regexp
	// Processes, process ids or names of programs, leave out all others.
	Processes []string
	// Threads, as they were given to recording.OpenThreads.
	Threads []string
	Filter  Filter
}

// Profile is the sum of some recordings. Reading it needs no lock; methods
// that name further frames may be called by one goroutine at a time.
type Profile struct {
	Recordings []*recording.Recording
	Processes  []*Process
	Totals     Totals          // all processes, all origins
	Origins    [Origins]Totals // of all processes
	Program    ProgramFigures
	Sites      []*Site // by allocations, the most first
	Regions    []*Region
	Units      []*Unit
	Running    uint64 // processes that still go on
	Stopped    uint64 // processes that went on when their recording was stopped
	Quality    Quality
	Sampling   *Sampling // nil where every call was recorded
	// SumsOnly tells that recordings were imported from profiles: what came
	// after what, how long blocks lived, and the peak are not known.
	SumsOnly bool
	// FailedUnknown tells that recordings were imported that have no failed calls,
	// WasteUnknown that they do not have how large the blocks were made.
	FailedUnknown, WasteUnknown bool
	// Restriction is what was asked for; see Restricted.
	Restriction Restriction

	forest     *forest
	places     *places
	frames     *frameTable
	wrappers   *wrappers
	sites      *search
	freeNulls  []stack
	partners   *Partners // all sites
	numbers    *frameNumbers
	isPrepared []bool // of each node: see prepareOutside; nil before anybody asked
	begun      map[*recording.Image]time.Duration
}

// Process is one image of a process: fork and exec each begin another.
type Process struct {
	Image   *recording.Image
	Threads uint64 // recorded at the same time, at most
	Totals  Totals
	Origins [Origins]Totals
	Parent  *Process // nil where it is not in the recording, or was left out
	Begun   Beginning
	// Children are by start time.
	Children []*Process
	Exit     *Exit // nil where nobody knows
	// Without libc's own calls.
	programPeak, programFrees uint64
	freesUnknown              bool
	released                  [Origins]uint64 // blocks that each allocated, not by realloc
}

// Name tells the process from others: program and process id.
func (process *Process) Name() string {
	im := process.Image
	if im.Executable == "" {
		return im.Name
	}
	return fmt.Sprintf("%s %d", filepath.Base(im.Executable), im.PID)
}

// ProgramFigures are what only the recorder knows of the program and its
// libraries together, without what libc allocated and released on its own
// account.
type ProgramFigures struct {
	PeakBytes uint64 // the processes' own peaks added
	Frees     uint64
}

// Quality says how far the figures can be trusted.
type Quality struct {
	TruncatedStacks uint64 // stacks that could not be unwound to their start
	TruncatedCalls  uint64 // allocations with such a stack
	UnplacedCalls   uint64 // allocations without any stack
	InheritedFrees  uint64 // frees of blocks from before a fork or before recording
	Joined          uint64 // processes that ran already when recording began
	BytesBefore     uint64 // usable bytes of the blocks that lived in those then
	Incomplete      bool
	PeakErrorBytes  uint64
	Warnings        []string
}

// New merges recordings.
func New(recordings []*recording.Recording, o Options) *Profile {
	p := &Profile{
		Recordings:  recordings,
		Restriction: Restriction{Filter: o.Filter, Processes: o.Processes, Threads: o.Threads},
		forest:      numberForest(recordings),
	}
	p.places = newPlaces(o.Symbolizer, p.forest.images)
	var numbering sync.WaitGroup
	numbering.Go(func() { p.frames = newFrameTable(p.forest, p.places) })
	p.forest.link()

	processOf := make(map[*recording.Image]*Process)
	var all []stack
	for _, rec := range recordings {
		var chosen []*recording.Image
		for _, im := range rec.Images {
			if !selects(o.Processes, im) || im.Chosen && len(im.Shards) == 0 {
				continue
			}
			processOf[im] = &Process{Image: im, Threads: im.MostThreads}
			p.Processes = append(p.Processes, processOf[im])
			chosen = append(chosen, im)
			all = p.addStacks(im, all)
		}
		linkFamily(chosen, processOf)
		noteExits(rec, processOf)
	}
	numbering.Wait()
	p.wrappers = newWrappers(o.Wrappers)
	p.sites = newSiteSearch(p.frames, p.wrappers)
	stacks := pointers(p.countStacks(p.choose(all), processOf))
	for _, process := range p.Processes {
		p.sum(process)
	}
	p.addUp()
	p.sumSampling(stacks)
	p.Sites = newSites(p.sites, stacks)
	p.partners = &Partners{of: make([]int32, len(stacks))}
	p.partners.add(p.Sites)
	p.numbers = newFrameNumbers(p.sites)
	p.addRegions(stacks)
	p.addUnits()
	p.describeQuality()
	return p
}

func (p *Profile) addStacks(im *recording.Image, stacks []stack) []stack {
	stacks = slices.Grow(stacks, im.StackCount())
	im.EachStack(func(id uint32, c *recording.Counters) {
		stacks = append(stacks, p.forest.stack(im, id, c))
	})
	return stacks
}

// countStacks adds stacks to the figures of their processes. It returns those
// that allocate.
func (p *Profile) countStacks(stacks []stack, processOf map[*recording.Image]*Process) []stack {
	cut := make(map[stackPath]bool)
	var process *Process
	allocating := stacks[:0]
	for _, s := range stacks {
		if process == nil || process.Image != s.image {
			process = processOf[s.image]
			clear(cut)
		}
		process.Origins[s.origin].addStack(s.function, s.counters)
		process.released[s.origin] += s.counters.Releases - min(s.counters.Releases, s.counters.ByRealloc)
		if s.function == recording.FreeNull {
			p.freeNulls = append(p.freeNulls, s)
			continue
		}
		if s.leaf == root {
			p.Quality.UnplacedCalls += s.counters.Calls
		} else if p.forest.truncated[s.leaf] {
			if path := (stackPath{s.leaf, s.function}); !cut[path] {
				cut[path] = true
				p.Quality.TruncatedStacks++
			}
			p.Quality.TruncatedCalls += s.counters.Calls
		}
		p.forest.number(&s, len(allocating))
		allocating = append(allocating, s)
	}
	return allocating
}

func (p *Profile) sum(process *Process) {
	if process.sum(); p.Restricted() {
		process.restrict(&p.Restriction)
	}
	if process.Image.Running {
		p.Running++
	}
	if process.Image.StoppedRealtime > 0 {
		p.Stopped++
	}
	p.Restriction.Mixed += process.Image.Mixed
}

// sum takes the totals of a process from its stacks and, where only the
// shards know, from those. Who released a block is known of libc alone.
func (process *Process) sum() {
	im := process.Image
	var frees, freeNulls, failed, freesLibc uint64
	var liveBlocks, liveBytes int64
	for i := range im.Shards {
		shard := &im.Shards[i]
		frees += shard.Frees
		freeNulls += shard.FreeNulls
		failed += shard.Failed
		freesLibc += shard.FreesLibc
		liveBlocks += shard.LiveBlocks
		liveBytes += shard.LiveBytes
	}
	for i := range process.Origins {
		process.Totals.Add(&process.Origins[i])
	}
	process.Totals.FreeNulls = freeNulls
	process.Totals.Failed = failed
	process.Totals.Frees = &frees
	// Not from the stacks: when the disk was full a release may stand under
	// stack 0, apart from its birth.
	process.Totals.LiveBlocks = uint64(max(0, liveBlocks))
	process.Totals.LiveBytes = uint64(max(0, liveBytes))
	// With several threads the peak may have been seen too low; what lives at the
	// end lived at once.
	process.Totals.PeakBytes, process.programPeak = im.PeakBytes()
	process.Totals.PeakBytes = max(process.Totals.PeakBytes, process.Totals.LiveBytes)
	process.programPeak = max(process.programPeak, process.Origins[OriginProgram].LiveBytes+process.Origins[OriginLibraries].LiveBytes)
	if im.Sampling != nil {
		process.sumEstimates()
		// Who released a block that is no sample is not known: who allocated it, mostly.
		freesLibc = process.released[OriginLibc]
		frees = process.released[OriginProgram] + process.released[OriginLibraries] + freesLibc
	}
	process.Origins[OriginLibc].Frees = &freesLibc
	process.programFrees = frees - freesLibc
}

// sumEstimates takes what the shards count, which is samples, from the
// estimates of the stacks.
func (process *Process) sumEstimates() {
	t := &process.Totals
	t.PeakBytes, t.LiveBlocks, t.LiveBytes = 0, 0, 0
	for i := range process.Origins {
		o := &process.Origins[i]
		t.LiveBlocks += o.LiveBlocks
		t.LiveBytes += o.LiveBytes
	}
	process.programPeak = 0
}

func (p *Profile) addUp() {
	for _, process := range p.Processes {
		p.Totals.Add(&process.Totals)
		for i := range p.Origins {
			p.Origins[i].Add(&process.Origins[i])
		}
		program := process.program()
		p.Program.PeakBytes += program.PeakBytes
		p.Program.Frees += program.Frees
	}
}

func (p *Profile) describeQuality() {
	q := &p.Quality
	whole := !p.Restricted()
	for _, rec := range p.Recordings {
		if rec.Meta != nil && rec.Meta.Imported != nil {
			format := rec.Meta.Imported.Format
			p.SumsOnly = p.SumsOnly || format == recording.ImportedProfile
			p.FailedUnknown = p.FailedUnknown || format != recording.ImportedMemoryLog
			p.WasteUnknown = true
		}
		q.Incomplete = q.Incomplete || rec.Unrecorded > 0 || rec.Meta != nil && len(rec.Meta.Unrecorded) > 0
		q.Warnings = append(q.Warnings, rec.Warnings...)
		if rec.Meta != nil {
			q.Warnings = append(q.Warnings, rec.Meta.Notes...)
		}
	}
	for _, process := range p.Processes {
		im := process.Image
		q.Incomplete = q.Incomplete || im.Incomplete != 0 || im.LostCalls > 0 || im.UnrecordedChildren > 0
		q.PeakErrorBytes += im.PeakErrorBytes()
		if im.Joined && im.Parent == nil {
			q.Joined++
			q.BytesBefore += im.BytesBefore
		}
		for i := range im.Shards {
			if whole {
				q.InheritedFrees += im.Shards[i].InheritedFrees
			}
		}
		for _, w := range im.Warnings {
			q.Warnings = append(q.Warnings, process.Name()+": "+w)
		}
	}
}

// Warnings returns those of the recordings and those that naming the frames
// brought up so far.
func (p *Profile) Warnings() []string {
	ofSymbols := slices.Concat(p.places.symbolizer.Warnings(), p.partsWithoutLines())
	slices.Sort(ofSymbols) // modules are read at the same time, in any order
	return slices.Concat(p.Quality.Warnings, ofSymbols)
}

// WithoutLibc returns the totals of the program and its libraries.
func (p *Profile) WithoutLibc() Totals {
	return withoutLibc(&p.Origins, p.Program, p.Totals.Frees == nil)
}

// Fate says what is known of the blocks that live: never freed only where the
// program has ended.
func (p *Profile) Fate() string {
	if p.SumsOnly {
		return "in use"
	}
	if !p.Ended() {
		return "not freed yet"
	}
	return "never freed"
}

// Ended tells whether all processes were recorded to their end.
func (p *Profile) Ended() bool { return p.Running+p.Stopped == 0 }

// WithoutLibc returns the totals of the process without libc's own calls.
func (process *Process) WithoutLibc() Totals {
	return withoutLibc(&process.Origins, process.program(), process.freesUnknown)
}

func withoutLibc(origins *[Origins]Totals, program ProgramFigures, freesUnknown bool) Totals {
	t := origins[OriginProgram]
	t.Add(&origins[OriginLibraries])
	t.PeakBytes = program.PeakBytes
	if !freesUnknown {
		t.Frees = &program.Frees
	}
	return t
}

func (process *Process) program() ProgramFigures {
	return ProgramFigures{PeakBytes: process.programPeak, Frees: process.programFrees}
}
