package harness

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// Totals are a report's totals, of all or of one origin.
type Totals struct {
	Mallocs     uint64 `json:"mallocs"`
	Callocs     uint64 `json:"callocs"`
	Reallocs    uint64 `json:"reallocs"`
	Strdups     uint64 `json:"strdups"`
	Wcsdups     uint64 `json:"wcsdups"`
	Aligned     uint64 `json:"aligned"`
	News        uint64 `json:"news"`
	Allocations uint64 `json:"allocations"`
	Frees       uint64 `json:"frees"`
	FreeNulls   uint64 `json:"free_nulls"`
	Bytes       uint64 `json:"bytes"`
	PeakBytes   uint64 `json:"peak_bytes"`
	LiveBlocks  int64  `json:"live_blocks"`
	LiveBytes   int64  `json:"live_bytes"`
	Temporary   uint64 `json:"temporary"`
	ShortLived  uint64 `json:"short_lived"`
	Failed      uint64 `json:"failed"`
}

// Origins are the totals by who called. Who released a block is known only as far as libc goes: the frees of
// program and libraries are null.
type Origins struct {
	Program   Totals `json:"program"`
	Libraries Totals `json:"libraries"`
	Libc      Totals `json:"libc"`
}

// Process is a process image of a recording.
type Process struct {
	Executable string  `json:"executable"`
	Threads    uint64  `json:"threads"`
	Totals     Totals  `json:"totals"`
	Origins    Origins `json:"origins"`
	PID        uint64  `json:"pid"`
	Parent     *int    `json:"parent"` // index of the report's processes
	Begun      string  `json:"begun"`
	ExitStatus *int    `json:"exit_status"`
}

// Unrecorded is a program that left nothing in the recording.
type Unrecorded struct {
	Executable string `json:"executable"`
	Reason     string `json:"reason"`
	Processes  int    `json:"processes"`
}

// Counts are the totals that the counting preload knows too.
func (t Totals) Counts() Counts {
	return Counts{t.Mallocs, t.Callocs, t.Reallocs, t.Strdups, t.Wcsdups, t.Aligned, t.News, t.Frees, t.FreeNulls, t.Failed, t.Bytes}
}

// Frame is a frame of a stack.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Module   string `json:"module"`
}

// Stack is one of the stacks of a site.
type Stack struct {
	Allocations uint64  `json:"allocations"`
	Truncated   bool    `json:"truncated"`
	Frames      []Frame `json:"frames"`
}

// Site is a line that allocates.
type Site struct {
	Type        string  `json:"type"`
	Function    string  `json:"function"`
	File        string  `json:"file"`
	Line        int     `json:"line"`
	Module      string  `json:"module"`
	Origin      string  `json:"origin"`
	Allocations uint64  `json:"allocations"`
	Share       float64 `json:"share"`
	Bytes       uint64  `json:"bytes"`
	LiveBlocks  int64   `json:"live_blocks"`
	LiveBytes   int64   `json:"live_bytes"`
	Temporary   uint64  `json:"temporary"`
	ShortLived  uint64  `json:"short_lived"`
	SizeMin     uint64  `json:"size_min"`
	SizeMax     uint64  `json:"size_max"`
	Stacks      []Stack `json:"stacks"`

	Failed         uint64     `json:"failed"`
	PeakBlocks     *uint64    `json:"peak_blocks"`
	Waste          uint64     `json:"waste"`
	Foreign        uint64     `json:"foreign"`
	SizeCommon     *SizeShare `json:"size_common"`
	Runs           *Runs      `json:"runs"`
	PartnerAtBirth *Placed    `json:"partner_at_birth"`
	PartnerAtDeath *Placed    `json:"partner_at_death"`
	FreedBy        *Placed    `json:"freed_by"`
	Lifetime       []uint64   `json:"lifetime"`
	Reallocs       *Reallocs  `json:"reallocs"`
	Threads        *uint64    `json:"threads"`
	FirstS         *float64   `json:"first_s"`
	LastS          *float64   `json:"last_s"`
	LastFreedS     *float64   `json:"last_freed_s"`
}

// SizeShare is the commonest size of a site.
type SizeShare struct {
	Bytes    uint64  `json:"bytes"`
	ShareMin float64 `json:"share_min"`
	ShareMax float64 `json:"share_max"`
}

