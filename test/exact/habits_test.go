package exact

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// markedLines are the lines of a program that a comment "WORD NAME" marks.
func markedLines(t *testing.T, source, word string) map[string]int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(harness.Root(), "test", "programs", source))
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`// ` + word + ` (\w+)$`)
	lines := map[string]int{}
	for i, line := range strings.Split(string(content), "\n") {
		if match := comment.FindStringSubmatch(line); match != nil {
			lines[match[1]] = i + 1
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s marks no %s", source, word)
	}
	return lines
}

// habits are the marked sites of a report on habits.c.
type habits struct {
	t     *testing.T
	lines map[string]int
	sites map[string]*harness.Site
}

func habitsOf(t *testing.T, report harness.Report, names ...string) habits {
	t.Helper()
	h := habits{t, markedLines(t, "habits.c", "site"), map[string]*harness.Site{}}
	for _, name := range names {
		if h.sites[name] = report.SiteAt("habits.c", h.lines[name]); h.sites[name] == nil {
			t.Fatalf("site %s, line %d: not in the report", name, h.lines[name])
		}
	}
	return h
}

func check[T comparable](h habits, what string, got, want T) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// partner checks that a vote went to a site, and that the bounds of its share hold the true one.
func (h habits) partner(what string, got *harness.Placed, site string, share float64) {
	h.t.Helper()
	if got == nil {
		h.t.Errorf("%s: unknown, want %s", what, site)
		return
	}
	check(h, what, got.Line, h.lines[site])
	h.share(what, got.ShareMin, got.ShareMax, share)
}

func (h habits) share(what string, low, high, share float64) {
	h.t.Helper()
	const rounding = 1e-9
	if low > share+rounding || high < share-rounding {
		h.t.Errorf("%s: share between %v and %v, and is %v", what, low, high, share)
	}
}

func TestHabits(t *testing.T) {
	for _, test := range []struct {
		argument         string
		workers, threads uint64 // how often the work is done; threads that do it in one process
	}{{"0", 1, 1}, {"4", 4, 4}, {"fork", 2, 1}} {
		t.Run(test.argument, func(t *testing.T) {
			result, recording := harness.Record(t, harness.Command{
				Arguments: []string{harness.Program(t, "programs/habits"), test.argument},
			})
			if result.Status != 0 {
				t.Fatalf("%s\n%s", result.Ending(), result.Errors)
			}
			var moved, copied, waste uint64
			for line := range strings.Lines(result.Output) {
				var values [3]uint64
				if _, err := fmt.Sscan(line, &values[0], &values[1], &values[2]); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				moved, copied, waste = moved+values[0], copied+values[1], waste+values[2]
			}
			report := harness.ReadReport(t, recording)
			if test.argument == "fork" && len(report.Processes) != 2 {
				t.Fatalf("%d processes", len(report.Processes))
			}
			h := habitsOf(t, report, "node", "key", "one", "between", "sizes", "start", "chain", "fresh", "at_once",
				"seventh", "fortieth", "freed", "fails", "early", "late")
			n := test.workers
			node, key, one, chain := h.sites["node"], h.sites["key"], h.sites["one"], h.sites["chain"]

			check(h, "node: runs", node.Runs.Count, 20*n)
			check(h, "node: longest run", node.Runs.Longest, 1)
			h.partner("node: born after", node.PartnerAtBirth, "key", 19.0/20)
			h.partner("key: born after", key.PartnerAtBirth, "node", 1)
			h.partner("node: freed after", node.PartnerAtDeath, "key", 19.0/20)
			h.partner("key: freed after", key.PartnerAtDeath, "node", 1)
			check(h, "node: freed by", node.FreedBy.Function, "ReleasePair")
			check(h, "node: waste", node.Waste, waste)
			check(h, "one: runs", one.Runs.Count, 2*n)
			check(h, "one: longest run", one.Runs.Longest, 30)
			check(h, "sizes: commonest", h.sites["sizes"].SizeCommon.Bytes, 100)
			h.share("sizes", h.sites["sizes"].SizeCommon.ShareMin, h.sites["sizes"].SizeCommon.ShareMax, 24.0/32)
			check(h, "node: commonest", *node.SizeCommon, harness.SizeShare{Bytes: 41, ShareMin: 1, ShareMax: 1})

			check(h, "chain: reallocs", *chain.Reallocs, harness.Reallocs{
				Resized: 13 * n, Grown: 10 * n, Shrunk: 3 * n, Moved: moved, BytesCopied: copied, Chained: 12 * n,
			})
			check(h, "fresh: reallocs", *h.sites["fresh"].Reallocs, harness.Reallocs{})
			h.partner("chain: freed by", chain.FreedBy, "chain", 12.0/13)

			for site, want := range map[string][]uint64{
				"at_once":  {10 * n},
				"seventh":  {0, 0, 4 * n},
				"fortieth": {0, 0, 0, 0, 0, n},
				"fails":    nil,
			} {
				if got := h.sites[site].Lifetime; !slices.Equal(got, want) {
					t.Errorf("%s: lifetimes %v, want %v", site, got, want)
				}
			}
			check(h, "freed: by", h.sites["freed"].FreedBy.Function, "Often")
			h.share("freed: by", h.sites["freed"].FreedBy.ShareMin, h.sites["freed"].FreedBy.ShareMax, 20.0/28)
			check(h, "fails: failed", h.sites["fails"].Failed, 5*n)
			check(h, "node: threads", *node.Threads, test.workers)

			early, late := h.sites["early"], h.sites["late"]
			const pause, coarse = 0.1, 0.05
			if apart := *late.FirstS - *early.LastS; apart < pause-coarse || *early.FirstS > *early.LastS {
				t.Errorf("early at %v to %v, late from %v: 0.1 s lay between", *early.FirstS, *early.LastS, *late.FirstS)
			}
			if apart := *late.LastFreedS - *late.LastS; apart < pause-coarse {
				t.Errorf("late: born at %v, freed at %v: 0.1 s lay between", *late.LastS, *late.LastFreedS)
			}

			nulls := map[int]uint64{}
			for _, caller := range report.FreeNullCallers {
				if caller.Function == "Nothing" {
					nulls[caller.Line] = caller.Calls
				}
			}
			marked := markedLines(t, "habits.c", "null")
			check(h, "free(NULL), seven", nulls[marked["seven"]], 7*n)
			check(h, "free(NULL), three", nulls[marked["three"]], 3*n)
		})
	}
}

