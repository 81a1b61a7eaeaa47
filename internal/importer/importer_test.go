package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"mallow/internal/recording"
)

var update = flag.Bool("update", false, "write the expected recordings anew")

// importText imports a text and returns the recording's folder.
func importText(t *testing.T, text []byte) (*Result, string) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "text.mallow")
	result, err := Import(t.Context(), bytes.NewReader(text), Options{Output: output, Name: "text", Mallow: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return result, output
}

// describe writes down what a recording holds.
func describe(t *testing.T, folder string) string {
	t.Helper()
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	im := rec.Images[0]
	if len(im.Warnings)+len(rec.Warnings) > 0 {
		t.Errorf("warnings %q %q", im.Warnings, rec.Warnings)
	}
	for _, note := range rec.Meta.Notes {
		fmt.Fprintln(&b, "note:", note)
	}
	if rec.Meta.Imported.MemoryLog != nil {
		fmt.Fprintf(&b, "memanalyze counts %+v\n", *rec.Meta.Imported.MemoryLog)
	}
	peak, _ := im.PeakBytes()
	shard := im.Shards[0]
	fmt.Fprintf(&b, "events %d, frees %d of NULL %d, failed %d, live %d blocks %d bytes, peak %d, executable %q, command %q\n",
		shard.Events, shard.Frees, shard.FreeNulls, shard.Failed, shard.LiveBlocks, shard.LiveBytes, peak, im.Executable, rec.Meta.Command)
	stackName := func(id uint32) string {
		var frames []string
		n, _ := im.Node(im.StackNode(id))
		function := n.Function()
		for at := n.Parent; at != 0; {
			n, _ := im.Node(at)
			frames, at = append(frames, frameName(im, n)), n.Parent
		}
		if len(frames) == 0 {
			return "-"
		}
		return fmt.Sprintf("%v < %s", function, strings.Join(frames, " < "))
	}
	im.EachStack(func(id uint32, c *recording.Counters) {
		fmt.Fprintf(&b, "%s\n    calls %d failed %d, %d bytes, sizes %d to %d, at peak %d; released %d, %d bytes, temporary %d, short-lived %d, by realloc %d\n",
			stackName(id), c.Calls, c.Failed, c.Bytes, c.SizeMin, c.SizeMax, c.PeakBytes,
			c.Releases, c.ReleasedBytes, c.Temporary, c.ShortLived, c.ByRealloc)
		k := im.Knowledge(id)
		if k == nil {
			return
		}
		vote := func(name string, votes []recording.Vote, of func(uint32) string) {
			for _, v := range votes {
				fmt.Fprintf(&b, "    %s: %s, lead %d of %d\n", name, of(v.Candidate), v.Lead, v.Voters)
			}
		}
		fmt.Fprintf(&b, "    runs %d, longest %d, runs of deaths %d, lifetimes %v\n", k.Runs, k.LongestRun, k.DeathRuns, k.Lifetimes[:8])
		vote("size", k.Size, func(n uint32) string { return fmt.Sprint(n) })
		vote("born after", k.BornAfter, stackName)
		vote("freed after", k.FreedAfter, stackName)
		vote("freed by", k.FreedBy, func(node uint32) string {
			n, _ := im.Node(node)
			return frameName(im, n)
		})
		if k.Reallocs != (recording.Reallocs{}) {
			fmt.Fprintf(&b, "    reallocs %+v\n", k.Reallocs)
		}
	})
	for _, name := range []string{recording.MemanalyzeLines, recording.Memanalyze2017Lines} {
		lines, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "--- %s\n%s", name, lines)
	}
	return b.String()
}

func frameName(im *recording.Image, n recording.Node) string {
	if n.Tag() != recording.TagSymbolic {
		return fmt.Sprintf("tag %d %#x", n.Tag(), n.Value())
	}
	f, _ := im.SymbolicFrame(n.Value())
	return strings.TrimSpace(fmt.Sprintf("%s %s:%d %s", f.Function, f.File, f.Line, filepath.Base(f.Module)))
}

