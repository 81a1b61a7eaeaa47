package gocode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gocode"
	"mallow/internal/stat"
	"mallow/internal/term"
)

// WriteFixed prints the ladder of a package: step, allocations and time of an
// operation, what was tried in vain, and what remains.
func WriteFixed(w io.Writer, f *gocode.Fixed, o Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s  %s\n", term.Safe(f.Package), term.Safe(operation(f)))
	if len(f.Others) > 0 {
		fmt.Fprintf(out, "the first that allocates; --bench takes another: %s\n", term.Safe(strings.Join(f.Others, ", ")))
	}
	per := "op"
	if f.Measure != gocode.MeasureBenchmark {
		per = "run"
	}
	if f.Spread > 0 {
		fmt.Fprintf(out, "It allocates differently in each run, by up to %s an operation: no step is kept that does not save twice as much.\n", perOp(f.Spread))
	}
	fmt.Fprintf(out, "%14s %10s  step\n", "allocs/"+per, "time/"+per)
	for i := range f.Ladder {
		step := &f.Ladder[i]
		what := "as it is"
		if step.Rewrite != nil {
			what = fmt.Sprintf("%s  (%s; proven by %s)%s", step.Title, step.Rule, step.Compared, paceWords(step.Pace))
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
	writeTwins(out, f.Twins, o)
	writeUnsound(out, f.Unsound, o)
	return out.Flush()
}

// paceWords says that a step makes an operation slower, or faster, beyond what
// the times of rounds differ anyway; "" where neither is shown.
func paceWords(r stat.Ratio) string {
	if r.Value == 0 || !r.Shown() {
		return ""
	}
	return fmt.Sprintf(", and it is %s: %.2f times the time (%.2f to %.2f)", r.Verdict(), r.Value, r.Low, r.High)
}

// writeTwins prints functions with another signature, which nobody has put
// anywhere.
func writeTwins(out *bufio.Writer, all []gocode.Twin, o Options) {
	for i := range all {
		t := &all[i]
		if i == 0 {
			fmt.Fprintln(out, "with another signature, which is for you to choose:")
		}
		fmt.Fprintf(out, "%14s %10s  a call of %s, in %s\n", perOp(t.AllocsPerCall), duration(t.NsPerCall), term.Safe(t.Function), term.Safe(shortFile(t.File, o.Folder)))
		fmt.Fprintf(out, "%14s %10s  a call of its twin, with room enough:\n", perOp(t.TwinAllocsPerCall), duration(t.TwinNsPerCall))
		for line := range strings.Lines(t.Source) {
			fmt.Fprintf(out, "%27s%s\n", "", term.Safe(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
		}
	}
}

// operation names what was measured.
func operation(f *gocode.Fixed) string {
	switch f.Measure {
	case gocode.MeasureTests:
		return "a run of its tests"
	case gocode.MeasureProgram:
		return "a run of the program"
	}
	return "Benchmark" + f.Benchmark
}

// WritePatches prints one patch for each step, with its effect.
func WritePatches(w io.Writer, f *gocode.Fixed) error {
	out := bufio.NewWriter(w)
	for i, message := range StepMessages(f) {
		fmt.Fprintf(out, "%s\n\n%s\n\n%s\n", message.Subject, message.Body, f.Ladder[i+1].Patch)
	}
	return out.Flush()
}

// StepMessages describe the steps of the ladder, from the second on, as commits
// do: what each does, and its measured effect.
func StepMessages(f *gocode.Fixed) []gocode.Message {
	var all []gocode.Message
	for i := 1; i < len(f.Ladder); i++ {
		step, before := &f.Ladder[i], &f.Ladder[i-1]
		per := "op"
		if f.Measure != gocode.MeasureBenchmark {
			per = "run"
		}
		all = append(all, gocode.Message{
			Subject: fmt.Sprintf("%s: %s in %s", step.Package, oneLine(step.Title), step.Function),
			Body: fmt.Sprintf("Of %s: %s -> %s allocations/%s, %s -> %s, %s -> %s.\nProven by %s.", oneLine(operation(f)), perOp(before.AllocsPerOp), perOp(step.AllocsPerOp), per,
				figure.Size(uint64(max(0, before.BytesPerOp+0.5))), figure.Size(uint64(max(0, step.BytesPerOp+0.5))),
				duration(before.NsPerOp), duration(step.NsPerOp), oneLine(step.Compared)+paceWords(step.Pace)),
		})
	}
	return all
}

// oneLine is a text without line feeds, which would end a subject.
func oneLine(s string) string { return strings.Join(strings.Fields(term.Safe(s)), " ") }

type rung struct {
	Step        string  `json:"step"`
	Rule        *string `json:"rule"`
	File        *string `json:"file"`
	Function    *string `json:"function"`
	AllocsPerOp float64 `json:"allocs_per_op"`
	BytesPerOp  float64 `json:"bytes_per_op"`
	NsPerOp     float64 `json:"ns_per_op"`
	// Spread is by how much counts of the package as it was differ; null of steps.
	Spread *float64 `json:"spread"`
	// TimeRatio is how many times as long an operation takes as in the step
	// before; null where that was not compared.
	TimeRatio *timeRatio `json:"time_ratio"`
	ProvenBy  *string    `json:"proven_by"`
	Patch     *string    `json:"patch"`
}

type timeRatio struct {
	Value   float64      `json:"value"`
	Low     float64      `json:"low"`
	High    float64      `json:"high"`
	Verdict stat.Verdict `json:"verdict"`
}

type twin struct {
	File              string  `json:"file"`
	Function          string  `json:"function"`
	Source            string  `json:"source"`
	AllocsPerCall     float64 `json:"allocs_per_call"`
	TwinAllocsPerCall float64 `json:"twin_allocs_per_call"`
	NsPerCall         float64 `json:"ns_per_call"`
	TwinNsPerCall     float64 `json:"twin_ns_per_call"`
}

type rejected struct {
	Step   string `json:"step"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// WriteFixedJSON prints the ladder as one line of JSON.
func WriteFixedJSON(w io.Writer, version string, f *gocode.Fixed) error {
	return term.WriteJSON(w, fixedKeys(version, f), "")
}

func fixedKeys(version string, f *gocode.Fixed) *report {
	r := newReport(version)
	for i := range f.Ladder {
		step := &f.Ladder[i]
		keys := rung{Step: "as it is", AllocsPerOp: step.AllocsPerOp, BytesPerOp: step.BytesPerOp, NsPerOp: step.NsPerOp, Spread: &f.Spread}
		if step.Rewrite != nil {
			keys = rung{
				Step: step.Title, Rule: known(step.Rule), File: known(step.File), Function: known(step.Function),
				AllocsPerOp: step.AllocsPerOp, BytesPerOp: step.BytesPerOp, NsPerOp: step.NsPerOp, ProvenBy: known(step.Compared), Patch: known(step.Patch),
			}
			if p := step.Pace; p.Value > 0 && !math.IsInf(p.High, 0) {
				keys.TimeRatio = &timeRatio{p.Value, p.Low, p.High, p.Verdict()}
			}
		}
		r.Ladder = append(r.Ladder, keys)
	}
	for _, no := range f.Rejected {
		r.Rejected = append(r.Rejected, rejected{no.Title, no.Rule, no.Reason})
	}
	for _, t := range f.Twins {
		r.Twins = append(r.Twins, twin(t))
	}
	r.addUnsound(f.Unsound)
	for _, l := range f.Left {
		keys := lineKeys(l)
		keys.Benchmark, keys.AllocsPerOp = &f.Benchmark, &l.Allocs
		r.Lines = append(r.Lines, keys)
	}
	return r
}
