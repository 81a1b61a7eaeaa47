package diff

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mallow/internal/profile"
)

// note says what the figures must be read with.
func (d *Diff) note() {
	d.noteRuns()
	d.noteLengths()
	d.noteSides()
	d.noteEstimates()
	d.noteLines()
	d.noteNameless()
	d.noteUnnamed()
}

func (d *Diff) say(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// noteRuns compares what was run, and how it ended.
func (d *Diff) noteRuns() {
	if d.otherCommand() {
		d.say("OLD ran %s, NEW ran %s", commands(d.Old), commands(d.New))
	}
	if d.otherEnd() {
		d.say("OLD ended with %s, NEW with %s", ending(d.Old), ending(d.New))
	}
	if o, n := len(d.Old.Processes), len(d.New.Processes); o*len(d.New.Recordings) != n*len(d.Old.Recordings) {
		d.say("OLD has %s, NEW has %s", counted(o, "process", "processes"), counted(n, "process", "processes"))
	}
	if began, _ := times(d.Old); !began.IsZero() {
		if _, ended := times(d.New); !ended.IsZero() && began.After(ended) {
			d.say("OLD was recorded after NEW")
		}
	}
}

// otherCommand tells that the sides ran with other arguments, as far as is known.
func (d *Diff) otherCommand() bool {
	return commands(d.Old) != "" && commands(d.New) != "" && arguments(d.Old) != arguments(d.New)
}

// otherEnd tells that the sides ended otherwise, as far as is known.
func (d *Diff) otherEnd() bool {
	old, new := ending(d.Old), ending(d.New)
	return old != "" && new != "" && old != new
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// commands are what was run, each once.
func commands(p *profile.Profile) string {
	return list(p, func(command []string) string {
		return "\"" + strings.Join(append([]string{filepath.Base(command[0])}, command[1:]...), " ") + "\""
	})
}

func arguments(p *profile.Profile) string {
	return list(p, func(command []string) string { return strings.Join(command[1:], "\x00") })
}

func list(p *profile.Profile, text func(command []string) string) string {
	var all []string
	for _, rec := range p.Recordings {
		if rec.Meta == nil || len(rec.Meta.Command) == 0 {
			return ""
		}
		all = append(all, text(rec.Meta.Command))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// ending is how the programs ended, "" where nobody knows.
func ending(p *profile.Profile) string {
	var all []string
	for _, rec := range p.Recordings {
		switch m := rec.Meta; {
		case m == nil || m.Joined || m.Ended.IsZero():
			return ""
		case m.Signal != 0:
			all = append(all, fmt.Sprintf("signal %d", m.Signal))
		default:
			all = append(all, fmt.Sprintf("status %d", m.ExitStatus))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}

// times are when the first recording began and the last one ended; zero where
// nobody knows.
func times(p *profile.Profile) (began, ended time.Time) {
	for _, rec := range p.Recordings {
		if rec.Meta == nil {
			return time.Time{}, time.Time{}
		}
		if began.IsZero() || rec.Meta.Started.Before(began) {
			began = rec.Meta.Started
		}
		if rec.Meta.Ended.After(ended) {
			ended = rec.Meta.Ended
		}
	}
	return began, ended
}

// noteLengths says that counts of runs of different lengths tell little.
func (d *Diff) noteLengths() {
	if d.Per != nil || slices.ContainsFunc(d.Units, (*Unit).Both) {
		return
	}
	old, new := duration(d.Old), duration(d.New)
	long, short := max(old, new), min(old, new)
	if short > 0 && long >= 3*short && long-short >= time.Second {
		d.say("OLD ran %.1f s, NEW %.1f s: if they did not do the same work, compare by unit of work (mallow record --per FUNCTION)",
			old.Seconds(), new.Seconds())
	}
}

// duration is the mean of all recordings.
func duration(p *profile.Profile) time.Duration {
	var sum time.Duration
	for _, rec := range p.Recordings {
		if rec.Meta == nil || rec.Meta.Ended.Before(rec.Meta.Started) {
			return 0
		}
		sum += rec.Meta.Ended.Sub(rec.Meta.Started)
	}
	return sum / time.Duration(max(1, len(p.Recordings)))
}

func (d *Diff) noteSides() {
	for _, side := range []struct {
		name string
		p    *profile.Profile
	}{{"OLD", d.Old}, {"NEW", d.New}} {
		q := &side.p.Quality
		if side.p.Running > 0 {
			d.say("%s still runs: figures as of now", side.name)
		}
		if q.Incomplete {
			d.say("%s is incomplete: its figures are the least that they can be", side.name)
		}
		if q.Joined > 0 {
			d.say("%s was recorded from some time after its start on", side.name)
		}
		if q.UnplacedCalls > 0 {
			d.say("%s has %s counted without stack", side.name, counted(int(q.UnplacedCalls), "allocation", "allocations"))
		}
	}
	if e := d.Old.Quality.PeakErrorBytes + d.New.Quality.PeakErrorBytes; e > 0 && !d.PeakUnknown() {
		d.say("the difference of the peaks is exact to %d kB, because several threads allocated", (e+999)/1000)
	}
}

func (d *Diff) noteEstimates() {
	oldSampled, newSampled := d.Old.Sampling != nil, d.New.Sampling != nil
	if !oldSampled && !newSampled {
		return
	}
	within := 0
	for _, s := range d.Sites {
		if s.WithinError {
			within++
		}
	}
	who := "OLD and NEW are estimates"
	if !newSampled {
		who = "OLD is an estimate"
	} else if !oldSampled {
		who = "NEW is an estimate"
	}
	d.say("%s; %s differ by no more than %d standard errors and count as the same", who, counted(within, "site", "sites"), standardErrors)
}

// noteLines names the modules of which only one side knows lines.
func (d *Diff) noteLines() {
	known := func(places func(*Site) *Place) map[string]bool {
		lines := make(map[string]bool)
		for _, s := range d.Sites {
			if p := places(s); p != nil && p.Module != "" && d.unnamed[p.Module] == "" {
				name := path.Base(p.Module)
				lines[name] = lines[name] || p.File != ""
			}
		}
		return lines
	}
	old, new := known(oldPlace), known(newPlace)
	var oldOnly, newOnly []string
	for name, has := range old {
		if other, there := new[name]; there && has != other {
			if has {
				oldOnly = append(oldOnly, name)
			} else {
				newOnly = append(newOnly, name)
			}
		}
	}
	slices.Sort(oldOnly)
	slices.Sort(newOnly)
	for _, side := range []struct {
		has, lacks string
		modules    []string
	}{{"OLD", "NEW", oldOnly}, {"NEW", "OLD", newOnly}} {
		if len(side.modules) > 0 {
			d.say("%s has lines of %s, %s has none: sites are compared by function there", side.has, strings.Join(side.modules, ", "), side.lacks)
		}
	}
}

// noteNameless tells what became of code without symbols in modules that were
// built anew.
func (d *Diff) noteNameless() {
	type figures struct{ matched, old, new int }
	by := make(map[string]*figures)
	of := func(module string) *figures {
		name := d.rebuilt[module]
		if by[name] == nil {
			by[name] = new(figures)
		}
		return by[name]
	}
	for _, s := range d.Sites {
		f := s.Frame()
		switch {
		case f.Named() || f.Function == "" || d.rebuilt[f.Module] == "":
		case s.Match == ByOrder:
			of(f.Module).matched++
		case s.New == nil:
			of(f.Module).old++
		case s.Old == nil:
			of(f.Module).new++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		f := by[name]
		switch {
		case f.old > 0 && f.new > 0:
			d.say("%s has no symbols and is another build: %s matched by order and size; %d of OLD and %d of NEW could not be, and stand as gone and new",
				name, counted(f.matched, "site was", "sites were"), f.old, f.new)
		case f.matched > 0:
			d.say("%s has no symbols and is another build: %s matched by order and size", name, counted(f.matched, "site was", "sites were"))
		}
	}
}

// noteUnnamed tells what became of modules of which one side has no symbols.
func (d *Diff) noteUnnamed() {
	type figures struct {
		lacking           string
		matched, old, new int
	}
	by := make(map[string]*figures)
	for _, s := range d.Sites {
		name := d.unnamed[s.Frame().Module]
		if name == "" {
			continue
		}
		f := by[name]
		if f == nil {
			f = new(figures)
			by[name] = f
		}
		switch {
		case s.New == nil:
			f.old++
		case s.Old == nil:
			f.new++
		case s.Match == ByFigures:
			f.matched++
		}
		if s.Old != nil && !s.Old.Named() {
			f.lacking = "OLD"
		} else if s.New != nil && !s.New.Named() {
			f.lacking = "NEW"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		f := by[name]
		d.say("%s has no symbols of %s: %s matched by figures that are the same; %d of OLD and %d of NEW stand as gone and new",
			f.lacking, name, counted(f.matched, "function was", "functions were"), f.old, f.new)
	}
}