// TestFiles holds what becomes of the files of testdata against what is written
// beside them. The lines of memanalyze are those of curl's script.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".expected") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, folder := importText(t, text)
			got := describe(t, folder)
			path := strings.TrimSuffix(file, filepath.Ext(file)) + ".expected"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s:\n%s", path, got)
			}
		})
	}
}

func packed(text string) (asGzip, asZstd []byte) {
	var g, z bytes.Buffer
	gz := gzip.NewWriter(&g)
	gz.Write([]byte(text))
	gz.Close()
	zw, _ := zstd.NewWriter(&z)
	zw.Write([]byte(text))
	zw.Close()
	return g.Bytes(), z.Bytes()
}

// What is packed is the same as what is not.
func TestPacked(t *testing.T) {
	const text = "MEM a.c:1 malloc(10) = 0x1\n"
	_, plain := importText(t, []byte(text))
	asGzip, asZstd := packed(text)
	for _, b := range [][]byte{asGzip, asZstd} {
		if _, folder := importText(t, b); describe(t, folder) != describe(t, plain) {
			t.Error(describe(t, folder))
		}
	}
}

// What a file is not is said with the line and what was expected there, and
// nothing is left behind.
func TestRefusals(t *testing.T) {
	zipped, _ := packed(strings.Repeat("nothing that is known\n", 3))
	zippedTrace, zstdTrace := packed("v 10400 3\n" + strings.Repeat("c 1\n", 100))
	for _, test := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"hello\nworld\n", "line 1: expected a record of curl's memory log"},
		{string(zipped), "line 1: expected a record of curl's memory log"},
		{string(zipped[:15]), "line 1: expected"},
		{string(zippedTrace[:len(zippedTrace)-6]), "the packed file is cut off: its end is missing"},
		{string(zstdTrace[:len(zstdTrace)-6]), "the packed file is cut off: its end is missing"},
		{"\x1f\x8b\x08", "begins as a gzip file and is none"},
		{"v 10400 9\n", "line 1: expected version 3 of heaptrack's format at the most"},
		{"v 10000 0\n", "line 1: expected version 1 to 3"},
		{"v 10400 3\ns 5 abc\n", "line 2: expected a length in base 16 and a string so long after s"},
		{"v 10400 3\ns 3 abc\ni zz 1\n", "line 3: expected an address and the number of a string after i"},
		{"v 10400 3\ni 10 7\n", "line 2: expected an address and the number of a string after i"},
		{"v 10400 3\nt 1 0\n", "line 2: expected the number of an address and that of a trace before this one after t"},
		{"v 10400 3\ni 10 0\nt 1 1\n", "line 3: expected the number of an address"},
		{"v 10400 3\ni 10 0\nt 1 0\na 10 2\n", "line 4: expected a size and the number of a trace after a"},
		{"v 10400 3\ni 10 0\nt 1 0\na 10 1\n+ 1\n", "line 5: expected the number of an a line before this one after +"},
		{"v 10400 3\ni 10 0\nt 1 0\na 10 1\n- 0\n", "line 5: expected the number of an a line of which a block lives"},
		{"v 10400 3\nc \n", "line 2: expected a time"},
		{"v 10400 3\nx /bin/true 0\n", "line 2: expected a file with symbols, not a raw one"},
		{"v 10400 3\nQ\n", "line 2: expected a line of heaptrack"},
		{"v 10400 3\ns " + strings.Repeat("a", mostLine+1), "line 2: expected an end of the line within its first 1048576 bytes"},
		{"MEM a.c:1 malloc(10) = 0x1" + strings.Repeat("a", mostLine+1), "line 1: expected an end of the line"},
		{"\x00\x01\x02", "expected a heap profile in pprof's format"},
		{"heap profile: nonsense\n", "expected a heap profile in pprof's format"},
	} {
		parent := t.TempDir()
		_, err := Import(t.Context(), strings.NewReader(test.text), Options{Output: filepath.Join(parent, "x.mallow")})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, not %s", test.text, err, test.want)
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%.40q: left %v behind", test.text, left)
		}
	}
}