// Runs are the rows of calls with one stack.
type Runs struct {
	Count   uint64 `json:"count"`
	Longest uint64 `json:"longest"`
}

// Placed is a site or a caller that most of a site's calls have in common.
type Placed struct {
	Frame
	ShareMin float64 `json:"share_min"`
	ShareMax float64 `json:"share_max"`
}

// Reallocs are what became of the blocks given to the reallocs of a site.
type Reallocs struct {
	Resized     uint64 `json:"resized"`
	Grown       uint64 `json:"grown"`
	Shrunk      uint64 `json:"shrunk"`
	Moved       uint64 `json:"moved"`
	BytesCopied uint64 `json:"bytes_copied"`
	Chained     uint64 `json:"chained"`
}

// Moment is a point of the timeline.
type Moment struct {
	AtS         float64  `json:"at_s"`
	Allocations uint64   `json:"allocations"`
	Releases    uint64   `json:"releases"`
	LiveBlocks  int64    `json:"live_blocks"`
	LiveBytes   int64    `json:"live_bytes"`
	Changed     []Change `json:"changed"`
}

// Change is a site by which the live bytes changed.
type Change struct {
	Frame
	Bytes int64 `json:"bytes"`
}

// Phase is a stretch of a program's run.
type Phase struct {
	Name        string  `json:"name"`
	FromS       float64 `json:"from_s"`
	ToS         float64 `json:"to_s"`
	Allocations uint64  `json:"allocations"`
	Releases    uint64  `json:"releases"`
	LiveBlocks  int64   `json:"live_blocks"`
}

// NullCaller is a place that calls free with NULL.
type NullCaller struct {
	Frame
	Calls uint64 `json:"calls"`
}

// Region is what was allocated within a named region of the program.
type Region struct {
	Name            string       `json:"name"`
	Entries         uint64       `json:"entries"`
	Inside          uint64       `json:"inside"`
	Allocations     uint64       `json:"allocations"`
	Bytes           uint64       `json:"bytes"`
	Frees           uint64       `json:"frees"`
	LiveBytes       uint64       `json:"live_bytes"`
	LiveChangeBytes int64        `json:"live_change_bytes"`
	Sites           []RegionSite `json:"sites"`
}

// RegionSite is a site within a region.
type RegionSite struct {
	Function    string `json:"function"`
	Allocations uint64 `json:"allocations"`
	Bytes       uint64 `json:"bytes"`
}

// Unit is work that was counted.
type Unit struct {
	Name               string   `json:"name"`
	Function           bool     `json:"function"`
	Count              uint64   `json:"count"`
	AllocationsPerUnit *float64 `json:"allocations_per_unit"`
	BytesPerUnit       *float64 `json:"bytes_per_unit"`
}

// Recorded is one of the recordings of a report.
type Recorded struct {
	UserSeconds   *float64 `json:"user_seconds"`
	SystemSeconds *float64 `json:"system_seconds"`
}

// Report is what `mallow report --json` prints.
type Report struct {
	Schema     string       `json:"schema"`
	Recordings []Recorded   `json:"recordings"`
	Totals     Totals       `json:"totals"`
	Origins    Origins      `json:"origins"`
	Processes  []Process    `json:"processes"`
	Sites      []Site       `json:"sites"`
	Regions    []Region     `json:"regions"`
	Units      []Unit       `json:"units"`
	CPU        *CPU         `json:"cpu"`
	Unrecorded []Unrecorded `json:"unrecorded"`
	Quality    struct {
		TruncatedStacks      uint64   `json:"truncated_stacks"`
		TruncatedAllocations uint64   `json:"truncated_allocations"`
		Incomplete           bool     `json:"incomplete"`
		PeakErrorBytes       uint64   `json:"peak_error_bytes"`
		Warnings             []string `json:"warnings"`
	} `json:"quality"`
	FreeNullCallers []NullCaller `json:"free_null_callers"`
	Timeline        []Moment     `json:"timeline"`
	Phases          []Phase      `json:"phases"`
	Advice          []Advice     `json:"advice"`
	AdviceStop      *string      `json:"advice_stop"`
}

// Advice is one thing to change.
type Advice struct {
	Rule   string  `json:"rule"`
	Title  string  `json:"title"`
	Remedy string  `json:"remedy"`
	Sites  []Frame `json:"sites"`
	Saves  struct {
		Allocations   uint64   `json:"allocations"`
		Bytes         uint64   `json:"bytes"`
		Share         float64  `json:"share"`
		CPUShare      *float64 `json:"cpu_share"`
		CPUShareBasis *string  `json:"cpu_share_basis"`
	} `json:"saves"`
	Evidence string `json:"evidence"`
}

