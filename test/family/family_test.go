// Package family holds the tree of processes in a report against families that are known.
package family

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

func record(t *testing.T, status int, arguments ...string) (harness.Report, string) {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{Arguments: arguments})
	if result.Status != status {
		t.Fatalf("%s, want status %d\n%s", result.Ending(), status, result.Errors)
	}
	return harness.ReadReport(t, recording), recording
}

func shell(t *testing.T, script string) (harness.Report, string) {
	t.Helper()
	return record(t, 0, "/bin/sh", "-c", script)
}

// lines writes each process as "program<began<parent's program", sorted.
func lines(report harness.Report) []string {
	name := func(p harness.Process) string { return filepath.Base(p.Executable) }
	var all []string
	for _, p := range report.Processes {
		line := name(p) + "<" + p.Begun
		if p.Parent != nil {
			line += "<" + name(report.Processes[*p.Parent])
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func times(n int, line string) []string { return slices.Repeat([]string{line}, n) }

func expect(t *testing.T, report harness.Report, want ...[]string) {
	t.Helper()
	all := slices.Concat(want...)
	slices.Sort(all)
	if got := lines(report); !slices.Equal(got, all) {
		t.Errorf("processes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(all, "\n"))
	}
}

// shellName is the program behind /bin/sh.
func shellName(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path)
}

func TestForks(t *testing.T) {
	report, _ := record(t, 0, harness.Program(t, "programs/children"))
	expect(t, report, times(1, "children<first"), times(20, "children<fork<children"))
}

func TestForksWithinForks(t *testing.T) {
	report, _ := record(t, 0, harness.Program(t, "programs/grandchildren"))
	expect(t, report, times(1, "grandchildren<first"), times(7, "grandchildren<fork<grandchildren"))
	parents := make(map[int]bool)
	for _, p := range report.Processes {
		if p.Parent != nil {
			parents[*p.Parent] = true
		}
	}
	if len(parents) != 7 {
		t.Errorf("%d of 8 processes are parents, want 7: each is the next one's", len(parents))
	}
}

func TestExecInPlace(t *testing.T) {
	report, _ := record(t, 7, harness.Program(t, "programs/chain"))
	expect(t, report, times(1, "chain<first"), times(3, "chain<exec<chain"))
	exits := 0
	for _, p := range report.Processes {
		if p.ExitStatus != nil {
			if exits++; *p.ExitStatus != 7 {
				t.Errorf("exit status %d, want 7", *p.ExitStatus)
			}
		}
	}
	if exits != 1 {
		t.Errorf("%d of the images have an exit status, want the last one alone", exits)
	}
}

// vfork with exec, posix_spawn, system and popen.
func TestSpawned(t *testing.T) {
	report, _ := record(t, 0, harness.Program(t, "programs/started"))
	sh := shellName(t)
	expect(t, report, times(1, "started<first"), times(2, "started<child<started"), times(2, sh+"<child<started"),
		times(2, "started<exec<"+sh))
}

// The parent of a daemon is the one that forked it, although that has ended and another has taken its place.
func TestDaemon(t *testing.T) {
	expect(t, harness.RecordDaemon(t), times(1, "background<first"), times(1, "background<fork<background"))
}

// The kernel adds a process's CPU time to that of the one that waits for it. Where nobody of the family did it is in no sum.
func TestTimeOfProcessesThatNobodyWaitedFor(t *testing.T) {
	busy := harness.Program(t, "programs/churn")
	for name, test := range map[string]struct {
		script string
		known  bool
	}{
		"all":                  {busy, true},
		"still runs":           {"{ " + busy + "; exec sleep 1; } & sleep 0.5", false},
		"ended before":         {"(" + busy + " & ) ; sleep 1; exit 0", false},
		"nobody waits":         {`exec perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV unless fork; sleep 1' ` + busy, false},
		"one that does little": {"/bin/sleep 1 & " + busy, true},
	} {
		t.Run(name, func(t *testing.T) {
			report, _ := shell(t, test.script)
			if used := report.Recordings[0].UserSeconds; (used != nil) != test.known {
				t.Errorf("the time is known: %v, want %v", used != nil, test.known)
			}
			for _, advice := range report.Advice {
				if advice.Saves.CPUShare != nil && !test.known {
					t.Errorf("%s saves %v of a time that is not known", advice.Title, *advice.Saves.CPUShare)
				}
			}
		})
	}
}

func TestPipeline(t *testing.T) {
	report, recording := shell(t, "/usr/bin/seq 2000 | /usr/bin/sort -r | /usr/bin/uniq -c | /usr/bin/tail -n 1 >/dev/null; exit 0")
	sh := shellName(t)
	for _, program := range []string{"seq", "sort", "uniq", "tail"} {
		of := func(line string) bool { return strings.HasPrefix(line, program+"<") && strings.HasSuffix(line, "<"+sh) }
		if n := len(slices.DeleteFunc(lines(report), func(line string) bool { return !of(line) })); n != 1 {
			t.Errorf("%d processes of %s begun by %s, want 1:\n%s", n, program, sh, strings.Join(lines(report), "\n"))
		}
	}
	// One process of several, by name and by number, has its own figures.
	for _, p := range report.Processes {
		if filepath.Base(p.Executable) != "sort" {
			continue
		}
		for _, selector := range []string{"sort", fmt.Sprint(p.PID)} {
			result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--json", "--process", selector, recording}})
			if want := fmt.Sprintf(`"totals":{"mallocs":%d,`, p.Totals.Mallocs); selector == "sort" && !strings.Contains(result.Output, want) {
				t.Errorf("--process %s: %s lacks %s", selector, result.Output[:min(300, len(result.Output))], want)
			}
			if result.Status != 0 || strings.Contains(result.Output, "/usr/bin/seq\"") {
				t.Errorf("--process %s: %s, or another process is in it", selector, result.Ending())
			}
		}
	}
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--process", "nosuch", recording}})
	if result.Status != 1 || !strings.Contains(result.Errors, "--process nosuch: there is none; there are ") {
		t.Errorf("--process nosuch: %s, %q", result.Ending(), result.Errors)
	}
}

// Three objects and a library by make -j2: each compiler, assembler and linker has its place.
func TestMake(t *testing.T) {
	for _, tool := range []string{"make", "gcc", "as", "ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	folder := harness.TempDir(t)
	files := map[string]string{"Makefile": "CC = /usr/bin/gcc\nall: program\nprogram: main.o one.o two.o\n\t$(CC) -o $@ $^\n"}
	files["main.c"] = "int one(void), two(void);\nint main(void) { return one() + two(); }\n"
	files["one.c"] = "int one(void) { return 1; }\n"
	files["two.c"] = "int two(void) { return -1; }\n"
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report, recording := record(t, 0, "/usr/bin/make", "-s", "-j2", "-C", folder)
	count := make(map[string]int)
	for _, line := range lines(report) {
		program, _, _ := strings.Cut(line, "<")
		count[program]++
	}
	if count["make"] < 1 || count["cc1"] != 3 {
		t.Errorf("%d of make, %d of cc1, want 1 and 3: %v", count["make"], count["cc1"], lines(report))
	}
	for i, p := range report.Processes {
		if filepath.Base(p.Executable) == "cc1" && (p.Parent == nil || *p.Parent >= i || report.Processes[*p.Parent].Parent == nil) {
			t.Errorf("cc1 %d is not two below make", p.PID)
		}
	}
	text := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", recording}}).Output
	if !strings.Contains(text, "cc1, 3 processes") {
		t.Errorf("the compilers are not together:\n%s", text)
	}
}

// Many short children are neither dropped nor listed one by one.
func TestManyShortChildren(t *testing.T) {
	report, recording := shell(t, "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done")
	expect(t, report, times(1, shellName(t)+"<first"), times(400, "true<child<"+shellName(t)))
	text := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", recording}}).Output
	if n := strings.Count(text, "\n"); n > 60 || !strings.Contains(text, "true, 400 processes") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

func compiled(t *testing.T, name string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(harness.TempDir(t), strings.TrimSuffix(name, ".c"))
	source := filepath.Join(harness.Root(), "test", "family", "testdata", name)
	arguments := append([]string{cc, "-O1", "-fno-builtin", "-o", program, source}, flags...)
	if result := harness.Run(t, harness.Command{Arguments: arguments}); result.Status != 0 {
		t.Skip(result.Errors)
	}
	return program
}

// Where many brothers stand in one line, it says how those ended that did not end well.
func TestHowManyBrothersEnded(t *testing.T) {
	report, recording := shell(t, `i=0; while [ $i -lt 12 ]; do /bin/sh -c 'case $0 in 3) kill -9 $$;; 4|5) exit 7;; esac; exit 0' $i; i=$((i+1)); done; exit 0`)
	if slices.ContainsFunc(report.Processes, func(p harness.Process) bool { return p.ExitStatus == nil }) {
		t.Skip("the kernel does not tell how processes end")
	}
	text := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", recording}}).Output
	if want := shellName(t) + ", 12 processes, 2 exit 7, 1 signal 9\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func TestUnrecordedChildrenAreNamed(t *testing.T) {
	for _, test := range []struct{ name, program, script, reason string }{
		{"static", compiled(t, "quiet.c", "-static"), "%s; exit 0", "linked statically"},
		{"two of them", compiled(t, "quiet.c", "-static"), "%[1]s & %[1]s; wait", "linked statically"},
		{"without LD_PRELOAD", compiled(t, "quiet.c"), "env -i %s; exit 0", "LD_PRELOAD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, recording := shell(t, fmt.Sprintf(test.script, test.program))
			want := 1 + strings.Count(test.script, "&")
			if len(report.Unrecorded) != 1 || report.Unrecorded[0].Executable != test.program ||
				report.Unrecorded[0].Processes != want || !strings.Contains(report.Unrecorded[0].Reason, test.reason) {
				t.Errorf("unrecorded: %+v, want %d of %s, %s", report.Unrecorded, want, test.program, test.reason)
			}
			if !report.Quality.Incomplete {
				t.Error("not said to be incomplete")
			}
			text := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", recording}}).Output
			if !strings.Contains(text, ", not recorded: ") {
				t.Errorf("no word of it:\n%s", text)
			}
		})
	}
	t.Run("gone at once", func(t *testing.T) {
		program := compiled(t, "quick.c", "-static")
		report, _ := shell(t, "/bin/false; i=0; while [ $i -lt 20 ]; do "+program+"; i=$((i+1)); done; exit 0")
		heard := slices.ContainsFunc(report.Processes, func(p harness.Process) bool {
			return filepath.Base(p.Executable) == "false" && p.ExitStatus != nil && *p.ExitStatus == 1
		})
		if !heard {
			t.Skip("the kernel does not tell what processes execute")
		}
		processes := 0
		for _, u := range report.Unrecorded {
			processes += u.Processes
		}
		if processes != 20 {
			t.Errorf("%d processes, want 20: %+v", processes, report.Unrecorded)
		}
	})
	t.Run("32-bit", func(t *testing.T) {
		program := compiled(t, "quiet.c", "-m32")
		if report, _ := shell(t, program+"; exit 0"); len(report.Unrecorded) != 1 || !strings.Contains(report.Unrecorded[0].Reason, "32-bit") {
			t.Errorf("unrecorded: %+v", report.Unrecorded)
		}
	})
	t.Run("setuid", func(t *testing.T) {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil || os.Getuid() != 0 {
			t.Skip("needs root and setpriv")
		}
		program := compiled(t, "quiet.c")
		if err := os.Chmod(program, os.ModeSetuid|0o755); err != nil {
			t.Fatal(err)
		}
		folder := harness.TempDir(t)
		os.Chmod(folder, 0o777)
		recording := filepath.Join(folder, "run.mallow")
		result := harness.Run(t, harness.Command{Arguments: []string{setpriv, "--reuid=65534", "--regid=65534", "--clear-groups",
			harness.CLI(t), "record", "-o", recording, "--", "/bin/sh", "-c", program + "; exit 0"}})
		report := harness.ReadReport(t, recording)
		if len(report.Unrecorded) != 1 || !strings.Contains(report.Unrecorded[0].Reason, "rights") && !strings.Contains(report.Unrecorded[0].Reason, "setuid") {
			t.Errorf("unrecorded: %+v\n%s", report.Unrecorded, result.Errors)
		}
	})
	t.Run("its own malloc", func(t *testing.T) {
		report, _ := shell(t, compiled(t, "own_malloc.c", "-rdynamic")+"; exit 0")
		if !report.Warned("another malloc stands before that of libmallow") || !report.Quality.Incomplete {
			t.Errorf("incomplete %v, %q", report.Quality.Incomplete, report.Quality.Warnings)
		}
	})
	t.Run("valgrind's malloc", func(t *testing.T) {
		valgrind, err := exec.LookPath("valgrind")
		if err != nil {
			t.Skip(err)
		}
		program := harness.Program(t, "programs/known")
		for tool, replaces := range map[string]bool{"memcheck": true, "none": false} {
			report, _ := shell(t, valgrind+" -q --tool="+tool+" "+program+" >/dev/null; exit 0")
			if report.Warned("another malloc stands before that of libmallow") != replaces {
				t.Errorf("%s: %q", tool, report.Quality.Warnings)
			}
		}
	})
	t.Run("none", func(t *testing.T) {
		if report, _ := shell(t, "/bin/sleep 0.3; /bin/sleep 0.2 & wait"); len(report.Unrecorded) != 0 || report.Quality.Incomplete {
			t.Errorf("unrecorded: %+v, incomplete %v", report.Unrecorded, report.Quality.Incomplete)
		}
	})
}

// A handler that interrupts a record forks, and the child goes on in it: neither spoils what the other counts.
func TestForksWithinRecords(t *testing.T) {
	t.Run("of a thread", func(t *testing.T) { forkWithinRecords(t, 0) })
	// It allocates once before.
	t.Run("of a thread that ends", func(t *testing.T) { forkWithinRecords(t, 1, "late") })
}

// Where only samples are recorded, threads of a child may come to one before the thread that forked does, and several at
// once.
func TestThreadsFirstInChild(t *testing.T) {
	const threads = 4
	result, recording := harness.Record(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/child_threads"), fmt.Sprint(threads)}, Flags: []string{"--sample", "64K"},
	})
	if result.Status != 0 {
		t.Fatalf("%s: %s", result.Ending(), result.Errors)
	}
	report := harness.ReadReport(t, recording)
	expect(t, report, times(1, "child_threads<first"), times(2, "child_threads<fork<child_threads"))
	for _, p := range report.Processes {
		// Estimates with an error of a tenth.
		const made = (threads + 1) * 20000
		if got := p.Origins.Program.Allocations; p.Begun == "fork" && (got < made/2 || got > made*3/2) {
			t.Errorf("%d allocations, want about %d", got, made)
		}
	}
}

func forkWithinRecords(t *testing.T, before uint64, how ...string) {
	const forks, after = 30, 300
	arguments := append([]string{harness.Program(t, "programs/fork_in_record"), fmt.Sprint(forks)}, how...)
	result, recording := harness.Record(t, harness.Command{Arguments: arguments})
	var allocations uint64
	if _, err := fmt.Sscan(result.Output, &allocations); err != nil || result.Status != 0 {
		t.Fatalf("%s: %q\n%s", result.Ending(), result.Output, result.Errors)
	}
	report := harness.ReadReport(t, recording)
	expect(t, report, times(1, "fork_in_record<first"), times(forks, "fork_in_record<fork<fork_in_record"))
	for _, p := range report.Processes {
		got := p.Origins.Program
		if p.Begun == "first" && (got.Allocations != before+allocations || got.LiveBlocks != 0) {
			t.Errorf("parent: %d allocations, %d of them live; want %d, none", got.Allocations, got.LiveBlocks, before+allocations)
		}
		// The call that was interrupted is the parent's; where none was, one is added.
		if p.Begun != "first" && got.Allocations != after && got.Allocations != after+1 {
			t.Errorf("child: %d allocations, want %d or one more", got.Allocations, after)
		}
	}
	if report.Quality.Incomplete {
		t.Errorf("incomplete: %q", report.Quality.Warnings)
	}
}
