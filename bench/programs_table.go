package main

import (
	"fmt"
	"strings"

	"mallow/internal/doctor"
	"mallow/internal/launch"
)

// surveyed is what came of one program.
type surveyed struct {
	program
	version         string
	skipped         string // why it was not run
	diagnosis       *doctor.Diagnosis
	plain, recorded ended
	figures         figures
	unreadable      error
	steady          bool // unrecorded it prints the same every time
	errorsSteady    bool // so is what it prints to stderr
	libraryDiffers  bool // it printed other things on libmallow, unrecorded
	cpu             [3][]float64
}

// The runs that are timed, by index of surveyed.cpu.
const (
	cpuGlibc = iota
	cpuLibrary
	cpuRecorded
)

// refused: mallow did not start it, and said why.
func (r surveyed) refused() bool {
	return r.recorded.status == launch.StatusCannotRecord && r.plain.status != launch.StatusCannotRecord
}

// saidBefore: what the program itself wrote to stderr stands before mallow's own words.
func (r surveyed) saidBefore() bool {
	return r.drive != "" || strings.HasPrefix(r.recorded.errors, r.plain.errors)
}

// verdict is one word and its reason.
func (r surveyed) verdict() string {
	doctorRefuses := r.diagnosis != nil && r.diagnosis.Refusal != nil
	switch {
	case r.skipped != "":
		return "left out: " + r.skipped
	case r.plain.late:
		return "left out: it does not end here, unrecorded"
	case r.refused() && doctorRefuses:
		return "refused: it " + r.diagnosis.Refusal.Reason
	case r.refused():
		return "FAILS: record refuses it and doctor does not: " + opening(r.recorded.errors)
	case doctorRefuses:
		return "FAILS: doctor refuses it and record does not"
	case r.recorded.late:
		return "FAILS: no end while it is recorded"
	case r.recorded.status != r.plain.status:
		return fmt.Sprintf("FAILS: status %d instead of %d: %s", r.recorded.status, r.plain.status, opening(r.recorded.errors))
	case r.unreadable != nil:
		return "FAILS: " + r.unreadable.Error()
	case r.figures.processes == 0:
		return "FAILS: nothing was recorded"
	case r.recorded.output == r.plain.output:
		return "same"
	case r.steady:
		return "DIFFERS"
	}
	return "varies: its output is another at every run, unrecorded too"
}

