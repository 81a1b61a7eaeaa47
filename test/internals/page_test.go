// Package internals checks the numbers of the pages in docs. A number that says "at most" or repeats a constant of the
// sources carries its origin in a comment that readers do not see:
//
//	256 KiB<!--kMaxSmallBytes-->          an expression over the constants of libmallow, FILE.kName where several have it
//	18<!--executed malloc(64)-->          instructions of a hit path, from test/fast_path/hit_paths.golden
//	32 KiB<!--at most start nothing-->    a bound on what a test measures
package internals

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// number is one of a page with its origin.
type number struct {
	place  string // FILE:LINE
	text   string
	value  float64 // in the unit of the sources: bytes, nanoseconds
	origin string
}

var (
	marked = regexp.MustCompile(`(?:(\d[\d,.]*\d|\d) ?(KiB|MiB|GiB|TiB|KB|bytes|ms|s)?[*` + "`" + `]*)?<!--([^>]*)-->`)
	scales = map[string]float64{
		"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "KB": 1000, "ms": 1e6, "s": 1e9,
	}
)

// numbers are all those of the pages that have an origin.
func numbers(t *testing.T) []number {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(harness.Root(), "docs", "*", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	var all []number
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line, text := range strings.Split(string(content), "\n") {
			for _, m := range marked.FindAllStringSubmatch(text, -1) {
				n := number{place: fmt.Sprintf("%s:%d", filepath.Base(page), line+1), text: strings.TrimSpace(m[1] + " " + m[2]), origin: strings.TrimSpace(m[3])}
				value, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
				if err != nil {
					t.Errorf("%s: no number before <!--%s-->", n.place, n.origin)
					continue
				}
				n.value = value * scales[m[2]]
				all = append(all, n)
			}
		}
	}
	return all
}

// TestConstantsOnThePages: a number of a page is that of the sources.
func TestConstantsOnThePages(t *testing.T) {
	known := readConstants(t)
	checked := 0
	for _, n := range numbers(t) {
		if strings.HasPrefix(n.origin, "executed ") || strings.HasPrefix(n.origin, "at most ") {
			continue
		}
		value, err := known.eval(n.origin, "")
		if err != nil {
			t.Errorf("%s: %s: %v", n.place, n.text, err)
		} else if float64(value) != n.value {
			t.Errorf("%s says %s, but %s is %d", n.place, n.text, n.origin, value)
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("only %d numbers of the pages have their origin in the sources", checked)
	}
}

// TestHitPathsOnThePages: the pages say of the hit paths what their golden file says.
func TestHitPathsOnThePages(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(harness.Root(), "test", "fast_path", "hit_paths.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers(t) {
		hit, found := strings.CutPrefix(n.origin, "executed ")
		if found && !strings.Contains(string(content), fmt.Sprintf("\n%s: %s instructions,", hit, n.text)) {
			t.Errorf("%s says %s instructions for %s, hit_paths.golden does not", n.place, n.text, hit)
		}
	}
}

// bounds are the numbers "at most NAME..." of the pages whose names start with the word.
func bounds(t *testing.T, word string) []number {
	t.Helper()
	var chosen []number
	for _, n := range numbers(t) {
		if name, found := strings.CutPrefix(n.origin, "at most "+word+" "); found {
			n.origin = name
			chosen = append(chosen, n)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no page bounds %q", word)
	}
	return chosen
}
