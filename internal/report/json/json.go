// Package json writes a report for scripts: schema "mallow.report/1". Keys
// are only ever added. Shares are 0..1, sizes bytes, times seconds, what is
// not known null.
//
// What is not obvious of the keys:
//
//   - totals are of all processes and all origins, libc's own calls included.
//     allocations is the sum of the kinds, and of quality.unplaced_allocations,
//     whose kind is not known.
//   - peak_bytes of several processes is the sum of their own peaks, which need
//     not have been at the same time; of an origin and of a site it is what was
//     live when its process was at its peak.
//   - frees of program and libraries are null: who released a block is known
//     of libc alone.
//   - sites are all there are. Of their stacks the most frequent are written
//     (report --stacks), stack_count says how many there are; the same stack in
//     several processes is one. origin is that of most of a site's allocations.
//   - regions and units are of all origins; allocations_per_unit and the like
//     leave out what libc made on its own account, which libc_allocations_per_unit
//     has. A unit's figures are of the processes that counted any.
//   - with sampling, figures are estimates; errors are their standard errors, of
//     the totals and of each site. What was counted has no errors: null. Those
//     of the totals allow for blocks that left no sample.
//   - user_seconds and system_seconds are null, too, where processes that none
//     of the family waited for, such as daemons, made a hundredth of all
//     allocations and releases or more: the kernel adds their time to nobody's.
//   - joined_processes ran already when their recording began; bytes_before are
//     the usable bytes of the blocks that lived in them then; stopped_processes
//     went on when it was stopped.
//   - size_common, partner_at_birth, partner_at_death and freed_by are what most
//     of a site's calls have in common; of the calls looked at share_min is sure,
//     share_max the most that it can be in the stacks where no other value is
//     the commonest, and where the calls come in random order close to the
//     truth. Partners are the site that the thread allocated at just before, and
//     the site whose block it released just before: of the runs, which are the
//     calls (releases) that follow those of another stack.
//   - lifetime has the releases by the allocating thread itself: item i is how
//     many came 2^i to 2^(i+1) - 1 heap events of the thread after the birth.
//   - these and runs are exact for stacks of up to 32 calls per thread, beyond
//     that they come from one call in sixteen, beyond 4096 calls from one in
//     128; reallocs are exact. threads are those at the same time. first_s,
//     last_s and last_freed_s are seconds since the recording began.
//   - timeline has at most 1024 moments, of all processes together; allocations,
//     releases and stacks count from the beginning. changed are the sites by
//     which the live bytes changed most, as far as the thread that looked knew.
//   - phases are start-up, steady state and shutdown, exact to the distance of
//     two moments; null where there is no steady state to tell.
//   - advice begins with what saves most. saves.share is that of all
//     allocations without libc's own, cpu_share that of the program's CPU time;
//     with at_most all of them are the most that following it can save;
//     advice_stop is the sentence that nothing further is worth the work, null
//     while something is.
//   - restricted is null in a report of everything. Otherwise all figures are
//     those of the stacks that were left; what is only known of whole processes
//     is null or empty: frees, cpu, timeline, phases; and peak_bytes is what was
//     live at the process's peak.
//   - grouped_by is line, function, module or type. With type a site for which
//     one is known has a type and no function; with --sort cpu sites have cpu_s.
//   - function is the module and where the code starts, such as
//     "libz.so.1+0x3a10", where no symbol covers it.
package json