// opening is the first line of a text.
func opening(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// fails says whether somebody must look at it.
func (r surveyed) fails() bool {
	verdict := r.verdict()
	return strings.HasPrefix(verdict, "FAILS") || strings.HasPrefix(verdict, "DIFFERS")
}

// remarks says what else a reader must know.
func (r surveyed) remarks() string {
	var all []string
	if word, reason, found := strings.Cut(r.verdict(), ": "); found && word != "same" {
		all = append(all, reason)
	}
	if r.note != "" {
		all = append(all, strings.ReplaceAll(r.note, "\n", " "))
	}
	if r.diagnosis != nil && len(r.diagnosis.Program.OwnHeaps) > 0 {
		all = append(all, "its own "+strings.Join(r.diagnosis.Program.HeapNames(), ", ")+" is not seen")
	}
	if r.figures.truncated > 0 && r.diagnosis != nil && !r.diagnosis.Program.UnwindTables {
		all = append(all, "stacks end at its own functions, which have no unwind tables")
	}
	if !r.saidBefore() && !r.refused() && r.errorsSteady {
		all = append(all, "what it writes to stderr differs")
	}
	if len(r.figures.unrecorded) > 0 {
		all = append(all, "not recorded of its children: "+strings.Join(r.figures.unrecorded, ", "))
	}
	if r.figures.incomplete {
		all = append(all, "the recording says that it is incomplete")
	}
	return strings.Join(all, "; ")
}

// doctorSays is the doctor's verdict in a word.
func (r surveyed) doctorSays() string {
	switch {
	case r.diagnosis == nil:
		return ""
	case r.diagnosis.Refusal != nil:
		return "no"
	}
	return "yes"
}

// programsPage is the whole page.
func programsPage(head string, rows []surveyed) string {
	var measured, left strings.Builder
	count := 0
	for _, r := range rows {
		word, reason, _ := strings.Cut(r.verdict(), ": ")
		if word == "left out" {
			fmt.Fprintf(&left, "- %s: %s\n", r.name, cell(reason))
			continue
		}
		count++
		fmt.Fprintf(&measured, "| %s | %s | %s | %s | %s | %s | %s |\n", r.name, cell(r.debianPackage+" "+r.version), r.kind,
			r.doctorSays(), word, r.figuresCells(), cell(r.remarks()))
	}
	text := fmt.Sprintf(programsIntroduction, count) + "\n" + head + "\n" +
		"| program | package | kind | doctor | recorded | CPU, s | on libmallow | overhead | / as it is | processes | allocations | stacks | truncated | remarks |\n" +
		"|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n" + measured.String()
	if left.Len() > 0 {
		text += "\n## Left out of this run\n\n" + left.String()
	}
	return text
}

const programsIntroduction = `# Programs of Debian under the recorder

%d programs of the packages named, each run unrecorded and by ` + "`mallow record`" + `. What each does stands in [programs.txt](../bench/programs.txt).

- doctor: whether ` + "`mallow doctor`" + ` says that it can be recorded.
- recorded: *same*, if output and exit status are those of an unrecorded run; for servers the output is that of their client. *varies* where two unrecorded
  runs differ too. *refused* where mallow does not start it, for the reason that doctor gives too.
- CPU, s: user and system time of the program as it is, on glibc's malloc if the remarks name no other, with the children that it waited for.
- on libmallow: that time on libmallow, unrecorded, as a ratio to the program as it is. overhead: the ratio of recorded to unrecorded, both on libmallow.
  / as it is: recorded, to the program as it is. No ratio is given below 20 ms.
- stacks, truncated: different stacks, summed over the processes; of them those that could not be followed to their start, with their share of the allocations.
  A report counts them too.

Times are medians of interleaved runs. They are **indicative**: the machine was shared, and most runs are short, so that starting is a good part of them. What
recording costs is measured in [bench](../bench/README.md).
`

// figuresCells are the columns with numbers.
func (r surveyed) figuresCells() string {
	if r.refused() || len(r.cpu[cpuRecorded]) == 0 {
		return "- | - | - | - | - | - | - | -"
	}
	glibc, library, recorded := median(r.cpu[cpuGlibc]), median(r.cpu[cpuLibrary]), median(r.cpu[cpuRecorded])
	truncated := thousands(r.figures.truncated)
	if r.figures.truncated > 0 {
		truncated += fmt.Sprintf(" (%.2g %%)", 100*float64(r.figures.truncatedCalls)/float64(max(1, r.figures.calls)))
	}
	return fmt.Sprintf("%.2f | %s | %s | %s | %d | %s | %s | %s", glibc, ratioCell(library, glibc), ratioCell(recorded, library),
		ratioCell(recorded, glibc), r.figures.processes, thousands(r.figures.calls), thousands(r.figures.stacks), truncated)
}

// leastTime is the CPU time in seconds below which a ratio says nothing: the kernel counts in steps.
const leastTime = 0.02

func ratioCell(value, base float64) string {
	if base < leastTime {
		return "-"
	}
	return fmt.Sprintf("%.2f", value/base)
}

func thousands(n uint64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// cell makes text safe within a table.
func cell(text string) string {
	return strings.TrimSpace(strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text))
}

// differences says what is not as it should be, with what shows it.
func differences(rows []surveyed) string {
	var text strings.Builder
	for _, r := range rows {
		switch {
		case !r.fails():
		case r.steady && r.recorded.output != r.plain.output:
			fmt.Fprintf(&text, "%s: %s\n--- unrecorded\n%.600s\n--- recorded\n%.600s\n", r.name, r.verdict(), r.plain.output, r.recorded.output)
		default:
			fmt.Fprintf(&text, "%s: %s\n%.600s\n", r.name, r.verdict(), r.recorded.errors)
		}
		if r.libraryDiffers && r.steady {
			fmt.Fprintf(&text, "%s: differs on libmallow, unrecorded\n", r.name)
		}
	}
	return text.String()
}
