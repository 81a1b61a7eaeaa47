package price

import (
	"fmt"
	"math"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Costs are what was measured on this machine.
type Costs struct {
	Malloc    string // that the program would use without us: "glibc's malloc"
	Plain     *Table // of it
	Libmallow *Table // not recording
	Recorded  *Table // libmallow, recording
}

// Check returns an error when these are no costs that were measured.
func (c *Costs) Check() error {
	for _, t := range []*Table{c.Plain, c.Libmallow, c.Recorded} {
		if t == nil {
			return errIncomplete
		}
		if err := t.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Run is a run of a program as it would be without us.
type Run struct {
	costs       *Costs
	nanoseconds float64 // of CPU time, that of allocating included
	uncertain   float64 // part of it that is estimated
	sampled     bool
	all         calls
}

// Known tells whether the CPU time of the run is known, so that its share can
// be told.
func Known(p *profile.Profile) bool {
	if usedCPU(p.Recordings) > 0 {
		return true
	}
	for _, process := range p.Processes {
		if process.Image.CPUInterval > 0 {
			return true
		}
	}
	return false
}

// For estimates the run without us of what is recorded in p. It returns nil
// where the CPU time is not known: the recording has none, or the costs are
// nil.
//
// CPU samples tell what the program took besides allocating. Without them it is what
// the kernel said, less what recording costs.
func For(p *profile.Profile, costs *Costs) *Run {
	if costs == nil {
		return nil
	}
	calls := countCalls(p.Recordings, costs)
	r := &Run{costs: costs, all: calls}
	if cpu := p.CPU(); cpu != nil && cpu.Samples >= fewSamples && cpu.Total > cpu.Allocator {
		r.sampled = true
		r.nanoseconds = float64(cpu.Total-cpu.Allocator) + calls.plain
		r.uncertain = calls.plain/2 + r.nanoseconds/math.Sqrt(float64(cpu.Samples))
		return r
	}
	used := usedCPU(p.Recordings)
	if used == 0 {
		return nil
	}
	recording := calls.recorded(costs)
	r.nanoseconds = max(used-recording, leastLeft*used) + calls.plain
	r.uncertain = recordingKnown*recording + calls.plain/2
	return r
}

const (
	// How well is known what recording costs: calls.go.
	recordingKnown = 0.4
	// With fewer samples the kernel's figure says more.
	fewSamples = 100
	// Whatever recording is thought to cost, so much of the time is the
	// program's.
	leastLeft = 0.1
)

// usedCPU is the CPU time of all the processes in ns; 0 where it is not known.
func usedCPU(recordings []*recording.Recording) (used float64) {
	for _, rec := range recordings {
		seconds, known := rec.CPUSeconds()
		if !known || seconds == 0 {
			return 0
		}
		used += seconds * 1e9
	}
	return used
}

// Nanoseconds is the CPU time of the run.
func (r *Run) Nanoseconds() float64 { return r.nanoseconds }

// Allocating is what of it all allocations take, with their releases, in ns.
func (r *Run) Allocating() float64 { return r.all.plain }

// OnLibmallow is what the same allocations take on libmallow, not recorded.
func (r *Run) OnLibmallow() float64 { return r.all.serving }

// Calls is how many allocations there are.
func (r *Run) Calls() uint64 { return uint64(r.all.number) }

// Site returns what one of the allocations of a site costs on the average,
// with its release, in ns.
func (r *Run) Site(s *profile.Site) float64 {
	var sum float64
	var calls uint64
	s.EachCounted(func(f recording.Function, c *recording.Counters, reallocs *recording.Reallocs) {
		sum += float64(c.Calls) * r.costs.Plain.call(f, c, reallocs)
		calls += c.Calls
	})
	return sum / float64(max(1, calls))
}

// Basis says how a share of CPU time is known whose allocations cost so many
// ns each: what was measured, and how well the whole is known.
func (r *Run) Basis(each float64) string {
	whole := ""
	if r.sampled {
		whole = ", and CPU samples"
	}
	return fmt.Sprintf("%s at %.0f ns a pair, measured on this machine%s (± %.0f %%)",
		r.costs.Malloc, each, whole, math.Ceil(100*min(1, r.uncertain/r.nanoseconds)))
}

// call is what an allocation of a stack and its release cost.
func (t *Table) call(f recording.Function, c *recording.Counters, reallocs *recording.Reallocs) float64 {
	size := c.Bytes / max(1, c.Calls)
	hot := hotShare(c)
	switch f.Group() {
	case recording.GroupCalloc:
		return t.calloc(size, hot)
	case recording.GroupRealloc:
		return t.realloc(c.Calls, size, hot, reallocs)
	}
	return t.malloc(size, hot)
}

// hotShare is how much the calls are like those of a loop that does nothing
// else: blocks that are released at once find all that malloc looks at in the
// nearest cache, those that are released soon find half of it.
func hotShare(c *recording.Counters) float64 {
	calls := float64(max(1, c.Calls))
	return min(1, 0.5*float64(c.Temporary)/calls+0.5*float64(max(c.ShortLived, c.Temporary))/calls)
}
