package gocode

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gocode"
	"mallow/internal/term"
)

// WriteFixed prints the ladder of a package: step, allocations and time of an
// operation, what was tried in vain, and what remains.
func WriteFixed(w io.Writer, f *gocode.Fixed, o Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s  Benchmark%s\n", term.Safe(f.Package), term.Safe(f.Benchmark))
	fmt.Fprintf(out, "%14s %10s  step\n", "allocs/op", "time/op")
	for i := range f.Ladder {
		step := &f.Ladder[i]
		what := "as it is"
		if step.Rewrite != nil {
			what = fmt.Sprintf("%s  (%s; proven by %s)", step.Title, step.Rule, step.Compared)
		}
		fmt.Fprintf(out, "%14s %10s  %s\n", perOp(step.AllocsPerOp), duration(step.NsPerOp), term.Safe(what))
	}
	for _, r := range f.Rejected {
		fmt.Fprintf(out, "not kept: %s: %s\n", term.Safe(r.Title), term.Safe(r.Reason))
	}
	remaining := 0
	for _, l := range f.Left {
		if l.Allocs < 0.5 {
			continue
		}
		if remaining++; remaining == 1 {
			fmt.Fprintln(out, "what remains:")
		}
		fmt.Fprintf(out, "%14s %10s  %s\n", perOp(l.Allocs), figure.Size(uint64(max(0, l.Bytes+0.5))), lineName(l, o))
		writeReason(out, l, strings.Repeat(" ", 27), o)
	}
	writeUnsound(out, f.Unsound, o)
	return out.Flush()
}

// WritePatches prints one patch for each step, with its effect.
func WritePatches(w io.Writer, f *gocode.Fixed) error {
	out := bufio.NewWriter(w)
	for i := 1; i < len(f.Ladder); i++ {
		step, before := &f.Ladder[i], &f.Ladder[i-1]
		fmt.Fprintf(out, "%s: %s\n\nBenchmark%s: %s -> %s allocations/op, %s -> %s. Proven by %s.\n\n%s\n",
			step.Function, step.Title, f.Benchmark, perOp(before.AllocsPerOp), perOp(step.AllocsPerOp),
			duration(before.NsPerOp), duration(step.NsPerOp), step.Compared, step.Patch)
	}
	return out.Flush()
}

type rung struct {
	Step        string  `json:"step"`
	Rule        *string `json:"rule"`
	File        *string `json:"file"`
	Function    *string `json:"function"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	NsPerOp     float64 `json:"ns_per_op"`
	ProvenBy    *string `json:"proven_by"`
	Patch       *string `json:"patch"`
}

type rejected struct {
	Step   string `json:"step"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// WriteFixedJSON prints the ladder as one line of JSON.
func WriteFixedJSON(w io.Writer, version string, f *gocode.Fixed) error {
	return encode(w, fixedKeys(version, f))
}

func fixedKeys(version string, f *gocode.Fixed) *report {
	r := newReport(version)
	for i := range f.Ladder {
		step := &f.Ladder[i]
		keys := rung{Step: "as it is", AllocsPerOp: step.AllocsPerOp, NsPerOp: step.NsPerOp}
		if step.Rewrite != nil {
			keys = rung{
				Step: step.Title, Rule: known(step.Rule), File: known(step.File), Function: known(step.Function),
				AllocsPerOp: step.AllocsPerOp, NsPerOp: step.NsPerOp, ProvenBy: known(step.Compared), Patch: known(step.Patch),
			}
		}
		r.Ladder = append(r.Ladder, keys)
	}
	for _, no := range f.Rejected {
		r.Rejected = append(r.Rejected, rejected{no.Title, no.Rule, no.Reason})
	}
	r.addUnsound(f.Unsound)
	for _, l := range f.Left {
		keys := lineKeys(l)
		keys.Benchmark, keys.AllocsPerOp = &f.Benchmark, &l.Allocs
		r.Lines = append(r.Lines, keys)
	}
	return r
}
