package gate

import (
	"path/filepath"
	"reflect"
	"testing"

	"mallow/internal/budget"
	"mallow/internal/diff"
	"mallow/internal/history"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/stacks"
)

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name     string
		metric   string
		was, now []float64
		error    float64
		want     int
		class    Class
	}{
		{"to the unit", budget.Allocations, []float64{1000, 1000, 1000}, []float64{1001, 1001, 1001}, 0, 1, Exact},
		{"one less", budget.Allocations, []float64{1000}, []float64{999, 999, 999}, 0, -1, Exact},
		{"the same", budget.Allocations, []float64{1000}, []float64{1000, 1000}, 0, 0, Exact},
		{"of none", budget.Live, []float64{0}, []float64{1, 1}, 0, 1, Exact},
		{"per unit", budget.Bytes, []float64{8.89}, []float64{8.891, 8.891}, 0, 1, Exact},
		{"overlapping", budget.Allocations, []float64{101301, 101325}, []float64{101310, 101340}, 0, 0, Bounded},
		{"apart by chance", budget.Allocations, []float64{101301, 101310}, []float64{101315, 101325}, 0, 0, Bounded},
		{"apart by one part of a hundred", budget.Allocations, []float64{101301, 101325}, []float64{102314, 102338}, 0, 1, Bounded},
		{"exact then, not now", budget.Allocations, []float64{250}, []float64{249, 250}, 0, 0, Bounded},
		{"one call of 250", budget.Allocations, []float64{250}, []float64{251, 252, 253}, 0, 0, Bounded},
		{"noisy", budget.Peak, []float64{100, 142}, []float64{90, 160}, 0, 0, Noisy},
		{"noisy, and far away", budget.Peak, []float64{100, 142}, []float64{300, 330}, 0, 1, Noisy},
		{"within the error of the recorder", budget.Peak, []float64{1000}, []float64{1500}, 65536, 0, Bounded},
		{"a time", budget.CPU, []float64{2, 2.01}, []float64{2.03, 2.04}, 0, 0, Noisy},
		{"a longer time", budget.CPU, []float64{2, 2.01}, []float64{2.2, 2.3}, 0, 1, Noisy},
		{"times far apart, and far away", budget.CPU, []float64{0.0001}, []float64{0.0113, 0.0241}, 0, 1, Noisy},
		{"times far apart, and not so far away", budget.CPU, []float64{0.008}, []float64{0.0113, 0.0241}, 0, 0, Noisy},
		{"a time of nothing", budget.CPU, []float64{0, 0}, []float64{0.01, 0.02}, 0, 1, Noisy},
	} {
		was, now := spanOf(test.was), spanOf(test.now)
		if got := compare(test.metric, was, now, test.error); got != test.want {
			t.Errorf("%s: %d, not %d", test.name, got, test.want)
		}
		if got := classOf(test.metric, now, test.error); got != test.class {
			t.Errorf("%s: %s, not %s", test.name, got, test.class)
		}
		if test.want != 0 && compare(test.metric, now, was, test.error) != -test.want {
			t.Errorf("%s: the other way round it is something else", test.name)
		}
	}
}

// The references are asked in order, and a budget that allows just what there
// is decides alone.
func TestFired(t *testing.T) {
	b := &budget.Benchmark{Name: "b"}
	of := func(kind Reference, value float64) *reference {
		return &reference{kind: kind, spans: map[string]span{budget.Allocations: spanOf([]float64{value})}}
	}
	for _, test := range []struct {
		now                   float64
		budget, base, history float64 // 0: none
		want                  Reference
		better                int
	}{
		{100, 100, 0, 0, Budget, 0},
		{100, 100, 80, 80, Budget, 0}, // raised in this change
		{101, 100, 0, 0, Budget, 1},
		{101, 100, 101, 101, Budget, 1}, // the anchor holds
		{99, 100, 99, 99, Budget, -1},
		{90, 100, 80, 80, MergeBase, 1}, // an improvement that no budget has yet gets lost
		{90, 100, 90, 80, History, 1},
		{90, 100, 95, 92, Budget, -1},
		{90, 0, 80, 0, MergeBase, 1},
		{90, 0, 90, 0, MergeBase, 0},
		{90, 0, 0, 80, History, 1},
		{90, 0, 100, 80, History, 1},
		{90, 0, 0, 0, "", 0},
	} {
		var references []*reference
		for _, r := range []*reference{of(Budget, test.budget), of(MergeBase, test.base), of(History, test.history)} {
			if s, _ := r.of(budget.Allocations); s.most > 0 {
				references = append(references, r)
			}
		}
		m := newMeasured()
		m.values[budget.Allocations] = []float64{test.now}
		r, _, better := (&gate{}).fired(b, budget.Allocations, m, references)
		got := Reference("")
		if r != nil {
			got = r.kind
		}
		if got != test.want || better != test.better {
			t.Errorf("%+v: %q says %d", test, got, better)
		}
	}
}

