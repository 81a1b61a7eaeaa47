package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func shellRow(name, group, script string) mallocRow {
	return mallocRow{name: name, group: group, command: []string{"/bin/sh", "-c", script}}
}

func TestRoundsRunEveryRowOnEveryAllocator(t *testing.T) {
	l := newLauncher(t, patience)
	rows := []mallocRow{shellRow("a", "single", "echo metric ops 5"), shellRow("b", "curve", "echo point touched 8 2.5")}
	rows[0].settings = []string{"WORD=x"}
	var progress strings.Builder
	series, err := runRounds(l, rows, []allocator{{name: system}, {name: ours}, {name: "jemalloc"}}, 2, &progress)
	if err != nil || len(series.runs) != 12 || len(series.failures) != 0 || !strings.Contains(progress.String(), "round 2 of 2") {
		t.Fatalf("%d runs, %v, %v\n%s", len(series.runs), series, err, &progress)
	}
	figures, err := figuresOf(rows, series)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		for _, name := range []string{system, ours, "jemalloc"} {
			if len(f.values[name]) != 2 {
				t.Errorf("%s, %s: %v on %s, want two rounds", f.name(), f.of, f.values[name], name)
			}
		}
	}
}

func TestAnAllocatorThatFailsIsLeftOutOfTheRow(t *testing.T) {
	l := newLauncher(t, patience)
	row := shellRow("a", "single", `[ "$BROKEN" != yes ] || { echo out of memory >&2; exit 1; }`)
	series, err := runRounds(l, []mallocRow{row}, []allocator{{name: system}, {name: ours}, {name: "bad", settings: []string{"BROKEN=yes"}}}, 2, &strings.Builder{})
	if err != nil || len(series.runs) != 4 || !series.failed("a", "bad") || !strings.Contains(series.failures[failureKey("a", "bad")], "out of memory") {
		t.Errorf("%+v, %v", series, err)
	}
}

func TestARowThatFailsOnGlibcEndsTheRun(t *testing.T) {
	l := newLauncher(t, patience)
	if _, err := runRounds(l, []mallocRow{shellRow("broken row", "single", "exit 4")}, nil, 1, &strings.Builder{}); err == nil ||
		!strings.Contains(err.Error(), "broken row on glibc: exit status 4") {
		t.Errorf("%v", err)
	}
}

func TestDriversPreloadByThemselves(t *testing.T) {
	l := newLauncher(t, patience)
	row := shellRow("driven", "program", `[ -z "$LD_PRELOAD" ] && [ "$MALLOC_SETTINGS" = "A=1 B=2" ] && echo metric library_name_length ${#MALLOC_LIBRARY}`)
	row.driver = true
	one, err := runRow(l, row, allocator{name: "x", library: "/x.so", settings: []string{"A=1", "B=2"}})
	if err != nil || one.printed.metrics["library_name_length"] != 5 {
		t.Errorf("%+v, %v", one, err)
	}
}

// A whole comparison, with files in place of measurements.
func TestWholeComparisonIsWritten(t *testing.T) {
	var series mallocSeries
	rows := []mallocRow{{name: "loop", group: "single"}, {name: "sizes", group: "curve"}, {name: "threads", group: "ttest"}, {name: "tide", group: "memory"}}
	for round := range 5 {
		for i, name := range []string{system, ours, "jemalloc"} {
			cost := 10 + float64(i) + 0.1*float64(round)
			for _, row := range rows {
				series.runs = append(series.runs, mallocRun{round, row.name, name, usage{user: cost, wall: cost, rss: 1 << 20}, printed{
					map[string]float64{"rss_over_live": cost},
					[]point{{"4", 64, []float64{cost, cost}}, {"4", 128, []float64{cost, cost}}, {"rss", 0.1, []float64{cost}}, {"live", 0.1, []float64{1}}}}})
			}
		}
	}
	figures, err := figuresOf(rows, &series)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "results")
	table := &mallocTable{allocators: []allocator{{name: system}, {name: ours}, {name: "jemalloc"}}, figures: figures, all: compareAll(figures), series: &series}
	if err := writeComparison(folder, "HEAD\n", table, rows, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "malloc.md"))
	if err != nil || !strings.Contains(string(text), "HEAD\n## libmallow against the best") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, name := range []string{"malloc.csv", "malloc-overview.svg", "malloc-curve-sizes-4.svg", "malloc-ttest-size.svg", "malloc-ttest-threads.svg", "malloc-memory.svg"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() < 300 {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasSuffix(name, ".svg") && !strings.Contains(string(text), "]("+name+")") {
			t.Errorf("%s is not shown in the table's file", name)
		}
	}
}
