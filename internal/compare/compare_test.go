package compare

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mallow/internal/measure"
)

// spin is a loop of the shell, of so many turns.
func spin(turns int) []string {
	return []string{"sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); done; echo done", turns)}
}

// options are those of the command line, with few and short rounds.
func options(args ...string) Options {
	return Options{Args: args, Rounds: 8, Limit: time.Hour, Timeout: time.Minute, Seed: 1}
}

func quoteAll(args []string) string {
	var words []string
	for _, arg := range args {
		words = append(words, "'"+arg+"'")
	}
	return strings.Join(words, " ")
}

func mustRun(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTwoCommands(t *testing.T) {
	o := options(spin(1000)...)
	o.Versus = quoteAll(spin(60000))
	r := mustRun(t, o)
	if v := r.Rows[1].Ratios.CPU.Verdict(); v != "slower" || r.Stopped != Decided || r.Rounds != 8 {
		t.Errorf("%s after %d rounds, %s: %+v", v, r.Rounds, r.Stopped, r.Rows[1].Ratios)
	}
	if r.Rows[0].Ratios != nil || r.Rows[1].Name != o.Versus {
		t.Errorf("%+v", r.Rows)
	}
}

// Which side runs first is decided by the seed alone.
func TestOrderOfRounds(t *testing.T) {
	places := func(seed uint64) (all []int) {
		o := options("sh", "-c", "exit 0") // of so few rounds all are run, whatever they show
		o.Versus, o.Seed = "sh -c 'exit 0'", seed
		for _, m := range mustRun(t, o).Rows[0].Runs {
			all = append(all, m.Place)
		}
		return all
	}
	first := places(1)
	if second := places(1); !slices.Equal(first, second) {
		t.Errorf("one seed, two orders: %v, %v", first, second)
	}
	if other := places(2); slices.Equal(first, other) {
		t.Errorf("two seeds, one order: %v", other)
	}
	if !slices.Contains(first, 1) || !slices.Contains(first, 2) {
		t.Errorf("it has always the same place: %v", first)
	}
}

func TestLimits(t *testing.T) {
	o := options("true")
	o.Versus, o.Rounds = "true", 3
	if r := mustRun(t, o); r.Rounds != 3 || r.Stopped != MostRuns || r.Rows[1].Ratios.CPU.Shown() {
		t.Errorf("%d rounds, %s: %+v", r.Rounds, r.Stopped, r.Rows[1].Ratios)
	}
	o.Rounds, o.Limit = 1000, time.Nanosecond
	if r := mustRun(t, o); r.Rounds != 1 || r.Stopped != TimeIsUp {
		t.Errorf("%d rounds, %s", r.Rounds, r.Stopped)
	}
	o.Args, o.Limit, o.Timeout = []string{"sleep", "1000"}, time.Hour, 100*time.Millisecond
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--timeout") {
		t.Errorf("%v", err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options("true")
	o.Versus, o.Rounds = "true", 1000
	o.Progress = func(text string) {
		if strings.HasPrefix(text, "round 3 ") {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err != nil || r.Stopped != Cancelled || r.Rounds != 2 || len(r.Rows[0].Runs) != 2 || len(r.Rows[1].Runs) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSameOutputIsDemanded(t *testing.T) {
	counter := filepath.Join(t.TempDir(), "counter")
	differs := "echo x >>" + counter + "; wc -c <" + counter
	for name, test := range map[string]struct {
		command, versus, want string
	}{
		"other output":          {"echo a; echo b", "echo a; echo c", `echo c" prints something else: line 2 of stdout is "b", then "c"`},
		"longer output":         {"echo a", "echo a; echo b", `line 2 of stdout is "", then "b"`},
		"other errors":          {"echo a >&2", "echo b >&2", `line 1 of stderr is "a", then "b"`},
		"another stream":        {"echo a", "echo a >&2", `line 1 of stdout is "a", then ""`},
		"other status":          {"exit 0", "exit 4", "fails: exit status 4"},
		"fails":                 {"echo no >&2; exit 3", "exit 0", "fails: exit status 3: no"},
		"killed":                {"kill -ABRT $$", "exit 0", "fails: killed by SIGABRT"},
		"different in each run": {differs, differs, "prints differently in each run"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options("sh", "-c", test.command)
			o.Versus = "sh -c '" + test.versus + "'"
			if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, not %q", err, test.want)
			}
		})
	}
	for _, waived := range []string{"echo a; exit 2", differs} {
		o := options("sh", "-c", waived)
		o.Versus, o.IgnoreOutput, o.Rounds = "sh -c '"+waived+"'", true, 2
		mustRun(t, o)
		o.Versus = "sh -c 'exit 5'"
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another exit status: 5") {
			t.Errorf("%v", err)
		}
	}
}

func TestThroughput(t *testing.T) {
	o := options("sh", "-c", "echo 'did 1,234.5 things per second'; echo $$ >/dev/null")
	o.Versus, o.Rounds = "sh -c 'echo did 2,469.0 things per second'", 8
	o.Metric = regexp.MustCompile(`did ([0-9.,]+) things`)
	r := mustRun(t, o)
	if r.Rows[0].Runs[0].Throughput != 1234.5 || r.Rows[1].Runs[1].Throughput != 2469 || r.Rows[1].Ratios.Throughput.Low < 1.99 {
		t.Errorf("%+v", r.Rows[1].Ratios.Throughput)
	}
	o.Metric, o.IgnoreOutput = regexp.MustCompile(`(did)`), true
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), `"did" is no number`) {
		t.Errorf("%v", err)
	}
	o.Metric, o.Work = nil, &Work{Amount: 1000}
	o.Versus = "sh -c '" + o.Args[2] + "'"
	o.Versus = strings.ReplaceAll(o.Versus, "'did 1,234.5 things per second'", `"did 1,234.5 things per second"`)
	if m := mustRun(t, o).Rows[0].Runs[0]; m.Throughput != 1000/m.Wall.Seconds() {
		t.Errorf("%+v", m)
	}
}

