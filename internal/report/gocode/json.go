package gocode

import (
	"io"

	"mallow/internal/gocode"
	"mallow/internal/term"
)

// Schema names the keys and their meaning. Keys are only ever added.
const Schema = "mallow.go/1"

type report struct {
	Schema     string      `json:"schema"`
	Version    string      `json:"go_version"`
	Benchmarks []benchmark `json:"benchmarks"`
	Processes  []process   `json:"processes"`
	// Lines are those of all benchmarks, or of all processes: benchmark, or
	// process, tells which.
	Lines  []line `json:"lines"`
	Ladder []rung `json:"ladder"`
	// Unsound lines hand out memory that others write to, or only look as if
	// they saved allocations.
	Unsound []unsound `json:"unsound"`
	// Rejected rewrites were tried and not kept.
	Rejected []rejected `json:"rejected"`
	// Twins are functions with another signature that allocate less.
	Twins []twin `json:"twins"`
}

type benchmark struct {
	Package     string   `json:"package"`
	Name        string   `json:"name"`
	AllocsPerOp *float64 `json:"allocs_per_op"` // null, as all that was counted, where uncounted is not
	BytesPerOp  *float64 `json:"bytes_per_op"`
	NsPerOp     float64  `json:"ns_per_op"`
	// RuntimeAllocsPerOp are in none of the others: the runtime and package
	// testing made them on their own account.
	RuntimeAllocsPerOp *float64 `json:"runtime_allocs_per_op"`
	// UntimedAllocsPerOp are in none of the others either: the benchmark's timer
	// stood still.
	UntimedAllocsPerOp *float64 `json:"untimed_allocs_per_op"`
	GCPerOp            *float64 `json:"gc_per_op"`
	// Uncounted says why nothing was counted.
	Uncounted *string `json:"uncounted"`
	// Operations is what the figures were divided by, Checked whether every
	// allocation that runtime.MemStats counts is in them.
	Operations     uint64   `json:"operations"`
	Checked        bool     `json:"checked"`
	MallocShare    *float64 `json:"cpu_share_malloc"` // as in CPU
	CollectorShare *float64 `json:"cpu_share_collector"`
	// CPU is of a run that counts nothing; null where it was too short, and where
	// no_cpu says why nobody looked.
	CPU   *cpu    `json:"cpu"`
	NoCPU *string `json:"no_cpu"`
	// C's are beside Go's; null where there is no C.
	CAllocsPerOp *float64 `json:"c_allocs_per_op"`
	CBytesPerOp  *float64 `json:"c_bytes_per_op"`
}

type process struct {
	PID         uint64  `json:"pid"`
	Name        string  `json:"name"`
	Allocations uint64  `json:"allocations"`
	Bytes       uint64  `json:"bytes"`
	Collections *uint64 `json:"collections"` // null where the end came suddenly
	Before      uint64  `json:"before"`      // allocations of the runtime before counting
	Lost        uint64  `json:"lost"`
	Checked     bool    `json:"checked"`
	C           *cSide  `json:"c"` // null where the program has no C code
	// CPU is of the same process, without what counting took.
	CPU *cpu `json:"cpu"`
}

type line struct {
	Benchmark *string `json:"benchmark"`
	PID       *uint64 `json:"pid"`
	File      *string `json:"file"`
	Line      *int    `json:"line"`
	Function  *string `json:"function"`
	Callee    *string `json:"callee"`
	Type      *string `json:"type"`
	// AllocsPerOp is null in a run of a program, which has no operations.
	AllocsPerOp *float64 `json:"allocs_per_op"`
	Objects     float64  `json:"objects"` // of one operation, or of the run
	Bytes       float64  `json:"bytes"`
	Memory      string   `json:"memory"` // go, or c: malloc's
	Live        *float64 `json:"live"`   // blocks never freed; null of Go, and where other lines have them, too
	// CPUShare is that of the CPU time that what the line calls takes.
	CPUShare *float64 `json:"cpu_share"`
	Why      *string  `json:"why"`
	Remedy   *string  `json:"remedy"`
	Rule     *string  `json:"rule"`
	Fix      string   `json:"fix"`
	Flow     []string `json:"flow"` // the compiler's own words for why a value goes to the heap
	Stacks   []stack  `json:"stacks"`
}

type unsound struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Wasteful lines are not wrong.
	Wasteful bool `json:"wasteful"`
}

func (r *report) addUnsound(all []gocode.Unsound) {
	for _, u := range all {
		r.Unsound = append(r.Unsound, unsound{u.File, u.Line, u.Rule, u.Message, u.Wasteful})
	}
}

// cSide are the allocations of C.
type cSide struct {
	Allocations uint64 `json:"allocations"`
	Bytes       uint64 `json:"bytes"`
	Live        uint64 `json:"live_blocks"`
	Runtime     uint64 `json:"runtime_allocations"` // of C's start and of threads
}

