package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const handmade = "../../format/testdata/handmade/"

func mallow(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// What is proposed can be pasted into a shell, whatever the recording's name.
func TestProposals(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "it's $(touch oh).mallow")
	if err := os.CopyFS(folder, os.DirFS(handmade+"single-thread.mallow")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(folder))
	name := filepath.Base(folder)
	const word = `'it'\''s $(touch oh).mallow`
	if _, stdout, _ := mallow("report", name); !strings.Contains(stdout, "|waste "+word+"';  mallow diff OLD NEW\n") {
		t.Error(stdout)
	}
	if _, stdout, _ := mallow("report", "--pack", name); !strings.Contains(stdout, "next: mallow report "+word+"pack', here") {
		t.Error(stdout)
	}
}

func TestReportForms(t *testing.T) {
	recording := handmade + "single-thread.mallow"
	for _, c := range []struct{ args, want string }{
		{recording, "mallow: 1,072 allocations, 1,043 frees"},
		{"--all " + recording, "mallow: 1,073 allocations, 1,044 frees"},
		{"--format text --top 1 " + recording, "6 more sites"},
		{"--sort peak " + recording, "mallow: 1,072"},
		{"--format memanalyze " + recording, "Allocations: 1072\nOperations: 1072\n"},
		{"--format memanalyze --all " + recording, "Allocations: 1073\n"},
		{"--format memanalyze-2017 " + recording, "Strdups:  40\n"},
		{"--json " + recording, `{"schema":"mallow.report/1",`},
		{"--cpu " + handmade + "sampled.mallow", "mallow: 1.00 s of CPU time in 200 samples, malloc and free 15 %"},
		{"--process 4901 " + handmade + "fork.mallow", "mallow: 11 allocations"},
		{"--include 0x120f$ " + recording, "mallow: 1,000 allocations, 0 B at the peak"},
		{"--exclude 0x120f --exclude libtable " + recording, "only stacks without 0x120f or libtable: 0.7 % of 1,072 allocations"},
		{"--origin libraries,libc " + recording, "mallow: 66 allocations"},
		{"--module libc.so.6 " + recording, "mallow: 1 allocation, "},
		{"--module libc.so.6 --format csv " + recording, ",libc,1,"},
		{"--module libtable.so.1 " + recording, "at sites in libtable.so.1"},
		{"--max-size 16 " + recording, "mallow: 1,040 allocations"},
		{"--thread main " + handmade + "two-threads.mallow", "mallow: 500 allocations, 500 frees"},
		{"--by module " + recording, "  libtable.so.1\n"},
		{"--sort waste " + recording, "mallow: 1,072"},
		{"--sort cpu " + handmade + "sampled.mallow", "mallow: 10 allocations"},
		{"--json --by type " + recording, `"grouped_by":"type"`},
		{"--json --max-size 16 --include demo " + recording, `"restricted":{"include":["demo"]`},
		{"--tree " + recording, "tree of calls, outermost first"},
		{"--tree --sort bytes --top 1 " + recording, "branches left out"},
		{"--callers --top 2 " + recording, "site, and who calls it"},
		{"--advice 0 " + recording, "what to do\n  1. demo+0x120f: "},
		{"--color always " + recording, "\x1b[1m1,072 allocations"},
		{recording + " " + handmade + "fork.mallow", "mallow: 1,086 allocations"},
	} {
		code, stdout, stderr := mallow(append([]string{"report"}, strings.Fields(c.args)...)...)
		if code != 0 || !strings.Contains(stdout, c.want) || stderr != "" {
			t.Errorf("report %s: %d, %q lacks %q; %s", c.args, code, stdout, c.want, stderr)
		}
	}
}

func TestPageToStandardOutput(t *testing.T) {
	one, _ := filepath.Abs(handmade + "single-thread.mallow")
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"report", "--html", "-", one}, {"diff", "--html", "-", one, one}, {"history", "--db", "none.db", "--html", "-"}} {
		if code, stdout, stderr := mallow(args...); code != 0 || !strings.HasPrefix(stdout, "<!doctype html>") {
			t.Errorf("%q: %d, %.50q, %s", args, code, stdout, stderr)
		}
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
}

// A share is of what is in the table, as it is in the text.
func TestSharesOfATable(t *testing.T) {
	recording := handmade + "single-thread.mallow"
	for args, sum := range map[string]float64{
		recording:              1,
		"--all " + recording:   1,
		"--top 1 " + recording: 1000. / 1072,
		"--max-size 16 --include demo " + recording: 1,
	} {
		code, stdout, stderr := mallow(append([]string{"report", "--format", "csv"}, strings.Fields(args)...)...)
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if code != 0 || err != nil || len(rows) < 2 {
			t.Fatalf("%s: %d, %v, %s", args, code, err, stderr)
		}
		column := slices.Index(rows[0], "share")
		var shares float64
		for _, row := range rows[1:] {
			share, _ := strconv.ParseFloat(row[column], 64)
			shares += share
		}
		if math.Abs(shares-sum) > 1e-5 {
			t.Errorf("%s: shares make %f, want %f", args, shares, sum)
		}
	}
}

