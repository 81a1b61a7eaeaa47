// Package exports holds what `mallow report --format` writes against the programs that it is written for.
package exports

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/test/harness"
)

const text = "one two three two three three\n"

// record compiles and records examples/words.c.
func record(t *testing.T) (recording string, report harness.Report) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "words")
	source := filepath.Join(harness.Root(), "examples", "words.c")
	compiled := harness.Run(t, harness.Command{Arguments: []string{"cc", "-g", "-O2", "-fno-builtin", "-Wl,--build-id", "-o", program, source}})
	if compiled.Status != 0 {
		t.Skipf("cc: %s", compiled.Errors)
	}
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program}, Input: text})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	return recording, harness.ReadReport(t, recording)
}

// export writes the recording in a form to a file.
func export(t *testing.T, recording, name string, flags ...string) string {
	t.Helper()
	result := harness.Run(t, harness.Command{Arguments: append(append([]string{harness.CLI(t), "report"}, flags...), recording)})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(result.Output), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tool runs go tool pprof.
func tool(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", append([]string{"tool", "pprof"}, arguments...)...)
	command.Dir = harness.Root()
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go tool pprof %q: %v\n%s", arguments, err, output)
	}
	return string(output)
}

func wants(t *testing.T, what, output string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !regexp.MustCompile(want).MatchString(output) {
			t.Errorf("%s lacks %s:\n%.4000s", what, want, output)
		}
	}
}

func TestPprofTool(t *testing.T) {
	recording, report := record(t)
	pb := export(t, recording, "words.pb.gz", "--format", "pprof", "--all")
	totals := report.Totals

	for index, total := range map[string]int64{
		"alloc_objects": int64(totals.Allocations), "alloc_space": int64(totals.Bytes),
		"inuse_objects": totals.LiveBlocks, "inuse_space": totals.LiveBytes,
	} {
		unit := ""
		if strings.HasSuffix(index, "space") {
			unit = "B"
		}
		wants(t, index, tool(t, "-top", "-unit="+map[string]string{"": "auto", "B": "B"}[unit], "-nodefraction=0", "-sample_index="+index, pb),
			"Type: "+index, fmt.Sprintf(`of %d%s total`, total, unit), `main`)
	}
	wants(t, "the default", tool(t, "-top", pb), "Type: alloc_space", "File: words", "Build ID: [0-9a-f]{40}")
	wants(t, "-raw", tool(t, "-raw", pb), `call:\[realloc\]`, `bytes:\[`, `words\S* [0-9a-f]{40} \[FN\]\[FL\]\[LN\]\[IN\]`)

	// read_word is inlined into main.
	wants(t, "-peek", tool(t, "-peek=read_word", "-sample_index=alloc_objects", pb), `main \(inline\)`)
	wants(t, "-tree", tool(t, "-tree", "-sample_index=alloc_objects", pb), `read_word`, `main`)
	wants(t, "-noinlines", tool(t, "-top", "-noinlines", "-sample_index=alloc_objects", pb), `main`)
	if output := tool(t, "-top", "-noinlines", "-sample_index=alloc_objects", pb); strings.Contains(output, "read_word") {
		t.Errorf("an inlined function is a frame of its own:\n%s", output)
	}
	wants(t, "-lines", tool(t, "-top", "-lines", "-sample_index=alloc_objects", pb), `words\.c:2\d`)
	wants(t, "-list", tool(t, "-list=read_word", "-sample_index=alloc_objects", pb), `text = realloc\(text, length \+ 2\);`)
	wants(t, "-tagfocus", tool(t, "-top", "-tagfocus=call=strdup", "-sample_index=alloc_objects", pb), `\n\s+6 +\S+ +\S+ +6 +\S+ +find`)
	wants(t, "-tags", tool(t, "-tags", "-sample_index=alloc_objects", pb), `call: Total`, `strdup`)
	wants(t, "-dot", tool(t, "-dot", pb), `digraph "words"`)
	if _, err := exec.LookPath("dot"); err == nil {
		wants(t, "-svg", tool(t, "-svg", pb), `<svg`)
	}
	if rows := rowsOf(tool(t, "-top", "-sample_index=alloc_objects", "-diff_base="+pb, pb)); len(rows) > 0 {
		t.Errorf("there is a difference to itself: %q", rows)
	}
}

// rowsOf returns the lines below the headings of -top.
func rowsOf(top string) []string {
	_, table, _ := strings.Cut(top, "cum%\n")
	return strings.FieldsFunc(table, func(r rune) bool { return r == '\n' })
}

func TestPprofWeb(t *testing.T) {
	recording, _ := record(t)
	pb := export(t, recording, "words.pb.gz", "--format", "pprof")
	address := fmt.Sprintf("127.0.0.1:%d", harness.FreePort(t))
	server := exec.Command("go", "tool", "pprof", "-no_browser", "-http="+address, pb)
	server.Dir = harness.Root()
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		syscall.Kill(-server.Process.Pid, syscall.SIGKILL) // whoever runs the tests may ignore the key's signal, and so would it
		server.Wait()
	}()
	for view, want := range map[string]string{
		"top": "read_word", "flamegraph": "read_word", "peek?f=read_word": "read_word", "source?f=read_word": `deadsrc.*text = realloc`,
		"top?si=inuse_space": "read_word",
	} {
		wants(t, view, fetch(t, "http://"+address+"/ui/"+view), want)
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); {
		answer, err := http.Get(url)
		if err != nil { // not listening yet
			time.Sleep(100 * time.Millisecond)
			continue
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %v\n%.1000s", url, answer.Status, err, body)
		}
		return string(body)
	}
	t.Fatalf("%s: no answer", url)
	return ""
}