type stack struct {
	// Shared stacks of C have several callers in Go, each a part by its calls.
	Shared  bool    `json:"shared"`
	Objects float64 `json:"objects"`
	Bytes   float64 `json:"bytes"`
	Size    uint64  `json:"size"`
	Type    *string `json:"type"`
	Frames  []frame `json:"frames"`
}

type frame struct {
	Function *string `json:"function"`
	File     *string `json:"file"`
	Line     *int    `json:"line"`
}

// stacksShown of each line are written.
const stacksShown = 10

// WriteBenchmarksJSON prints benchmarks as one line of JSON.
func WriteBenchmarksJSON(w io.Writer, version string, all []*gocode.Benchmark, unsound []gocode.Unsound) error {
	return term.WriteJSON(w, benchmarksKeys(version, all, unsound), "")
}

func benchmarksKeys(version string, all []*gocode.Benchmark, unsound []gocode.Unsound) *report {
	r := newReport(version)
	r.addUnsound(unsound)
	for _, b := range all {
		keys := benchmark{
			Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp, Operations: b.Operations, Checked: b.Checked,
			Uncounted: known(b.Uncounted), NoCPU: known(b.NoCPU),
		}
		if b.Uncounted == "" {
			keys.AllocsPerOp, keys.BytesPerOp, keys.GCPerOp = &b.AllocsPerOp, &b.BytesPerOp, &b.GCPerOp
			keys.RuntimeAllocsPerOp, keys.UntimedAllocsPerOp = &b.RuntimePerOp, &b.UntimedPerOp
		}
		if b.C != nil {
			keys.CAllocsPerOp, keys.CBytesPerOp = &b.C.Allocs, &b.C.Bytes
		}
		if b.CPU != nil {
			keys.MallocShare, keys.CollectorShare = &b.CPU.Malloc, &b.CPU.Collector
			keys.CPU = cpuKeys(b.CPU)
		}
		r.Benchmarks = append(r.Benchmarks, keys)
		for _, l := range b.Lines {
			of := lineKeys(l)
			of.Benchmark, of.AllocsPerOp = &b.Name, &l.Allocs
			of.CPUShare = cpuShare(b.CPU, l)
			r.Lines = append(r.Lines, of)
		}
	}
	return r
}

// WriteRunJSON prints a run as one line of JSON.
func WriteRunJSON(w io.Writer, version string, run *gocode.Run) error {
	return term.WriteJSON(w, runKeys(version, run), "")
}

func runKeys(version string, run *gocode.Run) *report {
	r := newReport(version)
	r.addUnsound(run.Unsound)
	for i := range run.Processes {
		p := &run.Processes[i]
		keys := process{PID: p.PID, Name: p.Name, Allocations: p.Allocs, Bytes: p.Bytes, Before: p.Before, Lost: p.Lost, Checked: p.Agrees(), CPU: cpuKeys(p.CPU)}
		if c := p.C; c != nil {
			keys.C = &cSide{c.Allocs, c.Bytes, c.Live, c.RuntimeAllocs}
		}
		if p.Checked {
			keys.Collections = &p.Collections
		}
		r.Processes = append(r.Processes, keys)
		for _, l := range p.Lines {
			of := lineKeys(l)
			of.PID, of.CPUShare = &p.PID, cpuShare(p.CPU, l)
			r.Lines = append(r.Lines, of)
		}
	}
	return r
}

func newReport(version string) *report {
	return &report{
		Schema: Schema, Version: version,
		Benchmarks: []benchmark{}, Processes: []process{}, Lines: []line{}, Ladder: []rung{}, Rejected: []rejected{}, Twins: []twin{}, Unsound: []unsound{},
	}
}

func lineKeys(l *gocode.Line) line {
	at := frameKeys(&l.Frame)
	keys := line{
		File: at.File, Line: at.Line, Function: at.Function, Callee: known(l.Callee), Type: known(l.Type),
		Objects: l.Allocs, Bytes: l.Bytes, Memory: "go", Fix: "none",
		Why: known(l.Why), Remedy: known(l.Remedy), Rule: known(l.Rule), Flow: append([]string{}, l.Flow...), Stacks: []stack{},
	}
	if l.C {
		keys.Memory, keys.Live = "c", &l.Live
		if l.LiveShared > 0 {
			keys.Live = nil
		}
	}
	if l.Fix != "" {
		keys.Fix = "available"
	} else if l.Remedy != "" {
		keys.Fix = "advice"
	}
	for _, s := range l.Stacks[:min(stacksShown, len(l.Stacks))] {
		of := stack{Shared: s.Shared, Objects: s.Allocs, Bytes: s.Bytes, Size: s.Size, Type: known(s.Type), Frames: []frame{}}
		for i := range s.Frames {
			of.Frames = append(of.Frames, frameKeys(&s.Frames[i]))
		}
		keys.Stacks = append(keys.Stacks, of)
	}
	return keys
}

func frameKeys(f *gocode.Frame) frame {
	keys := frame{Function: known(f.Function), File: known(f.File)}
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
