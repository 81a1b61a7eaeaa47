package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/term"
)

// filterFlags leave parts of a recording out of every form of report.
type filterFlags struct {
	include, exclude, origins, modules, threads, processes []string
	region, phase                                          string
	maxSize                                                byteCount
	sized                                                  bool // maxSize was given
}

var filterNames = []string{"include", "exclude", "origin", "module", "thread", "process", "region", "phase", "max-size"}

func (o *filterFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.include, "include", nil, "only stacks with a frame whose function, FILE:LINE or module matches `RE` (may be repeated: one of them)")
	f.StringArrayVar(&o.exclude, "exclude", nil, "no stacks that have a frame that matches `RE` (may be repeated)")
	f.StringSliceVar(&o.origins, "origin", nil, "only what was called for by `program|libraries|libc`, some of them with commas between")
	f.StringArrayVar(&o.modules, "module", nil, "only sites in the program or library of that `NAME` (may be repeated)")
	f.StringSliceVar(&o.threads, "thread", nil, "only what the thread with that id did, or the first one: `TID|main`")
	f.StringArrayVar(&o.processes, "process", nil, "only processes with this process id or program name, `PID|NAME` (may be repeated)")
	f.StringVar(&o.region, "region", "", "only what was allocated within the region of that `NAME`")
	f.StringVar(&o.phase, "phase", "", "only stacks that were active in the `start-up|steady|shutdown`")
	f.Var(&o.maxSize, "max-size", "only stacks whose greatest block had at most so many bytes: the small ones")
}

// open reads the recordings, of the chosen threads.
func (o *filterFlags) open(paths []string) ([]*recording.Recording, error) {
	recordings := make([]*recording.Recording, len(paths))
	for i, path := range paths {
		var err error
		if recordings[i], err = recording.OpenThreads(path, o.threads); err != nil {
			return nil, fmt.Errorf("%s", term.Safe(err.Error()))
		}
	}
	return recordings, nil
}

// filter makes what the flags say ready for the recordings.
func (o *filterFlags) filter(recordings []*recording.Recording) (f profile.Filter, err error) {
	if err := profile.CheckProcesses(recordings, o.processes); err != nil {
		return f, fmt.Errorf("%s", term.Safe(err.Error()))
	}
	if f.Include, err = compileAll("--include", o.include); err != nil {
		return f, err
	}
	if f.Exclude, err = compileAll("--exclude", o.exclude); err != nil {
		return f, err
	}
	for _, name := range o.origins {
		origin, ok := profile.OriginNamed(name)
		if !ok {
			return f, fmt.Errorf("--origin %s: there are program, libraries and libc", term.Safe(name))
		}
		f.Origins = append(f.Origins, origin)
	}
	if f.Modules = o.modules; len(f.Modules) > 0 {
		if err := profile.CheckModules(recordings, f.Modules); err != nil {
			return f, fmt.Errorf("%s", term.Safe(err.Error()))
		}
	}
	if o.sized {
		most := uint64(o.maxSize)
		f.MaxSize = &most
	}
	if f.Region = o.region; f.Region != "" && !profile.HasRegion(recordings, f.Region) {
		return f, fmt.Errorf("there is no region %s in it (mallow report lists those there are)", term.Safe(f.Region))
	}
	if o.phase != "" {
		f.Active, err = o.span(recordings)
	}
	return f, err
}

// span finds the time of a phase.
func (o *filterFlags) span(recordings []*recording.Recording) (*profile.Span, error) {
	wanted := strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(o.phase))
	if wanted == "steady" {
		wanted = "steadystate"
	}
	phases := analyze.Phases(profile.Timeline(recordings, o.processes))
	var names []string
	for i, phase := range phases {
		if strings.NewReplacer(" ", "", "-", "").Replace(phase.Name) == wanted {
			return &profile.Span{Name: phase.Name, From: phase.From, To: phase.To, Allocations: phase.Allocations, Last: i == len(phases)-1}, nil
		}
		names = append(names, phase.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("--phase %s: no phases can be told apart in it", term.Safe(o.phase))
	}
	return nil, fmt.Errorf("--phase %s: there is none; there are %s", term.Safe(o.phase), strings.Join(names, ", "))
}

func compileAll(flag string, expressions []string) ([]*regexp.Regexp, error) {
	var compiled []*regexp.Regexp
	for _, e := range expressions {
		re, err := regexp.Compile(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", flag, term.Safe(err.Error()))
		}
		compiled = append(compiled, re)
	}
	return compiled, nil
}
