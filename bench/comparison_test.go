package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func row(name, group string, of quantity, values map[string][]float64) figure {
	return figure{row: name, group: group, of: of, values: values}
}

func TestCompareTakesTheLeastMedianOfTheOthers(t *testing.T) {
	c, found := compare(row("pairs", "single", cpuTime, map[string][]float64{
		ours:       {1.0, 1.1, 1.2},
		system:     {3, 3, 3},
		"jemalloc": {2.2, 2.1, 2.0},
		"snmalloc": {0.1, 2.2, 9}, // the least value, but not the least median
	}))
	if !found || c.best != "jemalloc" || c.ours != 1.1 || c.theirs != 2.1 || c.verdict() != "faster" {
		t.Errorf("compared %+v, verdict %s", c, c.verdict())
	}
}

func TestGlibcMayBeTheBest(t *testing.T) {
	c, _ := compare(row("pairs", "single", cpuTime, map[string][]float64{ours: {2, 2}, system: {1, 1}, "jemalloc": {3, 3}}))
	if c.best != system || c.ratio.value != 2 || c.verdict() != "**above 1.05**" {
		t.Errorf("compared %+v, verdict %s", c, c.verdict())
	}
}

func TestNothingToCompareWith(t *testing.T) {
	for _, values := range []map[string][]float64{{ours: {1}}, {system: {1}}, {}} {
		if _, found := compare(row("pairs", "single", cpuTime, values)); found {
			t.Errorf("compared %v", values)
		}
	}
}

// Two peers that take turns at being fast look better than either is when the least is picked after the fact.
func TestBlindPickDoesNotFlatterThePeers(t *testing.T) {
	values := map[string][]float64{
		ours: {10, 10, 10},
		"a":  {5, 20, 20},
		"b":  {20, 5, 20},
		"c":  {20, 20, 5},
	}
	if got := blindRatio(values); got != 0.5 {
		t.Errorf("picked blind: %v, want 0.5: who was fast once is slow in the next round", got)
	}
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		ratio ratio
		want  string
	}{
		{ratio{0.9, 0.8, 0.95}, "faster"},
		{ratio{1.0, 0.9, 1.1}, "no difference shown"},
		{ratio{1.03, 1.01, 1.04}, "slower"},
		{ratio{1.2, 1.0, 1.3}, "above 1.05, not shown"},
		{ratio{1.2, 1.06, 1.3}, "**above 1.05**"},
	} {
		if got := (comparison{ratio: test.ratio}).verdict(); got != test.want {
			t.Errorf("verdict of %v: %s, want %s", test.ratio, got, test.want)
		}
	}
}

func TestACurveCountsAsOneRow(t *testing.T) {
	half := map[string][]float64{ours: {1, 1}, system: {2, 2}}
	double := map[string][]float64{ours: {2, 2}, system: {1, 1}}
	figures := []figure{row("loop", "single", cpuTime, half)}
	for x := range 9 {
		figures = append(figures, figure{"sizes", "curve", "touched", float64(8 * (x + 1)), cpuTime, double})
	}
	m := meanOf(compareAll(figures))
	if m.rows != 2 || math.Abs(m.ratio.value-1) > 1e-9 || m.above != 9 || m.worst.row != "sizes" {
		t.Errorf("mean %+v", m)
	}
}

func TestAllRoundLeavesOutRowsThatCouldNotBeRun(t *testing.T) {
	figures := []figure{
		row("a", "single", cpuTime, map[string][]float64{ours: {1}, system: {2}, "jemalloc": {4}}),
		row("b", "single", cpuTime, map[string][]float64{ours: {1}, system: {2}}),
	}
	if got, rows := allRound(figures, "jemalloc"); math.Abs(got-2) > 1e-9 || rows != 1 {
		t.Errorf("jemalloc: %v over %d rows", got, rows)
	}
	if got, rows := allRound(figures, ours); math.Abs(got-0.5) > 1e-9 || rows != 2 {
		t.Errorf("libmallow: %v over %d rows", got, rows)
	}
}

func TestSteepestStepIsAgainstTheBestOfEachSize(t *testing.T) {
	at := func(x, mine, theirs float64) figure {
		return figure{"sizes", "curve", "untouched", x, cpuTime, map[string][]float64{ours: {mine}, system: {theirs}}}
	}
	steps := steepest(compareAll([]figure{at(64, 40, 20), at(8, 5, 5), at(16, 5, 5), at(32, 15, 5)}))
	if len(steps) != 1 || steps[0].from.x != 16 || steps[0].to.x != 32 || math.Abs(steps[0].factor-3) > 1e-9 {
		t.Errorf("steps %+v", steps)
	}
}

func TestTableSaysWhatIsLostAndWhy(t *testing.T) {
	figures := []figure{
		row("won", "single", cpuTime, map[string][]float64{ours: {1, 1}, system: {2, 2}}),
		row("lost", "multi", wallTime, map[string][]float64{ours: {3, 3}, system: {2, 2}}),
		row("lost", "multi", peakRSS, map[string][]float64{ours: {1 << 20}, system: {2 << 20}}),
	}
	table := mallocTable{allocators: []allocator{{name: system}, {name: ours}, {name: "jemalloc"}}, figures: figures,
		all: compareAll(figures), series: &mallocSeries{failures: map[string]string{failureKey("won", "jemalloc"): "no end after 1m0s\n"}},
		reasons: []lossReason{{"l?st", "It waits for a lock."}, {"*", "Not the first that matches."}}}
	text := table.write()
	for _, want := range []string{
		"| single thread | CPU | 1 | 0.50 (0.50..0.50) | 0.50 | 0.50 won | 0 of 1 |",
		"- lost, wall: 1.50 (1.50..1.50) of glibc. It waits for a lock.",
		"- won on jemalloc: no end after 1m0s\n",
		"| won | 2.000 | 1.000 | - | glibc | 0.50 (0.50..0.50) | faster |",
		"| lost | 2.0 | 1.0 | - | glibc | 0.50 (0.50..0.50) | faster |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestReasonsAreReadInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lost.txt")
	for content, want := range map[string]string{
		"# said once\n\nt-test, * up to 16K: It faults: twice.\n*: Not known.\n": "[{t-test, * up to 16K It faults: twice.} {* Not known.}] <nil>",
		"no reason\n": fmt.Sprintf("[] %s: \"no reason\" is not `ROWS: REASON`", file),
		"[: reason\n": fmt.Sprintf("[] %s: \"[: reason\" is not `ROWS: REASON`", file),
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		reasons, err := readReasons(file)
		if got := fmt.Sprintf("%v %v", reasons, err); got != want {
			t.Errorf("%q: %s\nwant %s", content, got, want)
		}
	}
	if reasons, err := readReasons(file + ".none"); reasons != nil || err != nil {
		t.Errorf("without a file: %v %v", reasons, err)
	}
}

func TestPointsOfACurveAreLostInOneEntry(t *testing.T) {
	var figures []figure
	for x, mine := range map[float64]float64{8: 5, 16: 9, 24: 12, 32: 5, 4097: 6} {
		figures = append(figures, figure{"sizes", "curve", "touched", x, cpuTime, map[string][]float64{ours: {mine, mine}, system: {5, 5}}})
	}
	table := mallocTable{reasons: []lossReason{{"sizes, touched", "It zeroes."}}}
	want := "sizes, touched, CPU: at 3 of 5 sizes, at most 2.40 (2.40..2.40) of glibc at 24. It zeroes. The sizes: 16..24, 4097."
	if got := table.lostRow(compareAll(figures)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
