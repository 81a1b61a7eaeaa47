package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// A side that is a FIFO is none: nobody waits for what comes out of it.
func TestDiffOfAFIFO(t *testing.T) {
	recording, _ := filepath.Abs(handmade + "single-thread.mallow")
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		code, stdout, stderr := mallow("diff", "fifo", recording)
		ended <- fmt.Sprint(code, stdout, stderr)
	}()
	select {
	case got := <-ended:
		if want := "1mallow: OLD: fifo: no recording;"; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is waited for")
	}
}

func TestDiffForms(t *testing.T) {
	one, two, fork := handmade+"single-thread.mallow", handmade+"two-threads.mallow", handmade+"fork.mallow"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{one + " " + one, 0, "mallow: 1,072 allocations, as before"},
		{one + " " + two, 0, "mallow: 1,072 -> 1,000 allocations, 6.7 % fewer"},
		{"--fail " + one + " " + two, 0, "6.7 % fewer"},
		{"--fail " + two + " " + one, 2, "7.2 % more"},
		{"--fail-on bytes,live " + one + " " + fork, 0, "times fewer"},
		{"--fail-on peak " + fork + " " + one, 2, "times more"},
		{"--all " + one + " " + one, 0, "mallow: 1,073 allocations, as before"},
		{"--top 1 --sort bytes " + one + " " + two, 0, "more sites changed"},
		{one + "," + two + " " + two + "," + one, 0, "mallow: 2,072 allocations, as before"},
		{"--fail " + one + " " + one + "," + one, 0, "mallow: 1,072 allocations per recording, as before (1 -> 2 of them)"},
		{"--fail " + two + "," + two + " " + one, 2, "mallow: 1,000 -> 1,072 allocations per recording, 7.2 % more (2 -> 1 of them)"},
		{"--process 4901 " + fork + " " + fork, 0, "mallow: 11 allocations, as before"},
		{"--module libc.so.6 " + one + " " + one, 0, "mallow: 1 allocation, as before"},
		{"--origin libc " + one + " " + one, 0, "mallow: 1 allocation, as before"},
		{"../../internal/importer/testdata/life.log " + one, 0, "mallow: 12 -> 1,072 allocations"},
		{"--json --fail " + one + " " + two, 0, `{"schema":"mallow.diff/1",`},
		{"--color always " + one + " " + two, 0, "\x1b[94m6.7 % fewer"},
	} {
		code, stdout, stderr := mallow(append([]string{"diff"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stdout, c.want) || (stderr != "") != (c.code != 0) {
			t.Errorf("diff %s: %d, %q lacks %q; %q", c.args, code, stdout, c.want, stderr)
		}
	}
}

func TestDiffRefuses(t *testing.T) {
	one := handmade + "single-thread.mallow"
	for args, want := range map[string]string{
		"":                                    "two recordings are compared",
		one:                                   "two recordings are compared",
		one + " " + one + " " + one:           "two recordings are compared",
		one + " nowhere.mallow":               "NEW: nowhere.mallow: no such recording",
		"nowhere\x1b.mallow " + one:           `OLD: nowhere\x1b.mallow: no such recording`,
		one + "," + one + ",x.mallow " + one:  "OLD: x.mallow: no such recording",
		"--fail-on calls " + one + " " + one:  "none of allocations, bytes, peak and live",
		"--top -1 " + one + " " + one:         "from 0 up",
		"--stacks 2 " + one + " " + one:       "--stacks is a flag of --json, and this report is text",
		"--no-source " + one + " " + one:      "--no-source is a flag of --html, and this report is text",
		"--per request " + one + " " + one:    "not a unit of work that both recordings counted; those are: none",
		"--region nosuch " + one + " " + one:  "OLD: there is no region nosuch in it",
		"--process nosuch " + one + " " + one: "OLD: --process nosuch: there is none",
		one + " diff_test.go":                 "NEW: diff_test.go: line 1: expected a record of curl's memory log",
		"--sort cpu " + one + " " + one:       "must be calls, bytes, size, peak, temporary, live or waste",
		"--wrapper ( " + one + " " + one:      "--wrapper: error parsing regexp",
	} {
		code, stdout, stderr := mallow(append([]string{"diff"}, strings.Fields(args)...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("diff %s: %d, stdout %q, stderr %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

func TestDiffThatCannotBeTold(t *testing.T) {
	code, stdout, stderr := mallow("diff", "--fail", handmade+"single-thread.mallow", handmade+"truncated.mallow")
	if want := "whether allocations grew cannot be told: NEW is incomplete and OLD is not"; code != 1 || !strings.Contains(stderr, want) || stdout == "" {
		t.Errorf("%d, %q", code, stderr)
	}
}

// TestDiffJSONKeys holds the keys that scripts rely on.
func TestDiffJSONKeys(t *testing.T) {
	_, stdout, _ := mallow("diff", "--json", handmade+"single-thread.mallow", handmade+"two-threads.mallow")
	var d struct {
		Schema string
		Totals map[string]map[string]any
		Sites  []map[string]any
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	for key := range strings.FieldsSeq("mallocs callocs reallocs strdups wcsdups aligned news allocations frees free_nulls bytes peak_bytes " +
		"live_blocks live_bytes temporary short_lived failed") {
		if pair := d.Totals[key]; pair["old"] == nil || pair["new"] == nil {
			t.Errorf("totals lack %s: %v", key, pair)
		}
	}
	statuses := make(map[any]bool)
	for _, s := range d.Sites {
		for key := range strings.FieldsSeq("function file line module origin status match changes old new stacks growth") {
			if _, ok := s[key]; !ok {
				t.Errorf("a site lacks %s", key)
			}
		}
		statuses[s["status"]] = true
		if (s["old"] == nil) != (s["status"] == "new") || (s["new"] == nil) != (s["status"] == "gone") {
			t.Errorf("%v with %v and %v", s["status"], s["old"], s["new"])
		}
	}
	if d.Schema != "mallow.diff/1" || !statuses["new"] || !statuses["gone"] {
		t.Errorf("%s, %v", d.Schema, statuses)
	}
}

func TestDiffIsTheSameEveryTime(t *testing.T) {
	for _, form := range []string{"--json", "--top=0"} {
		_, first, _ := mallow("diff", form, handmade+"fork.mallow", handmade+"single-thread.mallow")
		for range 20 {
			if _, again, _ := mallow("diff", form, handmade+"fork.mallow", handmade+"single-thread.mallow"); again != first {
				t.Fatalf("%s differs:\n%s\n%s", form, first, again)
			}
		}
	}
}

// TestHostileDiff compares recordings whose names try to steer the terminal.
func TestHostileDiff(t *testing.T) {
	var folders []string
	for n := range 2 {
		im := recordingtest.NewImage(1, "/bin/\x1b[2Jprogram")
		process := recordingtest.NewProcess(im)
		thread := process.Thread()
		evil := im.Symbolic("\x1b]0;owned\x07f(\u202eint)", "a\u202ec.\xff\n", "lib\rx", uint32(7+n))
		caller := im.Symbolic("\x9bmain\x00", "m\t.c", "\x1b[1m", 1)
		for range 3 + n {
			thread.Alloc(im.Stack(1, caller, evil), 10)
		}
		im.Unit(recording.Unit{Name: "\x1b[31mrequest\u202e", Source: recording.UnitOfProgram, Amount: uint64(2 + 3*n)})
		folder := t.TempDir()
		if err := process.Finish().Write(folder, recordingtest.Packed); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	code, stdout, stderr := mallow("diff", "--fail-on", "live", folders[0], folders[1])
	if code != 2 || !strings.Contains(stdout, "owned") || !strings.Contains(stdout, "request") {
		t.Errorf("%d: %s", code, stdout)
	}
	for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e", "\xff", "\x9b", "\x00", "\t"} {
		if strings.Contains(stdout, bad) || strings.Contains(stderr, bad) {
			t.Errorf("the text has %q", bad)
		}
	}
	_, stdout, _ = mallow("diff", "--json", folders[0], folders[1])
	if !json.Valid([]byte(stdout)) || strings.ContainsAny(stdout, "\x1b\x07\x00") {
		t.Errorf("JSON: %q", stdout)
	}
}
