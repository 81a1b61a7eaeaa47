package html

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/report/text"
)

// mostProcesses are listed, those with most allocations; a build has
// thousands.
const mostProcesses = 500

// describe takes from a profile what is said of it as a whole.
func (b *builder) describe(p *profile.Profile, number int) side {
	without := p.WithoutLibc()
	s := side{
		Name: clean(nameOf(p)), Totals: totalsOf(&without), Libc: totalsOf(&p.Origins[profile.OriginLibc]),
		Truncated: p.Quality.TruncatedCalls, Unplaced: p.Quality.UnplacedCalls, PeakError: p.Quality.PeakErrorBytes, NoPeak: p.PeakUnknown(), SumsOnly: p.SumsOnly,
		NoFailed: p.FailedUnknown, NoWaste: p.WasteUnknown,
		Incomplete: p.Quality.Incomplete, Running: p.Running, Stopped: p.Stopped, Warnings: []string{},
	}
	if p.Restricted() {
		for _, only := range text.Restrictions(&p.Restriction) {
			s.Only = append(s.Only, clean(only))
		}
	} else {
		s.moments = p.Timeline(true)
	}
	s.Timeline, s.Phases = len(s.moments) > 1, phasesOf(s.moments)
	for _, rec := range p.Recordings {
		s.Recordings = append(s.Recordings, recordedOf(rec))
	}
	s.Processes = processesOf(p)
	for _, r := range p.Regions {
		t := r.Totals(b.options.All)
		s.Regions = append(s.Regions, region{clean(r.Name), r.Entries, t.Allocations, t.Bytes, r.Frees, r.LiveChangeBytes})
	}
	for _, u := range p.Units {
		s.Units = append(s.Units, unit{clean(u.Name), u.Count, u.PerUnit(u.Allocations), u.PerUnit(u.Bytes)})
	}
	if e := p.Sampling; e != nil {
		s.Sampling = &sampling{e.MeanBytes, e.Samples, e.Errors.Allocations, e.Errors.Bytes}
	}
	for _, w := range p.Warnings() {
		s.Warnings = append(s.Warnings, clean(w))
	}
	return s
}

func recordedOf(rec *recording.Recording) recorded {
	r := recorded{Path: clean(rec.Path)}
	m := rec.Meta
	if m == nil {
		return r
	}
	r.Command = commandOf(m.Command)
	if m.Started.Unix() > 0 {
		r.Started = m.Started.UTC().Format(time.RFC3339)
	}
	if m.Ended.After(m.Started) {
		r.Seconds = m.Ended.Sub(m.Started).Seconds()
	}
	if seconds, known := rec.CPUSeconds(); known {
		r.CPU = &seconds
	}
	if !m.Joined {
		r.Exit = exitOf(m.ExitStatus, m.Signal)
	}
	return r
}

func exitOf(status, signal int) string {
	if signal != 0 {
		return fmt.Sprintf("signal %d (%v)", signal, syscall.Signal(signal))
	}
	return fmt.Sprintf("exit %d", status)
}

func processesOf(p *profile.Profile) []process {
	at := make(map[*profile.Process]int, len(p.Processes))
	var all []process
	for _, of := range p.Processes {
		if len(all) == mostProcesses {
			break
		}
		t := of.WithoutLibc()
		entry := process{
			Name: clean(of.Name()), Parent: -1, Begun: of.Begun.String(),
			Allocations: t.Allocations, Bytes: t.Bytes, Peak: t.PeakBytes, LiveBytes: t.LiveBytes,
		}
		if of.Image.Running {
			entry.Exit = "running"
		} else if of.Exit != nil {
			entry.Exit = exitOf(of.Exit.Status, of.Exit.Signal)
		}
		at[of] = len(all)
		all = append(all, entry)
	}
	for i, of := range p.Processes[:len(all)] {
		if parent, known := at[of.Parent]; known {
			all[i].Parent = parent
		}
	}
	return all
}

// lineOf writes where a frame is: file and line, or the module.
func lineOf(f *profile.Frame) string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	case f.File != "":
		return f.File
	}
	return filepath.Base(f.Module)
}