import (
	"cmp"
	"io"
	"time"

	"mallow/internal/advise"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Schema names the keys and their meaning.
const Schema = "mallow.report/1"

// Options of the report.
type Options struct {
	Sites  []*profile.Site // in the order to write them
	Stacks int             // at most so many of each site; 0: all
	By     profile.Grouping
	Advice advise.Result
}

type report struct {
	Schema     string       `json:"schema"`
	Restricted *restriction `json:"restricted"`
	GroupedBy  string       `json:"grouped_by"`
	Totals     totals       `json:"totals"`
	Origins    origins      `json:"origins"`
	Recordings []recorded   `json:"recordings"`
	Processes  []process    `json:"processes"`
	Unrecorded []unrecorded `json:"unrecorded"`
	Sampling   *sampling    `json:"sampling"`
	Sites      []site       `json:"sites"`
	Regions    []region     `json:"regions"`
	Units      []unit       `json:"units"`
	Advice     []advice     `json:"advice"`
	AdviceStop *string      `json:"advice_stop"`
	CPU        *cpuKeys     `json:"cpu"`
	Quality    qualityKeys  `json:"quality"`

	FreeNullCallers []nullCaller `json:"free_null_callers"`
	Timeline        []moment     `json:"timeline"`
	Phases          []phase      `json:"phases"`
}

type totals struct {
	Mallocs     uint64  `json:"mallocs"`
	Callocs     uint64  `json:"callocs"`
	Reallocs    uint64  `json:"reallocs"`
	Strdups     uint64  `json:"strdups"`
	Wcsdups     uint64  `json:"wcsdups"`
	Aligned     uint64  `json:"aligned"`
	News        uint64  `json:"news"`
	Allocations uint64  `json:"allocations"`
	Frees       *uint64 `json:"frees"`
	FreeNulls   uint64  `json:"free_nulls"`
	Bytes       uint64  `json:"bytes"`
	PeakBytes   uint64  `json:"peak_bytes"`
	LiveBlocks  uint64  `json:"live_blocks"`
	LiveBytes   uint64  `json:"live_bytes"`
	Temporary   uint64  `json:"temporary"`
	ShortLived  uint64  `json:"short_lived"`
	Failed      uint64  `json:"failed"`
}

type origins struct {
	Program   totals `json:"program"`
	Libraries totals `json:"libraries"`
	Libc      totals `json:"libc"`
}

// recorded is one recording: what the CLI knew of the run.
type recorded struct {
	Path          string   `json:"path"`
	Command       []string `json:"command"`
	Started       *string  `json:"started"`
	Ended         *string  `json:"ended"`
	ExitStatus    *int     `json:"exit_status"`
	Signal        *int     `json:"signal"`
	UserSeconds   *float64 `json:"user_seconds"`
	SystemSeconds *float64 `json:"system_seconds"`
	// Imported is left out unless the recording was made from another tool's file.
	Imported *imported `json:"imported,omitempty"`
}

type imported struct {
	Format string  `json:"format"`
	File   *string `json:"file"`
}

type process struct {
	PID            uint64  `json:"pid"`
	ParentPID      uint64  `json:"parent_pid"`
	Executable     *string `json:"executable"`
	Threads        uint64  `json:"threads"`
	Running        bool    `json:"running"`
	Totals         totals  `json:"totals"`
	Origins        origins `json:"origins"`
	PeakErrorBytes uint64  `json:"peak_error_bytes"`
	// Parent is an index of processes, null where it is not among them; begun
	// is first, fork, exec (in the place of the parent) or child.
	Parent     *int   `json:"parent"`
	Begun      string `json:"begun"`
	ExitStatus *int   `json:"exit_status"`
	Signal     *int   `json:"signal"`
}

// unrecorded is a program that processes executed and that left nothing.
type unrecorded struct {
	Executable *string  `json:"executable"`
	Reason     *string  `json:"reason"`
	Processes  int      `json:"processes"`
	PIDs       []uint64 `json:"pids"`
	ParentPID  *uint64  `json:"parent_pid"`
}

type frame struct {
	Function *string `json:"function"`
	File     *string `json:"file"`
	Line     *int    `json:"line"`
	Module   *string `json:"module"`
}

type site struct {
	frame
	Type        *string  `json:"type,omitempty"`
	CPUS        *float64 `json:"cpu_s,omitempty"`
	Origin      string   `json:"origin"`
	Allocations uint64   `json:"allocations"`
	Share       *float64 `json:"share"`
	Bytes       uint64   `json:"bytes"`
	PeakBytes   uint64   `json:"peak_bytes"`
	LiveBlocks  uint64   `json:"live_blocks"`
	LiveBytes   uint64   `json:"live_bytes"`
	Temporary   uint64   `json:"temporary"`
	ShortLived  uint64   `json:"short_lived"`
	SizeMin     *uint64  `json:"size_min"`
	SizeMax     *uint64  `json:"size_max"`
	Failed      uint64   `json:"failed"`
	Errors      *errors  `json:"errors"`
	knowledge
	StackCount int     `json:"stack_count"`
	Stacks     []stack `json:"stacks"`
}

type stack struct {
	Allocations uint64  `json:"allocations"`
	Function    *string `json:"function"`
	Truncated   bool    `json:"truncated"`
	Frames      []frame `json:"frames"`
}

type qualityKeys struct {
	TruncatedStacks      uint64   `json:"truncated_stacks"`
	TruncatedAllocations uint64   `json:"truncated_allocations"`
	UnplacedAllocations  uint64   `json:"unplaced_allocations"`
	Incomplete           bool     `json:"incomplete"`
	PeakErrorBytes       uint64   `json:"peak_error_bytes"`
	JoinedProcesses      uint64   `json:"joined_processes"`
	BytesBefore          uint64   `json:"bytes_before"`
	StoppedProcesses     uint64   `json:"stopped_processes"`
	Merged               *merged  `json:"merged"`
	Warnings             []string `json:"warnings"`
}

// Write prints the report as one line of JSON.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	moments := p.Timeline(true)
	r := report{
		Schema:     Schema,
		Restricted: restrictionKeys(p),
		GroupedBy:  string(cmp.Or(o.By, profile.ByLine)),
		Totals:     totals(p.Totals),
		Origins:    originKeys(p.Origins),
		Recordings: make([]recorded, 0, len(p.Recordings)),
		Processes:  make([]process, 0, len(p.Processes)),
		Sampling:   samplingKeys(p),
		Sites:      siteKeys(p, o),
		Regions:    regionKeys(p),
		Units:      unitKeys(p),
		Advice:     adviceKeys(o.Advice.Advice),
		AdviceStop: known(o.Advice.Stop),
		CPU:        cpuOf(p),

		FreeNullCallers: nullCallerKeys(p),
		Timeline:        timelineKeys(moments),
		Phases:          phaseKeys(moments),
	}
	for _, rec := range p.Recordings {
		r.Recordings = append(r.Recordings, recordedKeys(rec))
	}
	r.Processes, r.Unrecorded = familyKeys(p)
	r.Quality = qualityOf(p)
	return encode(w, r, unknownOf(p))
}

