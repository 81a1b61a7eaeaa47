package imports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	rpprof "runtime/pprof"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"mallow/test/harness"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A recording that goes out as a profile and comes in again has the same sums and stacks.
func TestPprofThereAndBack(t *testing.T) {
	result, recording := harness.Record(t, harness.Command{Arguments: []string{compileWords(t)}, Input: text})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	file := filepath.Join(t.TempDir(), "words.pb.gz")
	write(t, file, report(t, recording, "--all", "--format", "pprof"))
	back := imported(t, file)
	want, got := totals(t, recording), totals(t, back)
	for what, pair := range map[string][2]any{
		"mallocs": {got.Mallocs, want.Mallocs}, "reallocs": {got.Reallocs, want.Reallocs}, "strdups": {got.Strdups, want.Strdups},
		"bytes": {got.Bytes, want.Bytes}, "live_blocks": {got.LiveBlocks, want.LiveBlocks}, "live_bytes": {got.LiveBytes, want.LiveBytes},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, not %v", what, pair[0], pair[1])
		}
	}
	for _, metric := range []string{"calls", "bytes", "live"} {
		folded := func(recording string) string {
			return harness.SortedLines(report(t, recording, "--all", "--format", "folded", "--metric", metric))
		}
		if folded(back) != folded(recording) {
			t.Errorf("%s:\n%s\nnot\n%s", metric, folded(back), folded(recording))
		}
	}
}

var kept [][]byte

//go:noinline
func keep(n, size int) {
	for range n {
		kept = append(kept, make([]byte, size))
	}
}

// A heap profile of a Go program is estimated as its runtime does.
func TestGoHeapProfile(t *testing.T) {
	keep(300, 100_000)
	runtime.GC()
	runtime.GC()
	for debug, name := range []string{"heap.pb.gz", "heap.txt"} {
		var b bytes.Buffer
		if err := rpprof.Lookup("heap").WriteTo(&b, debug); err != nil {
			t.Fatal(err)
		}
		parsed, err := profile.ParseData(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var sum [4]int64
		for _, s := range parsed.Sample {
			for i, v := range s.Value {
				sum[i] += v
			}
		}
		file := filepath.Join(t.TempDir(), name)
		write(t, file, b.String())
		recording := imported(t, file)
		got := totals(t, recording)
		if got.Allocations != uint64(sum[0]) || got.Bytes != uint64(sum[1]) {
			t.Errorf("%s: %d allocations of %d bytes, not %d of %d", name, got.Allocations, got.Bytes, sum[0], sum[1])
		}
		if debug == 0 && !strings.Contains(report(t, recording, "--sort", "bytes"), "imports.keep") {
			t.Errorf("%s: nothing of keep:\n%s", name, report(t, recording, "--sort", "bytes"))
		}
		if !strings.Contains(report(t, recording), "±") {
			t.Errorf("%s: no standard error:\n%s", name, report(t, recording))
		}
	}
}

// What gperftools writes are addresses: they are named like those of a recording.
func TestLegacyHeapProfile(t *testing.T) {
	program := compileWords(t)
	nm := harness.Run(t, harness.Command{Arguments: []string{"nm", program}})
	var main uint64
	for line := range strings.Lines(nm.Output) {
		if strings.HasSuffix(line, " T main\n") {
			fmt.Sscanf(line, "%x", &main)
		}
	}
	if main == 0 {
		t.Skip("nm tells nothing of main")
	}
	const start = 0x5580_0000_0000
	file := filepath.Join(t.TempDir(), "words.heap")
	write(t, file, fmt.Sprintf(`heap profile:     10:     1000 [    28:     3000] @ heapprofile
     4:      600 [    20:     2000] @ 0x%x
     6:      400 [     8:     1000] @ 0x7f0000001000 0x%x

MAPPED_LIBRARIES:
%012x-%012x r-xp %08x 08:01 1234 %s
7f0000000000-7f0000010000 r-xp 00000000 08:01 99 /nowhere/libgone.so
`, start+main+9, start+main+9, start+main&^0xfff, start+main&^0xfff+0x1000, main&^0xfff, program))
	recording := imported(t, file)
	got := totals(t, recording)
	if got.Allocations != 28 || got.Bytes != 3000 || got.LiveBlocks != 10 || got.LiveBytes != 1000 {
		t.Errorf("%+v", got)
	}
	folded := report(t, recording, "--format", "folded")
	if !strings.Contains(folded, "main 20\n") || !strings.Contains(folded, "main;libgone.so+0x") {
		t.Error(folded)
	}
}

// jemalloc's dump of a program says which lines hold memory at its end.
func TestJemallocProfile(t *testing.T) {
	libraries, _ := filepath.Glob("/usr/lib/*/libjemalloc.so.2")
	if len(libraries) == 0 {
		t.Skip("there is no libjemalloc")
	}
	folder := t.TempDir()
	harness.Run(t, harness.Command{Arguments: []string{compileWords(t)}, Input: "one two two six one\n", Directory: folder, Settings: []string{
		"LD_PRELOAD=" + libraries[0], "MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:0",
	}})
	dumps, _ := filepath.Glob(filepath.Join(folder, "jeprof.*.heap"))
	if len(dumps) != 1 {
		t.Skip("libjemalloc was built without its profiler")
	}
	recording := imported(t, dumps[0])
	folded := report(t, recording, "--all", "--format", "folded")
	if !regexp.MustCompile(`(?m);main;read_word 3$`).MatchString(folded) || !regexp.MustCompile(`(?m);main 3$`).MatchString(folded) || strings.Contains(folded, "jemalloc") {
		t.Errorf("three words and their texts live, not\n%s", folded)
	}
}