func TestReportRefuses(t *testing.T) {
	recording := handmade + "single-thread.mallow"
	newer := filepath.Join(t.TempDir(), "newer.mallow")
	os.Mkdir(newer, 0o700)
	image := recordingtest.Goldens()[0].Images[0].Bytes()
	image[8] = 6
	os.WriteFile(filepath.Join(newer, "image-1-2-0"), image, 0o600)
	for args, want := range map[string]string{
		"":                                              "no recording given",
		"nowhere.mallow":                                "no such recording",
		"/dev/null":                                     "a folder NAME.mallow",
		newer:                                           "written by a newer mallow (format 6, this one reads 5)",
		"--format xml " + recording:                     "there are text, json",
		"--sort name " + recording:                      "must be calls, bytes",
		"--color blue " + recording:                     "must be auto, always or never",
		"--cpu " + recording:                            "there are no CPU samples in it",
		"--process nosuch " + recording:                 "--process nosuch: there is none; there are demo",
		"--include ( " + recording:                      "--include: error parsing regexp",
		"--origin other " + recording:                   "--origin other: there are program, libraries and libc",
		"--module nosuch " + recording:                  "--module nosuch: there is none; there are demo",
		"--thread 7 " + recording:                       "--thread 7: there is none; there are main",
		"--phase steady " + recording:                   "no phases can be told apart",
		"--max-size x " + recording:                     "must be a number of bytes",
		"--by name " + recording:                        "must be function, line, module or type",
		"--tree --callers " + recording:                 "one of them",
		"--tree --by type " + recording:                 "--by",
		"--tree --sort size " + recording:               "sizes and CPU time do not add up",
		"--pack --max-size 1 " + recording:              "does not go with --max-size",
		"--json --tree " + recording:                    "forms of the text",
		"--metric bytes " + recording:                   "--metric is a flag of --format folded, and this report is text",
		"--metric bytes --json " + recording:            "--metric is a flag of --format folded, and this report is json",
		"--stacks 3 --format csv " + recording:          "--stacks is a flag of --json, and this report is csv",
		"--no-source " + recording:                      "--no-source is a flag of --html, --web and --format html, and this report is text",
		"--by type --format folded " + recording:        "--by is a flag of text, --json and --format csv, and this report is folded",
		"--advice 0 --json " + recording:                "--advice is a flag of text, and this report is json",
		"--top 3 --format pprof " + recording:           "--top is a flag of text, --json, --cpu and --format csv, and this report is pprof",
		"--pack --stacks 3 " + recording:                "--pack packs the whole of a recording, and does not go with --stacks",
		"--sort cpu " + recording:                       "there are no CPU samples in it",
		"--cpu --max-size 1 " + recording:               "--process is the only restriction",
		"--format memanalyze --max-size 1 " + recording: "they are not known",
		"--top -1 " + recording:                         "from 0 up",
		"--wrapper ( " + recording:                      "--wrapper: error parsing regexp",
		recording + " nowhere\x1b[2J.mallow":            `nowhere\x1b[2J.mallow: no such recording`,
	} {
		code, stdout, stderr := mallow(append([]string{"report"}, strings.Fields(args)...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("report %s: %d, stdout %q, stderr %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// TestReportJSONKeys holds the keys that scripts rely on.
func TestReportJSONKeys(t *testing.T) {
	_, stdout, _ := mallow("report", "--json", handmade+"single-thread.mallow")
	var report map[string]any
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	totals := "mallocs callocs reallocs strdups wcsdups aligned news allocations frees free_nulls bytes peak_bytes " +
		"live_blocks live_bytes temporary short_lived failed"
	frame := "function file line module"
	has := func(where string, value any, keys string) {
		t.Helper()
		object, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("%s is no object", where)
		}
		for _, key := range strings.Fields(keys) {
			if _, ok := object[key]; !ok {
				t.Errorf("%s lacks %s", where, key)
			}
		}
	}
	has("the report", report, "schema totals origins processes sites advice quality")
	has("totals", report["totals"], totals)
	has("origins", report["origins"], "program libraries libc")
	for _, origin := range []string{"program", "libraries", "libc"} {
		has(origin, report["origins"].(map[string]any)[origin], totals)
	}
	has("quality", report["quality"], "truncated_stacks incomplete peak_error_bytes warnings")
	site := report["sites"].([]any)[0].(map[string]any)
	has("a site", site, frame+" origin allocations share bytes peak_bytes live_blocks live_bytes temporary short_lived size_min size_max stacks")
	stack := site["stacks"].([]any)[0].(map[string]any)
	has("a stack", stack, "allocations frames")
	has("a frame", stack["frames"].([]any)[0], frame)
	advice, ok := report["advice"].([]any)
	if !ok || len(advice) == 0 {
		t.Fatalf("advice: %v", report["advice"])
	}
	has("an advice", advice[0], "rule title remedy sites saves evidence")
	has("what it saves", advice[0].(map[string]any)["saves"], "allocations share cpu_share cpu_share_basis")
}

func TestReportIsTheSameEveryTime(t *testing.T) {
	for _, form := range []string{"--format=text", "--format=json"} {
		_, first, _ := mallow("report", form, handmade+"fork.mallow", handmade+"single-thread.mallow")
		for range 20 {
			if _, again, _ := mallow("report", form, handmade+"fork.mallow", handmade+"single-thread.mallow"); again != first {
				t.Fatalf("%s differs:\n%s\n%s", form, first, again)
			}
		}
	}
}

// TestHostileNames reports a recording whose names try to steer the terminal,
// in every form of the text.
func TestHostileNames(t *testing.T) {
	im := recordingtest.NewImage(1, "/bin/\x1b[2Jprogram")
	process := recordingtest.NewProcess(im)
	thread := process.Thread()
	evil := im.Symbolic("\x1b]0;owned\x07f", "a\u202ec.\xff\n", "lib\rx", 7)
	vector := im.Symbolic("std::vector<\x1b[31mT\u202e\xff, x>::push_back(\r)", "v\x1b.h", "lib\rx", 1)
	outer := im.Symbolic("\u2066<=HYPERLINK(1)>\n", "/\x07/\x9b", "lib\x1by", 2)
	for range 2000 {
		thread.Free(thread.Alloc(im.Stack(recording.New, outer, evil, vector), 10))
		thread.Alloc(im.Stack(recording.Malloc, outer, evil), 20)
	}
	folder := t.TempDir()
	if err := process.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{
		"", "--by function", "--by module", "--by type", "--tree", "--callers", "--advice 0 --sort waste",
		"--include \x1b --exclude \u202e\x07 --max-size 64 --top 1", "--module lib\rx", "--wrapper owned --tree",
		"--thread \x1b[2J", "--module \x1b[2J", "--phase \x1b[2J", "--process \x1b[2J", "--region \x1b[2J", "--origin \x1b[2J", "--include (\x1b[2J",
	} {
		var args []string
		for _, flag := range strings.Split(flags, " ") {
			if flag != "" {
				args = append(args, flag)
			}
		}
		_, stdout, stderr := mallow(append(append([]string{"report"}, args...), folder)...)
		text := stdout + stderr
		if text == "" {
			t.Errorf("%q says nothing", flags)
		}
		for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e", "\u2066", "\xff", "\x9b"} {
			if strings.Contains(text, bad) {
				t.Errorf("report %q has %q:\n%q", flags, bad, text)
			}
		}
	}
	for _, flags := range [][]string{{}, {"--by", "type"}, {"--by", "module", "--include", "\x1b"}} {
		_, stdout, _ := mallow(append(append([]string{"report", "--json"}, flags...), folder)...)
		if !json.Valid([]byte(stdout)) {
			t.Errorf("no JSON: %q", stdout)
		}
	}
}

// TestDeepStacks reports stacks deeper than any that the recorder makes.
func TestDeepStacks(t *testing.T) {
	im := recordingtest.NewImage(1, "/bin/deep")
	process := recordingtest.NewProcess(im)
	thread := process.Thread()
	for _, name := range []string{"_start", "recurse"} {
		frame := im.Symbolic(name, "", "", 0)
		stack := make([]recordingtest.Frame, 50_000)
		for i := range stack {
			stack[i] = frame
		}
		for i := range 40 {
			thread.Alloc(im.Stack(recording.Malloc, stack[:len(stack)-1000*i]...), 10)
		}
	}
	folder := t.TempDir()
	if err := process.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--tree", "--callers", "--by=type", "--include=recurse"} {
		if code, stdout, stderr := mallow("report", "--top", "0", flag, folder); code != 0 || !strings.Contains(stdout, "recurse") {
			t.Errorf("%s: %d, %.300s %s", flag, code, stdout, stderr)
		}
	}
}

// A page that is written anew is where a link says, for those who may read it.
func TestPageBehindALink(t *testing.T) {
	recording, _ := filepath.Abs(handmade + "single-thread.mallow")
	t.Chdir(t.TempDir())
	os.Mkdir("www", 0o700)
	os.WriteFile("www/page.html", nil, 0o640)
	os.Chmod("www/page.html", 0o640)
	if err := os.Symlink("www/page.html", "latest.html"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := mallow("report", "--html", "latest.html", recording); code != 0 {
		t.Fatal(stderr)
	}
	link, err := os.Lstat("latest.html")
	if err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", link, err)
	}
	if page, err := os.Stat("www/page.html"); err != nil || page.Size() == 0 || page.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", page, err)
	}
	if left, _ := os.ReadDir("www"); len(left) != 1 {
		t.Error(left)
	}
}