func TestParseWork(t *testing.T) {
	for text, want := range map[string]Work{
		"80GB": {80e9, "B"}, "512MiB": {512 << 20, "B"}, "1 kB": {1000, "B"}, "7 bytes": {7, "B"}, "1,000 requests": {1000, "requests"},
		"20k lines": {20e3, "lines"}, "1e6": {1e6, ""}, "3K": {3000, ""}, "2.5 T": {2.5e12, ""},
	} {
		if got, err := ParseWork(text); err != nil || *got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "GB", "-1", "0", "0 B", "1e999", "80XB", "ten"} {
		if got, err := ParseWork(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// library compiles a malloc.
func library(t *testing.T, name, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	command := exec.Command("gcc", "-shared", "-fPIC", "-o", path, "-x", "c", "-")
	command.Stdin = strings.NewReader(source)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return path
}

const bump = `
#include <stddef.h>
#include <string.h>
static char heap[64 << 20] __attribute__((aligned(16)));
static size_t used;
void* malloc(size_t n) { char* p = heap + used + 16; used += (n + 31) & ~(size_t)15; memcpy(p - 16, &n, sizeof n); return used < sizeof heap ? p : NULL; }
void free(void* p) { (void)p; }
void* calloc(size_t n, size_t m) { return malloc(n * m); }
void* realloc(void* p, size_t n) { char* q = malloc(n); size_t m; if (p && q) { memcpy(&m, (char*)p - 16, sizeof m); memcpy(q, p, m < n ? m : n); } return q; }
`

const none = "#include <stddef.h>\nvoid* malloc(size_t n) { (void)n; return NULL; }\n"

// flaky ends the second process that it is in.
const flaky = bump + `
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void End(void) {
  if (open(getenv("FLAKY"), O_CREAT | O_EXCL, 0600) < 0) _exit(9);
}
`

func TestMallocs(t *testing.T) {
	good, broken := library(t, "lib good:$1.so", bump), library(t, "libbroken.so", none)
	o := options("perl", "-e", "print join(',', map { $_ x 20 } 1..100), \"\\n\"")
	o.Allocators = []Allocator{{Name: "bump", Library: good}, {Name: "broken", Library: broken}, {Name: "bump", Library: good}}
	o.Rounds = 1
	r := mustRun(t, o)
	var names []string
	for _, row := range r.Rows {
		names = append(names, row.Name)
	}
	if want := []string{libc, "lib good:$1.so", "broken", "lib good:$1.so (2)"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if r.Rows[1].Failed != "" || len(r.Rows[1].Runs) != 1 || r.Rows[2].Failed == "" || len(r.Rows[2].Runs) != 0 {
		t.Errorf("%+v\n%+v", r.Rows[1], r.Rows[2])
	}
	o.Allocators[1].Given = true
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a malloc that the user named and that fails is no error")
	}
	// One that works at first and fails later is left out as well.
	marks := t.TempDir()
	o.Allocators = []Allocator{{Name: "bump", Library: good}, {Name: "flaky", Library: library(t, "libflaky.so", flaky)}}
	o.Args = []string{"perl", "-e", "exit 0"}
	t.Setenv("FLAKY", filepath.Join(marks, "mark"))
	r = mustRun(t, o)
	if flaky := r.Rows[2]; !strings.Contains(flaky.Failed, "in round 1 perl -e \"exit 0\" under flaky fails") || flaky.Runs != nil || flaky.Ratios != nil || len(r.Rows[1].Runs) != 1 {
		t.Errorf("%+v", flaky)
	}
	o.Allocators = []Allocator{{Name: "broken", Library: broken}}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no other malloc to compare with: broken: ") {
		t.Errorf("%v", err)
	}
	o.Allocators = nil
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "none but libc's was chosen") {
		t.Errorf("%v", err)
	}
}

// What the linker binds to something else is found, whatever the environment
// says.
func TestPreloadThatDoesNotTake(t *testing.T) {
	o := options("perl", "-e", "1")
	// Every object that asks for malloc gets that of libc: the library hides it.
	o.Allocators = []Allocator{{Name: "hidden", Library: library(t, "libhidden.so", "int unrelated;")}}
	_, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "the preload did not take: its malloc is that of ") || !strings.Contains(err.Error(), "libc.so.6") {
		t.Errorf("%v", err)
	}
}

