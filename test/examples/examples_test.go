// Package examples demands of the advice that it finds what is planted in the examples, promises what their cures
// bring, and says nothing wrong of what is fine.
package examples

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

const (
	// first are the entries among which a planted line has to be.
	first = 3
	// off is how far a promise may be from what the cure brings, as a share of it.
	off = 0.2
)

func TestPlantedLines(t *testing.T) {
	for _, e := range examples {
		t.Run(e.source, func(t *testing.T) {
			t.Parallel()
			wasteful, cured := record(t, e, "wasteful"), record(t, e, "cured")
			if wasteful.output != cured.output {
				t.Errorf("the cure changed what the program prints:\n%s\n%s", wasteful.output, cured.output)
			}
			var promised uint64
			for i, found := range findPlanted(t, e, wasteful.report) {
				if found {
					promised += wasteful.report.Advice[i].Saves.Allocations
				}
			}
			saved := wasteful.allocations() - cured.allocations()
			if math.Abs(float64(promised)-float64(saved)) > off*float64(saved) {
				t.Errorf("%d allocations promised, %d saved: from %d to %d", promised, saved, wasteful.allocations(), cured.allocations())
			}
			if t.Failed() {
				t.Logf("the advice:\n%s", list(wasteful.report.Advice))
			}
		})
	}
}

// findPlanted tells which of the first entries are about planted lines.
func findPlanted(t *testing.T, e example, report harness.Report) (found [first]bool) {
	t.Helper()
	marks := plantedIn(t, e.path("wasteful"))
	if len(marks) == 0 {
		t.Errorf("nothing is planted in %s", e.source)
	}
	for _, p := range marks {
		at := -1
		for i, a := range report.Advice {
			if i < first && a.Rule == p.rule && names(a, e.source, p.line) {
				at = i
			}
		}
		if at < 0 {
			t.Errorf("%s:%d: not among the first %d entries as %s", e.source, p.line, first, p.rule)
			continue
		}
		found[at] = true
	}
	return found
}

func names(a harness.Advice, source string, line int) bool {
	for _, site := range a.Sites {
		if filepath.Base(site.File) == source && site.Line == line {
			return true
		}
	}
	return false
}

func list(all []harness.Advice) string {
	var text strings.Builder
	for i, a := range all {
		fmt.Fprintf(&text, "%d. %s, saves %d:", i+1, a.Rule, a.Saves.Allocations)
		for _, site := range a.Sites {
			fmt.Fprintf(&text, " %s", place(site))
		}
		fmt.Fprintf(&text, "\n   %s\n   %s\n   %s\n", a.Title, a.Remedy, a.Evidence)
	}
	return text.String()
}

// place names a line as the table of judgements does: file:line, else the function.
func place(f harness.Frame) string {
	if f.File != "" && f.Line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	}
	return f.Function
}