func TestNeverWritesOver(t *testing.T) {
	output := filepath.Join(t.TempDir(), "x.mallow")
	os.WriteFile(output, nil, 0o600)
	if _, err := Import(t.Context(), strings.NewReader("MEM a.c:1 malloc(1) = 0x1\n"), Options{Output: output}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Error(err)
	}
	if _, err := Import(t.Context(), strings.NewReader("MEM a.c:1 malloc(1) = 0x1\n"), Options{Output: output + "/x.mallow"}); err == nil || !strings.Contains(err.Error(), "cannot make the recording") {
		t.Error(err)
	}
}

// FuzzImport imports whatever it gets: a recording comes out that can be read
// without a warning, or an error and nothing.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".expected") {
			f.Add(b)
		}
	}
	f.Add(sampledProfile(f, 512<<10, "alloc_objects", "alloc_space", "inuse_objects", "inuse_space"))
	f.Add(sampledProfile(f, 1, "alloc_objects", "alloc_space", "inuse_objects", "inuse_space"))
	f.Add([]byte("heap profile: 1: 10 [2: 20] @ heap_v2/524288\n 1: 10 [2: 20] @ 0x401000 0x402000\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /bin/true\n"))
	f.Add([]byte(jemallocProfile))
	f.Fuzz(func(t *testing.T, b []byte) {
		parent, err := os.MkdirTemp("", "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(parent)
		output := filepath.Join(parent, "x.mallow")
		result, err := Import(t.Context(), bytes.NewReader(b), Options{Output: output, Name: "fuzz"})
		if err != nil {
			if left, _ := os.ReadDir(parent); len(left) > 0 {
				t.Fatalf("left %v behind", left)
			}
			return
		}
		rec, err := recording.Open(output)
		if err != nil {
			t.Fatal(err)
		}
		im := rec.Images[0]
		if len(im.Warnings)+len(rec.Warnings) > 0 {
			t.Fatalf("%q %q", im.Warnings, rec.Warnings)
		}
		var calls uint64
		im.EachStack(func(id uint32, c *recording.Counters) {
			if n, _ := im.Node(im.StackNode(id)); n.Function() != recording.FreeNull && im.Sampling == nil {
				calls += c.Calls
			}
		})
		if im.Sampling == nil && calls != result.Allocations {
			t.Fatalf("%d allocations, %d by stack", result.Allocations, calls)
		}
	})
}

// The number of a line that lost its end may be that of another one.
func TestHeaptrackThatIsCut(t *testing.T) {
	text, err := os.ReadFile("testdata/program.heaptrack")
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndex(text, []byte("\n+ ")) + 1
	whole, _ := importText(t, text[:last])
	for _, end := range []string{"+", "+ ", "+ 1"} {
		cut, _ := importText(t, append(text[:last:last], end...))
		want := fmt.Sprintf("the file is cut off in line %d, which is left out", bytes.Count(text[:last], []byte("\n"))+1)
		if cut.Totals != whole.Totals || !slices.Contains(cut.Notes, want) {
			t.Errorf("%q: %+v, not %+v; %q", end, cut.Totals, whole.Totals, cut.Notes)
		}
	}
}

// What is interrupted while it waits for more leaves nothing behind.
func TestInterrupted(t *testing.T) {
	folder := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	in, out := io.Pipe()
	done := make(chan error)
	go func() {
		_, err := Import(ctx, in, Options{Output: filepath.Join(folder, "x.mallow")})
		done <- err
	}()
	for range 10_000 { // more than finds out the format
		fmt.Fprintln(out, "MEM a.c:1 malloc(3) = 0x10")
	}
	stop()
	if err := <-done; err == nil || err.Error() != "interrupted: nothing was imported" {
		t.Error(err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Error(left)
	}
}