func TestLastLevel(t *testing.T) {
	for _, test := range []struct {
		class       Class
		values      []float64
		least, most float64
	}{
		{Exact, []float64{1000}, 1000, 1000},
		{Exact, []float64{1000, 1000, 1001}, 1001, 1001},
		{Bounded, []float64{1000, 1003, 1001, 1002}, 1000, 1003},
		{Bounded, []float64{100, 103, 99, 101, 100, 102, 140, 138, 142, 139, 141, 140}, 138, 142},
		{Noisy, []float64{2}, 2, 2},
	} {
		var points []history.Point
		for _, value := range test.values {
			points = append(points, history.Point{Metrics: map[string]history.Value{budget.Peak: {Value: value, Class: string(test.class)}}})
		}
		if s := lastLevel(budget.Peak, points); s.least != test.least || s.most != test.most {
			t.Errorf("%v: %v to %v", test.values, s.least, s.most)
		}
	}
}

func TestParseHunks(t *testing.T) {
	text := `diff --git a/parse.c b/parse.c
index 1..2 100644
--- a/parse.c
+++ b/parse.c
@@ -3 +3,2 @@ int main
-old
+new
+--- added
@@ -10,2 +10,0 @@
-gone
-too
@@ -0,0 +20 @@
+first` + "\r\n\\ No newline at end of file\n"
	want := []LineChange{
		{File: "f", Line: 3, Old: "old", New: "new"}, {File: "f", Line: 4, New: "--- added"},
		{File: "f", Line: 11, Old: "gone"}, {File: "f", Line: 11, Old: "too"}, {File: "f", Line: 20, New: "first"},
	}
	if got := parseHunks("f", text); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestStacksName(t *testing.T) {
	for name, want := range map[string]string{
		"parse": "parse.txt", "two words": "two%20words.txt", "../etc": "%2E.%2Fetc.txt", ".hidden": "%2Ehidden.txt", "v1.2": "v1.2.txt", "ü": "%C3%BC.txt",
	} {
		if got := stacksName(name); got != want {
			t.Errorf("%q: %s, not %s", name, got, want)
		}
	}
}

// What is kept of a program differs from it in nothing.
func TestKeptStacks(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		rec, err := recording.Open(filepath.Join("../../format/testdata/handmade", golden.Name+".mallow"))
		if err != nil {
			t.Fatal(err)
		}
		p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
		if p.Sampling != nil {
			continue
		}
		kept, err := stacks.Of(p, "").Profile(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, site := range diff.Compare(kept, p, diff.Options{}).Sites {
			if site.Status != diff.Same && site.NewCounters().Failed == 0 { // failures are not kept
				t.Errorf("%s differs from what was kept of it: %+v", golden.Name, site)
			}
		}
	}
}

// A difference has no digits that only the computer has made.
func TestDifference(t *testing.T) {
	for _, test := range []struct{ a, b, want float64 }{
		{8.89, 8.88, 0.01}, {0.1, 0.3, 0.2}, {1e15, 1e15 + 1, 1}, {1234567.89, 1234567.88, 0.01}, {0, 0.001, 0.001}, {7, 7, 0}, {155, 186, 31},
	} {
		if got := difference(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: %v, not %v", test.a, test.b, got, test.want)
		}
	}
}

// What is not judged to differ is not said to be the same.
func TestApart(t *testing.T) {
	b := &budget.Benchmark{}
	if got := sentence("cpu", b, span{0.0001, 0.0001, 0.0001, 1}, span{0.005, 0.006, 0.011, 5}, "the budget", 0); got != "0.005 s to 0.011 s of CPU time, and the budget has 0.0001 s: not to be told apart" {
		t.Error(got)
	}
	if got := sentence("cpu", b, span{0.004, 0.005, 0.006, 1}, span{0.005, 0.006, 0.011, 5}, "the budget", 0); got != "0.005 s to 0.011 s of CPU time, as the budget has it" {
		t.Error(got)
	}
}
