package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
)

// callersOf is what a comparison tells of who makes the change of its first
// site: the path, the branches, and the way that changed most.
func callersOf(d *diff.Diff) string {
	var b strings.Builder
	stacks, _, growth := d.Stacks(d.Sites[:1], diff.Allocations, 0)
	for i := range growth[0].Path {
		fmt.Fprintf(&b, "<- %s:%d ", growth[0].Path[i].Function, growth[0].Path[i].Line)
	}
	for i := range growth[0].Branches {
		branch := &growth[0].Branches[i]
		fmt.Fprintf(&b, "%s:%d (%+d) ", branch.Function, branch.Line, int(branch.New)-int(branch.Old))
	}
	b.WriteString("|")
	for _, f := range stacks[0][0].Frames {
		fmt.Fprintf(&b, " %d", f.Line)
	}
	return b.String()
}

// A function that calls another at several lines is one caller, but it is named
// with the line of which there are more.
func TestLinesOfCallers(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{
			"the second of two grew",
			"600 malloc 16: box a.c:4 < grow a.c:62 < main m.c:1\n400 malloc 16: box a.c:4 < grow a.c:56 < main m.c:1",
			"600 malloc 16: box a.c:4 < grow a.c:62 < main m.c:1\n3600 malloc 16: box a.c:4 < grow a.c:56 < main m.c:1",
			"<- grow:56 | 4 56 1",
		},
		{
			"the one with fewer calls grew",
			"600 malloc 16: box a.c:4 < grow a.c:56 < main m.c:1\n4 malloc 16: box a.c:4 < grow a.c:62 < main m.c:1",
			"600 malloc 16: box a.c:4 < grow a.c:56 < main m.c:1\n9 malloc 16: box a.c:4 < grow a.c:62 < main m.c:1",
			"<- grow:62 | 4 62 1",
		},
		{
			"lines moved, and one is where another was",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n4 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1",
			"600 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1\n9 malloc 16: box a.c:4 < grow a.c:70 < main m.c:1",
			"<- grow:70 | 4 70 1",
		},
		{
			"a line that is new",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n40 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1",
			"600 malloc 16: box a.c:4 < grow a.c:51 < main m.c:1\n40 malloc 16: box a.c:4 < grow a.c:61 < main m.c:1\n7 malloc 16: box a.c:4 < grow a.c:55 < main m.c:1",
			"<- grow:55 | 4 55 1",
		},
		{
			"a line that has fewer",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n40 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1",
			"600 malloc 16: box a.c:4 < grow a.c:51 < main m.c:1\n10 malloc 16: box a.c:4 < grow a.c:61 < main m.c:1",
			"<- grow:61 | 4 61 1",
		},
		{
			"a line that is gone",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n40 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1",
			"<- grow:60 | 4 60 1",
		},
		{
			"in each of several callers",
			"600 malloc 16: box a.c:4 < f a.c:50 < main m.c:1\n40 malloc 16: box a.c:4 < f a.c:60 < main m.c:1\n5 malloc 16: box a.c:4 < g a.c:70 < main m.c:2\n1 malloc 16: box a.c:4 < g a.c:71 < main m.c:2",
			"600 malloc 16: box a.c:4 < f a.c:50 < main m.c:1\n70 malloc 16: box a.c:4 < f a.c:60 < main m.c:1\n5 malloc 16: box a.c:4 < g a.c:70 < main m.c:2\n3 malloc 16: box a.c:4 < g a.c:71 < main m.c:2",
			"f:60 (+30) g:71 (+2) | 4 60 1",
		},
		{
			"for more work",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n100 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1\nunit request 100",
			"1200 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n400 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1\nunit request 200",
			"<- grow:60 | 4 60 1",
		},
		{
			"a buffer that is larger for one of several callers",
			"600 malloc 20: box a.c:4 < f a.c:50 < main m.c:1\n30 malloc 200: box a.c:4 < g a.c:60 < main m.c:2",
			"600 malloc 20: box a.c:4 < f a.c:50 < main m.c:1\n30 malloc 5000: box a.c:4 < g a.c:60 < main m.c:2",
			"<- g:60 | 4 60 2",
		},
		{
			"a buffer that is larger on one of several lines",
			"2 malloc 60: box a.c:4 < grow a.c:50 < main m.c:1\n2 malloc 80: box a.c:4 < grow a.c:60 < main m.c:1",
			"2 malloc 60: box a.c:4 < grow a.c:51 < main m.c:1\n2 malloc 160: box a.c:4 < grow a.c:61 < main m.c:1",
			"<- grow:61 | 4 61 1",
		},
		{
			"what one of several callers does not free any more",
			"600 malloc 20: box a.c:4 < f a.c:50 < main m.c:1\n30 malloc 20: box a.c:4 < g a.c:60 < main m.c:2",
			"600 malloc 20: box a.c:4 < f a.c:50 < main m.c:1\n30 malloc 20 kept: box a.c:4 < g a.c:60 < main m.c:2",
			"<- g:60 | 4 60 2",
		},
		{
			"callers of a reference that has them cut",
			"600 malloc 16: box a.c:4 < grow a.c:50\n40 malloc 16: box a.c:4 < grow a.c:60",
			"600 malloc 16: box a.c:4 < grow a.c:50 < main m.c:1\n50 malloc 16: box a.c:4 < grow a.c:60 < main m.c:1",
			"<- grow:60 | 4 50 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := diff.Compare(difftest.Profile(c.old), difftest.Profile(c.new), diff.Options{})
			if got := callersOf(d); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