// A launcher that drops LD_PRELOAD leaves the program in which it ends to libc's malloc; one that
// runs such a program on its way is noted.
func TestLauncherThatDropsThePreload(t *testing.T) {
	for _, launcher := range [][]string{{"env", "-u", "LD_PRELOAD", "perl", "-e", "1"}, {"sh", "-c", "unset LD_PRELOAD; exec perl -e 1"}} {
		o := options(launcher...)
		o.Allocators = []Allocator{{Name: "bump", Library: library(t, "libbump.so", bump)}}
		_, err := Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "bump: the preload did not take in the program that runs in the end (was LD_PRELOAD taken out of its environment?): its malloc is that of ") || !strings.Contains(err.Error(), "libc.so.6") {
			t.Errorf("%q: %v", launcher, err)
		}
	}
	o := options("sh", "-c", "env -u LD_PRELOAD perl -e 1; true")
	o.Rounds, o.Allocators = 1, []Allocator{{Name: "bump", Library: library(t, "libbump.so", bump)}}
	if r := mustRun(t, o); !slices.Equal(r.Notes, []string{"1 of 3 programs under bump had another malloc"}) {
		t.Errorf("%q", r.Notes)
	}
}

func TestEnvironmentsOfOneSize(t *testing.T) {
	t.Setenv("LD_PRELOAD", "")
	s := &session{o: options("true"), folder: t.TempDir()}
	s.o.Allocators = []Allocator{{Name: "a", Library: "/a"}, {Name: "long", Library: "/opt/a/long/name"}}
	if err := s.newSides(); err != nil {
		t.Fatal(err)
	}
	size := func(c measure.Command) (bytes int) {
		for _, setting := range c.Env {
			bytes += len(setting)
		}
		return bytes
	}
	for _, side := range s.sides {
		if size(side.command) != size(s.sides[0].command) || len(side.command.Env) != len(s.sides[0].command.Env) {
			t.Errorf("%s: %d bytes, not %d", side.row.Name, size(side.command), size(s.sides[0].command))
		}
	}
}

func TestInCache(t *testing.T) {
	jemalloc := library(t, "libjemalloc.so.2", bump)
	other := filepath.Join(filepath.Dir(jemalloc), "libjemalloc.so.1")
	if err := os.Symlink(jemalloc, other); err != nil {
		t.Fatal(err)
	}
	tcmalloc := library(t, "libtcmalloc_minimal.so.4", bump)
	debug := library(t, "libtcmalloc_minimal_debug.so.4", bump)
	empty := library(t, "libmimalloc.so.2", "int unrelated;")
	list := fmt.Sprintf("3 libs found in cache `/etc/ld.so.cache'\n\tlibtcmalloc_minimal.so.4 (libc6,x86-64) => %s\n\tlibtcmalloc_minimal_debug.so.4 (libc6,x86-64) => %s\n"+
		"\tlibjemalloc.so.2 (libc6,x86-64) => %s\n\tlibjemalloc.so.1 (libc6,x86-64) => %s\n\tlibmimalloc.so.2 (libc6,x86-64) => %s\n\tlibscudo.so (libc6) => /gone\n",
		tcmalloc, debug, jemalloc, other, empty)
	want := []Allocator{{Name: "jemalloc", Library: jemalloc}, {Name: "tcmalloc-minimal", Library: tcmalloc}}
	if found := inCache(list); !slices.Equal(found, want) {
		t.Errorf("%+v", found)
	}
}

func TestGivenLibrary(t *testing.T) {
	for path, want := range map[string]string{
		"/no/such/file.so": "there is no such file", "/etc/passwd": "no shared library", library(t, "libx.so", "int x;"): "defines no malloc",
		library(t, "libcaller.so", "void* malloc(unsigned long); void* f(void) { return malloc(1); }"): "defines no malloc",
	} {
		if a, err := GivenLibrary(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", path, a, err)
		}
	}
	if a, err := GivenLibrary(library(t, "libmine.so.1", bump)); err != nil || a.Name != "libmine" || !a.Given {
		t.Errorf("%+v, %v", a, err)
	}
}
