package history

import (
	"strings"
	"testing"
)

// Points of changed trees come after those of their commit, whatever stands
// between them: what git does not know stays with the one before it.
func TestSort(t *testing.T) {
	g := &Graph{rank: map[string]int{"a": 0, "b": 1}}
	for given, want := range map[string]string{
		"b a":             "a b",
		"a* a":            "a a*",
		"a* x a":          "a a* x",
		"a* x a y b":      "a y a* x b",
		"a* x a a*":       "a a* x a*",
		"b* x* x b a":     "a b b* x x*",
		"x* x y a":        "x x* y a",
		"a x* y x a":      "a x* y x a",
		"b x y* y a* z a": "a a* z b x y y*",
	} {
		var points []Point
		for _, name := range strings.Fields(given) {
			commit, dirty := strings.CutSuffix(name, "*")
			points = append(points, Point{Commit: commit, Dirty: dirty})
		}
		g.Sort(points)
		var got []string
		for _, p := range points {
			if p.Dirty {
				p.Commit += "*"
			}
			got = append(got, p.Commit)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", given, text, want)
		}
	}
}
