package imports

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// totals are what a report says in all.
func totals(t *testing.T, recording string, flags ...string) (all harness.Totals) {
	t.Helper()
	var read struct{ Totals harness.Totals }
	if err := json.Unmarshal([]byte(report(t, recording, append(flags, "--json")...)), &read); err != nil {
		t.Fatal(err)
	}
	return read.Totals
}

func compileWords(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "words")
	compiled := harness.Run(t, harness.Command{Arguments: []string{"cc", "-g", "-fno-builtin", "-o", program,
		filepath.Join(harness.Root(), "examples", "words.c")}})
	if compiled.Status != 0 {
		t.Skipf("cc: %s", compiled.Errors)
	}
	return program
}

const text = "one two three two three three and so on and on\n"

// bytesOf reads a size as heaptrack_print writes it: "80.96K".
func bytesOf(t *testing.T, text string) float64 {
	t.Helper()
	factor := 1.0
	for i, unit := range []string{"B", "K", "M", "G"} {
		if rest, is := strings.CutSuffix(text, unit); is {
			text = rest
			for range i {
				factor *= 1000
			}
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n * factor
}

// The totals of a program that heaptrack recorded are those that heaptrack_print prints.
func TestHeaptrack(t *testing.T) {
	for _, tool := range []string{"heaptrack", "heaptrack_print"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	for name, command := range map[string]harness.Command{
		"words": {Arguments: []string{compileWords(t)}, Input: text},
		"bash":  {Arguments: []string{"/bin/bash", "-c", "for i in 1 2 3; do x=$x$i; done; echo $x"}},
	} {
		t.Run(name, func(t *testing.T) {
			base := filepath.Join(t.TempDir(), "recorded")
			command.Arguments = append([]string{"heaptrack", "-o", base}, command.Arguments...)
			if result := harness.Run(t, command); result.Status != 0 {
				t.Skipf("heaptrack: %s%s", result.Output, result.Errors)
			}
			files, err := filepath.Glob(base + ".*")
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			printed := harness.Run(t, harness.Command{Arguments: []string{"heaptrack_print", "--disable-embedded-suppressions",
				"--disable-builtin-suppressions", "-p0", "-a0", "-T0", "-f", files[0]}}).Output
			figure := func(pattern string) string {
				found := regexp.MustCompile(pattern).FindStringSubmatch(printed)
				if found == nil {
					t.Fatalf("%s is not in %s", pattern, printed)
				}
				return found[1]
			}
			got := totals(t, imported(t, files[0]))
			calls, _ := strconv.ParseUint(figure(`calls to allocation functions: (\d+)`), 10, 64)
			temporary, _ := strconv.ParseUint(figure(`temporary memory allocations: (\d+)`), 10, 64)
			if got.Allocations != calls {
				t.Errorf("%d allocations, not %d", got.Allocations, calls)
			}
			// heaptrack takes no block for temporary before whose release another was released.
			if got.Temporary < temporary {
				t.Errorf("%d temporary, less than %d", got.Temporary, temporary)
			}
			for what, pair := range map[string][2]float64{
				"peak":   {float64(got.PeakBytes), bytesOf(t, figure(`peak heap memory consumption: (\S+)`))},
				"leaked": {float64(got.LiveBytes), bytesOf(t, figure(`total memory leaked: (\S+)`))},
			} {
				if difference := pair[0] - pair[1]; difference > 0.005*pair[1]+1 || difference < -0.005*pair[1]-1 {
					t.Errorf("%s is %v bytes, not %v", what, pair[0], pair[1])
				}
			}
			if name == "words" && !strings.Contains(report(t, imported(t, files[0])), "read_word") {
				t.Error("nothing of read_word")
			}
		})
	}
}

// What mallow log prints is a memory log, and what becomes of it is the recording that it was printed from.
func TestMallowsOwnLog(t *testing.T) {
	program := compileWords(t)
	// So few calls that libmallow looks at each of them.
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program}, Input: "one two two six one\n", Flags: []string{"--log"}})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	printed := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "log", recording}})
	file := filepath.Join(t.TempDir(), "log")
	write(t, file, printed.Output)
	want, got := totals(t, recording), totals(t, imported(t, file))
	sites := func(recording string) map[string]string {
		var read struct {
			Sites []struct {
				File               *string
				Line               int
				Lifetime, Reallocs json.RawMessage
				Runs               json.RawMessage
				Common             json.RawMessage `json:"size_common"`
				Partner            *struct {
					Line  int
					Least float64 `json:"share_min"`
				} `json:"partner_at_birth"`
			}
		}
		if err := json.Unmarshal([]byte(report(t, recording, "--json")), &read); err != nil {
			t.Fatal(err)
		}
		found := make(map[string]string)
		for _, s := range read.Sites {
			if s.File != nil && filepath.Base(*s.File) == "words.c" {
				found[fmt.Sprint(s.Line)] = fmt.Sprintf("lifetime %s, reallocs %s, runs %s, size %s, partner %+v", s.Lifetime, s.Reallocs, s.Runs, s.Common, s.Partner)
			}
		}
		return found
	}
	known := sites(recording)
	if len(known) < 3 {
		t.Errorf("%d sites: %v", len(known), known)
	}
	for line, back := range sites(imported(t, file)) {
		if back != known[line] {
			t.Errorf("words.c:%s\n%s\nand not\n%s", line, back, known[line])
		}
	}
	for what, pair := range map[string][2]any{
		"mallocs": {got.Mallocs, want.Mallocs}, "callocs": {got.Callocs, want.Callocs}, "reallocs": {got.Reallocs, want.Reallocs},
		"strdups": {got.Strdups, want.Strdups}, "frees": {got.Frees, want.Frees}, "bytes": {got.Bytes, want.Bytes},
		"peak_bytes": {got.PeakBytes, want.PeakBytes}, "live_blocks": {got.LiveBlocks, want.LiveBlocks},
		"live_bytes": {got.LiveBytes, want.LiveBytes}, "temporary": {got.Temporary, want.Temporary},
		"short_lived": {got.ShortLived, want.ShortLived},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, not %v", what, pair[0], pair[1])
		}
	}
}