// A stack with many calls is looked at now and then: its figures are estimates, near the truth.
func TestHabitsOfManyCalls(t *testing.T) {
	h := habitsOf(t, recordProgram(t, "habits", "often"), "first", "second", "row")
	near := func(what string, got, want, error uint64) {
		t.Helper()
		if got < want-error || got > want+error {
			t.Errorf("%s: %d, want %d +- %d", what, got, want, error)
		}
	}
	first, second, row := h.sites["first"], h.sites["second"], h.sites["row"]
	near("first: runs", first.Runs.Count, 70000, 200)
	near("second: runs", second.Runs.Count, 70000, 200)
	near("row: runs", row.Runs.Count, 1, 0)
	check(h, "row: longest run", row.Runs.Longest, 1000)
	check(h, "first: commonest size", first.SizeCommon.Bytes, 50)
	h.share("first: commonest size", first.SizeCommon.ShareMin-0.01, first.SizeCommon.ShareMax+0.01, 0.7)
	h.partner("first: born after", first.PartnerAtBirth, "second", 1-1.0/70000)
	h.partner("second: born after", second.PartnerAtBirth, "first", 1)
	h.partner("second: freed after", second.PartnerAtDeath, "first", 1-1.0/70000)
	if len(first.Lifetime) != 2 || len(second.Lifetime) != 1 {
		t.Fatalf("lifetimes %v and %v, want 3 events and 1", first.Lifetime, second.Lifetime)
	}
	// The events after the birth of first: birth and death of second, its own death.
	near("first: lifetime of 3 events", first.Lifetime[1], 70000, 200)
	near("second: lifetime of 1 event", second.Lifetime[0], 70000, 200)
	near("row: lifetime of 1 event", row.Lifetime[0], 1000, 100)
}

// A thread that comes when another one has ended is another one: what it releases of that one's is.
func TestThreadsInSuccession(t *testing.T) {
	_, recording := harness.Record(t, harness.Command{Arguments: []string{harness.Program(t, "programs/succession")}})
	report := harness.ReadReport(t, recording)
	for function, want := range map[string]struct{ blocks, foreign, shortLived uint64 }{"make": {300, 300, 0}, "make_own": {600, 0, 0}} {
		for _, site := range report.Sites {
			if site.Function == function && (site.Allocations != want.blocks || site.Foreign != want.foreign || site.ShortLived != want.shortLived) {
				t.Errorf("%s: %d blocks, %d released by another thread, %d short-lived, want %+v", function, site.Allocations, site.Foreign, site.ShortLived, want)
			}
		}
	}
}
