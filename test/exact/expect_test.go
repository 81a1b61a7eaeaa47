package exact

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// expectation is what the comments of a source file say that one thread does there.
type expectation struct {
	sites []expectedSite
	sum   harness.Counts
	live  struct{ blocks, bytes uint64 }
	peak  uint64
}

type expectedSite struct {
	line   int
	kind   string
	values map[string]uint64
}

var (
	expectComment = regexp.MustCompile(`// expect (\w+)((?: \w+=\d+)+)`)
	valueComment  = regexp.MustCompile(`(\w+)=(\d+)`)
	countComment  = regexp.MustCompile(`// (frees|free_nulls|failed) (\d+)`)
	peakComment   = regexp.MustCompile(`// peak (\d+)\+(\d+)`)
)

func number(t *testing.T, text string) uint64 {
	t.Helper()
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// readExpectation reads the comments of a program's source (known.c explains them).
func readExpectation(t *testing.T, source string) expectation {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(harness.Root(), "test", "programs", source))
	if err != nil {
		t.Fatal(err)
	}
	var result expectation
	for index, line := range strings.Split(string(content), "\n") {
		if match := peakComment.FindStringSubmatch(line); match != nil {
			result.peak = number(t, match[1]) + number(t, match[2])
		}
		if match := countComment.FindStringSubmatch(line); match != nil {
			calls := number(t, match[2])
			switch match[1] {
			case "frees":
				result.sum.Frees += calls
			case "free_nulls":
				result.sum.FreeNulls += calls
			case "failed":
				result.sum.Failed += calls
			}
		}
		if match := expectComment.FindStringSubmatch(line); match != nil {
			site := expectedSite{line: index + 1, kind: match[1], values: map[string]uint64{}}
			for _, value := range valueComment.FindAllStringSubmatch(match[2], -1) {
				site.values[value[1]] = number(t, value[2])
			}
			result.add(t, site)
		}
	}
	if len(result.sites) == 0 {
		t.Fatalf("%s says nothing of what it allocates", source)
	}
	return result
}

func (e *expectation) add(t *testing.T, site expectedSite) {
	t.Helper()
	calls, bytes := site.values["calls"], site.values["bytes"]
	kinds := map[string]*uint64{
		"mallocs": &e.sum.Mallocs, "callocs": &e.sum.Callocs, "reallocs": &e.sum.Reallocs, "strdups": &e.sum.Strdups,
		"wcsdups": &e.sum.Wcsdups, "aligned": &e.sum.Aligned, "news": &e.sum.News,
	}
	kind, known := kinds[site.kind]
	if !known {
		t.Fatalf("line %d: no kind %q", site.line, site.kind)
	}
	*kind += calls
	e.sum.Bytes += bytes
	e.live.blocks += site.values["live"]
	e.live.bytes += site.values["live"] * bytes / calls
	e.sites = append(e.sites, site)
}

// times multiplies what one thread does.
func times(counts harness.Counts, threads uint64) harness.Counts {
	var sum harness.Counts
	for range threads {
		sum.Add(counts)
	}
	return sum
}