// CPU is where the CPU time went.
type CPU struct {
	IntervalS      float64 `json:"interval_s"`
	Samples        uint64  `json:"samples"`
	Lost           uint64  `json:"lost"`
	TotalS         float64 `json:"total_s"`
	ProcessS       float64 `json:"process_s"`
	MallocShare    float64 `json:"malloc_share"`
	RecorderS      float64 `json:"recorder_s"`
	TruncatedShare float64 `json:"truncated_share"`
	Unsampled      uint64  `json:"unsampled_threads"`
	SignalTaken    uint64  `json:"signal_taken"`
	Functions      []struct {
		Function string  `json:"function"`
		FlatS    float64 `json:"flat_s"`
		CumS     float64 `json:"cum_s"`
	} `json:"functions"`
	Callers []struct {
		Function string  `json:"function"`
		CPUS     float64 `json:"cpu_s"`
	} `json:"malloc_callers"`
}

// In returns the time of a function with all that it called.
func (c *CPU) In(function string) float64 {
	var sum float64
	for _, f := range c.Functions {
		if PlainName(f.Function) == function {
			sum += f.CumS
		}
	}
	return sum
}

// ReadReport runs `mallow report --json` on a recording.
func ReadReport(t testing.TB, recording string, flags ...string) Report {
	t.Helper()
	result := Run(t, Command{Arguments: append([]string{CLI(t), "report", "--json", recording}, flags...)})
	if result.Status != 0 {
		t.Fatalf("mallow report --json %s: %s\n%s", recording, result.Ending(), result.Errors)
	}
	var report Report
	if err := json.Unmarshal([]byte(result.Output), &report); err != nil {
		t.Fatalf("mallow report --json %s: %v\n%.500s", recording, err, result.Output)
	}
	if report.Schema != "mallow.report/1" {
		t.Fatalf("schema %q", report.Schema)
	}
	return report
}

// FreesBesideLibc is the number of frees by the program and its libraries.
func (r Report) FreesBesideLibc() uint64 { return r.Totals.Frees - r.Origins.Libc.Frees }

// Counted are the recorded process images as the counting preload would list them.
func (r Report) Counted() []CountedProcess {
	var processes []CountedProcess
	for _, process := range r.Processes {
		processes = append(processes, CountedProcess{process.Executable, process.Totals.Counts()})
	}
	SortProcesses(processes)
	return processes
}

// Region returns the region of a name; one without figures if there is none.
func (r Report) Region(name string) Region {
	for _, region := range r.Regions {
		if region.Name == name {
			return region
		}
	}
	return Region{}
}

// Unit returns the unit of a name, of the program or of a function; one without figures if there is none.
func (r Report) Unit(name string) Unit {
	for _, unit := range r.Units {
		if unit.Name == name {
			return unit
		}
	}
	return Unit{}
}

// SiteAt returns the site at a line of a source file, by the file's base name; nil if there is none.
func (r Report) SiteAt(file string, line int) *Site {
	for i := range r.Sites {
		if r.Sites[i].Line == line && filepath.Base(r.Sites[i].File) == file {
			return &r.Sites[i]
		}
	}
	return nil
}

// SiteIn returns the sum of the sites of a function, whatever their lines.
func (r Report) SiteIn(function string) Site {
	sum := Site{Function: function}
	for _, site := range r.Sites {
		if PlainName(site.Function) == function {
			sum.Allocations += site.Allocations
			sum.Bytes += site.Bytes
			sum.LiveBlocks += site.LiveBlocks
			sum.LiveBytes += site.LiveBytes
			sum.Temporary += site.Temporary
			sum.ShortLived += site.ShortLived
			sum.Stacks = append(sum.Stacks, site.Stacks...)
		}
	}
	return sum
}

// PlainName is a function's name without its parameters.
func PlainName(function string) string {
	name, _, _ := strings.Cut(function, "(")
	return name
}

// Warned tells whether a warning contains the words.
func (r Report) Warned(words string) bool {
	for _, warning := range r.Quality.Warnings {
		if strings.Contains(strings.ToLower(warning), strings.ToLower(words)) {
			return true
		}
	}
	return false
}