func qualityOf(p *profile.Profile) qualityKeys {
	return qualityKeys{
		TruncatedStacks:      p.Quality.TruncatedStacks,
		TruncatedAllocations: p.Quality.TruncatedCalls,
		UnplacedAllocations:  p.Quality.UnplacedCalls,
		Incomplete:           p.Quality.Incomplete,
		PeakErrorBytes:       p.Quality.PeakErrorBytes,
		JoinedProcesses:      p.Quality.Joined,
		BytesBefore:          p.Quality.BytesBefore,
		StoppedProcesses:     p.Stopped,
		Merged:               mergedKeys(p),
		Warnings:             append([]string{}, p.Warnings()...),
	}
}

func originKeys(o [profile.Origins]profile.Totals) origins {
	return origins{
		Program:   totals(o[profile.OriginProgram]),
		Libraries: totals(o[profile.OriginLibraries]),
		Libc:      totals(o[profile.OriginLibc]),
	}
}

func recordedKeys(rec *recording.Recording) recorded {
	r := recorded{Path: rec.Path}
	if m := rec.Meta; m != nil {
		r.Command = m.Command
		if m.Imported != nil {
			r.Imported = &imported{m.Imported.Format, known(m.Imported.File)}
		}
	}
	if m := rec.Meta; m != nil && m.Imported == nil {
		r.Started, r.Ended = rfc3339(m.Started), rfc3339(m.Ended)
		if !m.Joined {
			r.ExitStatus, r.Signal = &m.ExitStatus, &m.Signal
		}
		if _, known := rec.CPUSeconds(); known {
			r.UserSeconds, r.SystemSeconds = &m.UserSeconds, &m.SystemSeconds
		}
	}
	return r
}

func rfc3339(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.Format(time.RFC3339Nano)
	return &s
}

func processKeys(p *profile.Process) process {
	return process{
		PID: p.Image.PID, ParentPID: p.Image.ParentPID, Executable: known(p.Image.Executable),
		Threads: p.Threads, Running: p.Image.Running, Totals: totals(p.Totals), Origins: originKeys(p.Origins),
		PeakErrorBytes: p.Image.PeakErrorBytes(),
	}
}

func siteKeys(p *profile.Profile, o Options) []site {
	stacks, counts := p.Stacks(o.Sites, o.Stacks)
	known := p.Knowledge(o.Sites)
	sites := make([]site, 0, len(o.Sites))
	for i, s := range o.Sites {
		c := &s.Counters
		keys := site{
			frame:       frameKeys(&s.Frame),
			Origin:      s.Origin.String(),
			Allocations: c.Calls,
			Bytes:       c.Bytes,
			PeakBytes:   uint64(max(0, c.PeakBytes)),
			LiveBlocks:  uint64(c.LiveBlocks()),
			LiveBytes:   uint64(c.LiveBytes()),
			Temporary:   c.Temporary,
			ShortLived:  c.ShortLived,
			Failed:      c.Failed,
			knowledge:   knowledgeKeys(c, &known[i]),
			StackCount:  counts[i],
			Stacks:      make([]stack, 0, len(stacks[i])),
		}
		if p.Totals.Allocations > 0 {
			share := float64(c.Calls) / float64(p.Totals.Allocations)
			keys.Share = &share
		}
		if s.AllocatedType != "" {
			keys.Type = &s.AllocatedType
		}
		if s.CPU > 0 {
			cpu := inSeconds(s.CPU)
			keys.CPUS = &cpu
		}
		if p.Sampling != nil {
			keys.Errors = errorKeys(s.Errors())
		}
		if c.Calls > 0 {
			keys.SizeMin, keys.SizeMax = &c.SizeMin, &c.SizeMax
		}
		for _, st := range stacks[i] {
			keys.Stacks = append(keys.Stacks, stackKeys(&st))
		}
		sites = append(sites, keys)
	}
	return sites
}

func stackKeys(st *profile.Stack) stack {
	keys := stack{Allocations: st.Allocations, Truncated: st.Truncated, Frames: make([]frame, 0, len(st.Frames))}
	if st.Function != 0 {
		keys.Function = known(st.Function.String())
	}
	for i := range st.Frames {
		keys.Frames = append(keys.Frames, frameKeys(&st.Frames[i]))
	}
	return keys
}

func frameKeys(f *profile.Frame) frame {
	keys := frame{Function: known(f.Function), File: known(f.File), Module: known(f.Module)}
	if f.Line > 0 {
		keys.Line = &f.Line
	}
	return keys
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
