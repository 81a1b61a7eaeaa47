package compare

import (
	"context"
	"fmt"
	"path/filepath"

	"mallow/internal/advise/price"
	"mallow/internal/calibrate"
	"mallow/internal/launch"
	"mallow/internal/profile"
	"mallow/internal/stat"
)

// Malloc is what a command allocates in a run, by a recording.
type Malloc struct {
	Allocations, Bytes uint64
	// Each is what one allocation costs with its release, in ns; 0 unknown.
	Each float64
	// Share is that of malloc and free in the CPU time of a run; nil unknown.
	Share *float64
	Basis string // how Share is known

	allocating float64 // ns of all allocations
}

// Removed is what the allocations bought that the side with fewer does not
// make.
type Removed struct {
	Fewer       string // the side with fewer
	Allocations uint64
	// Each is the CPU time that one of them bought, in ns, with its bounds;
	// below 0 where the side with fewer is slower.
	Each, Low, High float64
	// Work is how much more was done in the same time for each; 0 unknown.
	Work, WorkLow, WorkHigh float64
	Unit                    string
	Shown                   bool // by the CPU time
	WorkShown               bool
}

// record learns from recordings what the sides allocate.
func (s *session) record(ctx context.Context) error {
	recordings := s.o.Recordings
	if len(recordings) == 0 && s.o.Record != nil {
		for i, side := range s.sides {
			if i > 0 && s.o.Versus == "" {
				break // the same command allocates the same
			}
			s.progress("recording %s", side.name())
			folder := filepath.Join(s.folder, fmt.Sprintf("side-%d.mallow", i))
			if err := s.o.Record(ctx, side.command, folder); err != nil {
				if ctx.Err() != nil {
					return err
				}
				s.note("what malloc costs is not known: %v", err)
				return nil
			}
			recordings = append(recordings, folder)
		}
	}
	found := []**Malloc{&s.result.Malloc, &s.result.Other}
	for i, path := range recordings[:min(len(recordings), len(found))] {
		p, err := s.o.Profile(path)
		if err != nil {
			return err
		}
		*found[i] = mallocOf(p)
		if len(s.o.Recordings) > 0 {
			s.doubt(path, p)
		}
		for _, rec := range p.Recordings {
			if rec.Meta == nil {
				continue
			}
			for _, one := range rec.Meta.Unrecorded {
				s.note("%s, which it starts, was not recorded and may have a malloc of its own%s", launch.Quote(one.Executable), because(one.Reason))
			}
		}
	}
	if m := s.result.Malloc; m != nil && m.Allocations == 0 && s.o.Versus == "" {
		return fmt.Errorf("%s allocates nothing: no malloc can make a difference to it", s.result.Command)
	}
	return nil
}

// doubt notes why a recording that was made before does not tell what one run
// allocates.
func (s *session) doubt(path string, p *profile.Profile) {
	for _, rec := range p.Recordings {
		switch {
		case rec.Meta == nil:
		case rec.Meta.Imported != nil:
			s.note("%s is imported (%s): it may not have all allocations of one run", launch.Quote(path), rec.Meta.Imported.Format)
		case rec.Meta.Joined:
			s.note("%s is of a part of a run: recording began while the program ran", launch.Quote(path))
		}
	}
	if p.Running > 0 {
		s.note("%s is of a part of a run: the program still runs", launch.Quote(path))
	}
	if p.Sampling != nil {
		s.note("%s has samples: its allocations are estimates", launch.Quote(path))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// mallocOf prices what is recorded.
func mallocOf(p *profile.Profile) *Malloc {
	m := &Malloc{Allocations: p.Totals.Allocations, Bytes: p.Totals.Bytes}
	if m.Allocations == 0 {
		return m
	}
	costs := calibrate.Costs(price.MallocOf(p.Recordings))
	if run := price.For(p, costs); run != nil {
		m.allocating = run.Allocating()
		m.Each = m.allocating / float64(m.Allocations)
		m.Basis = fmt.Sprintf("%s at %.0f ns a pair, measured on this machine", costs.Malloc, m.Each)
		return m
	}
	if cpu := p.CPU(); cpu != nil && cpu.Allocator > 0 && cpu.Total > 0 {
		share := float64(cpu.Allocator) / float64(cpu.Total)
		m.Share = &share
		m.Basis = "CPU samples, on libmallow"
	}
	return m
}

// conclude adds what only all rounds together tell.
func (s *session) conclude() *Result {
	r := &s.result
	r.Options = s.o
	share := func(m *Malloc, row *Row) {
		if m == nil || m.allocating == 0 || len(row.Runs) == 0 {
			return
		}
		used := stat.Summarize(row.Series(CPU)).Median * 1e9
		part := min(1, m.allocating/used)
		m.Share = &part
	}
	share(r.Malloc, r.Rows[0])
	if r.Versus != "" {
		share(r.Other, r.Rows[1])
		r.Removed = s.removed()
	}
	return r
}

// removed returns nil where both allocate equally often, or it is not known.
func (s *session) removed() *Removed {
	base, other := s.result.Malloc, s.result.Other
	if base == nil || other == nil || base.Allocations == other.Allocations {
		return nil
	}
	rows := s.result.Rows
	ratios := rows[1].Ratios
	r := &Removed{Fewer: rows[1].Name, Allocations: base.Allocations - other.Allocations, Shown: ratios.CPU.Shown()}
	cpu, wall := ratios.CPU, ratios.Wall
	if other.Allocations > base.Allocations {
		r.Fewer, r.Allocations = rows[0].Name, other.Allocations-base.Allocations
		cpu, wall = inverse(cpu), inverse(wall)
	}
	more := rows[0]
	if r.Fewer == rows[0].Name {
		more = rows[1]
	}
	count := float64(r.Allocations)
	spent := stat.Summarize(more.Series(CPU)).Median * 1e9
	r.Each, r.Low, r.High = spent*(1-cpu.Value)/count, spent*(1-cpu.High)/count, spent*(1-cpu.Low)/count
	if s.o.Work != nil {
		// In the time of the side with more, the other does that much more.
		gained := func(ratio float64) float64 { return s.o.Work.Amount * (1/ratio - 1) / count }
		r.Work, r.WorkLow, r.WorkHigh = gained(wall.Value), gained(wall.High), gained(wall.Low)
		r.Unit, r.WorkShown = s.o.Work.Unit, wall.Shown()
	}
	return r
}

func inverse(r stat.Ratio) stat.Ratio {
	return stat.Ratio{Value: 1 / r.Value, Low: 1 / r.High, High: 1 / r.Low}
}
