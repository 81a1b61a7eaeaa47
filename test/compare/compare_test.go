// Package compare runs mallow compare with real mallocs and real programs.
package compare

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// allocating does as many mallocs as its first argument says, and work of its own as the second does.
const allocating = `
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** arguments) {
  if (count != 3) return 1;
  // Read once: how long atol takes depends on the digits, and with it by 5 % a loop that calls it.
  const long blocks = atol(arguments[1]), turns = atol(arguments[2]);
  unsigned long sum = 0;
  for (long i = 0; i < blocks; ++i) {
    char* block = malloc(i % 500 + 1);
    block[0] = (char)i;
    sum += (unsigned char)block[0];
    free(block);
  }
  for (volatile long i = 0; i < turns; ++i) continue;
  printf("sum %lu\n", sum > 0);
  return 0;
}
`

const silent = "int main(void) { return 0; }\n"

func compile(t *testing.T, source string, options ...string) string {
	t.Helper()
	folder := harness.TempDir(t)
	program, file := filepath.Join(folder, "program"), filepath.Join(folder, "program.c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	result := harness.Run(t, harness.Command{Arguments: slices.Concat([]string{"gcc", "-O1", "-fno-builtin", "-o", program, file}, options)})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	return program
}

func compare(t *testing.T, arguments ...string) harness.Result {
	t.Helper()
	return harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "compare"}, arguments...), Directory: harness.TempDir(t),
	})
}

type figure struct{ Median, Min, Max *float64 }

// comparison has the keys that scripts may rely on, and some that these tests look at.
type comparison struct {
	Schema string
	Rows   []struct {
		Name       string
		CPU        *figure `json:"cpu_s"`
		Wall       *figure `json:"wall_s"`
		User       *figure `json:"user_s"`
		Sys        *figure `json:"sys_s"`
		PeakRSS    *figure `json:"peak_rss_bytes"`
		Throughput *figure
		Ratio      *struct {
			CPU, Low, High *float64
			Verdict        string
		}
		Failed *string
		Rounds int
	}
	Malloc, Other *struct {
		Allocations uint64
		CPUShare    *float64 `json:"cpu_share"`
	}
	Removed *struct {
		Fewer       string
		Allocations uint64
		Each        float64 `json:"cpu_s_each"`
		Low, High   *float64
		Shown       bool
		Work        *struct{ Value float64 } `json:"work_each"`
	}
	Notes []string
}

func compared(t *testing.T, arguments ...string) comparison {
	t.Helper()
	return parsed(t, compare(t, append([]string{"--json"}, arguments...)...))
}

// parsed reads the JSON of a comparison that must have worked.
func parsed(t *testing.T, result harness.Result) (c comparison) {
	t.Helper()
	if err := json.Unmarshal([]byte(result.Output), &c); err != nil || result.Status != 0 || result.Errors != "" {
		t.Fatalf("%v, %s: %s\n%s", err, result.Ending(), result.Errors, result.Output)
	}
	return c
}

func TestMallocs(t *testing.T) {
	program := compile(t, allocating)
	// So many that the start of the program is little beside them.
	c := compared(t, "--rounds", "2", "--work", "1000000 blocks", "--", program, "1000000", "0")
	if c.Schema != "mallow.compare/1" || len(c.Rows) < 2 || c.Rows[0].Name != "libc" || c.Rows[1].Name != "libmallow" {
		t.Fatalf("%+v", c)
	}
	for i, row := range c.Rows {
		for key, f := range map[string]*figure{"cpu": row.CPU, "wall": row.Wall, "rss": row.PeakRSS, "throughput": row.Throughput} {
			if f == nil || f.Median == nil || *f.Min > *f.Median || *f.Max < *f.Median || *f.Median <= 0 {
				t.Errorf("%s: %s is %+v", row.Name, key, f)
			}
		}
		if row.User == nil || row.Sys == nil || row.Rounds != 2 || row.Failed != nil {
			t.Errorf("%+v", row)
		}
		if i == 0 && (row.Ratio == nil || *row.Ratio.CPU != 1 || *row.Ratio.Low != 1 || *row.Ratio.High != 1) {
			t.Errorf("%+v", row.Ratio)
		}
		if i > 0 && (row.Ratio == nil || row.Ratio.CPU == nil || row.Ratio.Low != nil || row.Ratio.Verdict != "no difference shown") {
			t.Errorf("%+v", row.Ratio)
		}
	}
	if m := c.Malloc; m == nil || m.Allocations < 1_000_000 || m.Allocations > 1_000_010 || m.CPUShare == nil || *m.CPUShare < 0.05 {
		t.Errorf("%+v", c.Malloc)
	}
}

// The peers that the packages of the tests install are all found.
func TestEveryInstalledMallocIsFound(t *testing.T) {
	program := compile(t, allocating)
	names := compare(t, "--only", "none of them", "--", program, "1", "1").Errors
	for file, name := range map[string]string{
		"libjemalloc.so.2": "jemalloc", "libmimalloc.so.2.0": "mimalloc", "libtcmalloc_minimal.so.4": "tcmalloc-minimal", "libtbbmalloc_proxy.so.2": "tbbmalloc",
	} {
		if _, err := os.Stat("/usr/lib/x86_64-linux-gnu/" + file); err == nil && !strings.Contains(names, name) {
			t.Errorf("%s is installed and not found: %s", name, names)
		}
	}
}

func TestOneRemovedMalloc(t *testing.T) {
	program := compile(t, allocating)
	c := compared(t, "--work", "1MB", "--vs", program+" 1000 0", "--", program, "1001000", "0")
	r := c.Removed
	if r == nil || r.Allocations != 1_000_000 || r.Fewer != program+" 1000 0" || !r.Shown || c.Rows[1].Ratio.Verdict != "faster" {
		t.Fatalf("%+v", c)
	}
	// A pair of calls takes some nanoseconds, on any machine and under any load.
	if r.Each < 1e-9 || r.Each > 500e-9 || *r.Low > r.Each || *r.High < r.Each {
		t.Errorf("%v s (%v to %v)", r.Each, *r.Low, *r.High)
	}
	if c.Other == nil || c.Other.Allocations > 1010 {
		t.Errorf("%+v", c.Other)
	}
	back := compared(t, "--no-record", "--vs", program+" 1001000 0", "--", program, "1000", "0")
	if back.Rows[1].Ratio.Verdict != "slower" || back.Removed != nil || back.Malloc != nil {
		t.Errorf("%+v", back)
	}
}

// Recordings that were made before serve as well.
func TestGivenRecordings(t *testing.T) {
	program := compile(t, allocating)
	_, more := harness.Record(t, harness.Command{Arguments: []string{program, "3000", "0"}})
	_, fewer := harness.Record(t, harness.Command{Arguments: []string{program, "1000", "0"}})
	c := compared(t, "--rounds", "2", "--recording", more, "--recording", fewer, "--vs", program+" 1000 0", "--", program, "3000", "0")
	if c.Removed == nil || c.Removed.Allocations != 2000 || c.Removed.Shown {
		t.Errorf("%+v", c.Removed)
	}
	if len(c.Notes) > 0 {
		t.Errorf("%q", c.Notes)
	}
	sampled := filepath.Join(harness.TempDir(t), "sampled.mallow")
	command := exec.Command(harness.CLI(t), "record", "--sample", "100", "-o", sampled, program, "3000", "0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c = compared(t, "--rounds", "1", "--only", "libmallow", "--recording", sampled, "--", program, "3000", "0")
	if want := sampled + " has samples: its allocations are estimates"; !slices.Contains(c.Notes, want) {
		t.Errorf("%q lack %q", c.Notes, want)
	}
}

func TestPlotHoldsItsData(t *testing.T) {
	program, picture := compile(t, allocating), filepath.Join(harness.TempDir(t), "plot.svg")
	result := compare(t, "--rounds", "3", "--no-record", "--plot", picture, "--vs", program+" 10 10", "--", program, "10", "10")
	if result.Status != 0 || !strings.Contains(result.Output, "wrote "+picture) {
		t.Fatalf("%s\n%s", result.Output, result.Errors)
	}
	var svg struct {
		Metadata string `xml:"metadata"`
	}
	content, err := os.ReadFile(picture)
	if err == nil {
		err = xml.Unmarshal(content, &svg)
	}
	var data comparison
	if err == nil {
		err = json.Unmarshal([]byte(svg.Metadata), &data)
	}
	if err != nil || len(data.Rows) != 2 || data.Rows[1].Rounds != 3 {
		t.Errorf("%v: %+v", err, data)
	}
}

// What no malloc can be put under is named; nothing is run or written.
func TestRefusals(t *testing.T) {
	program := compile(t, allocating)
	own := compile(t, "#include <stddef.h>\nvoid* malloc(size_t n) { static char heap[1 << 20]; static size_t used; used += n + 16; return heap + used - n; }\nvoid free(void* p) { (void)p; }\n"+silent)
	picture := filepath.Join(harness.TempDir(t), "plot.svg")
	folder := filepath.Join(harness.TempDir(t), "folder.svg")
	os.Mkdir(folder, 0o700)
	t.Cleanup(func() { // of all
		if _, err := os.Stat(picture); err == nil {
			t.Error("a plot of nothing was written")
		}
	})
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"static":            {[]string{compile(t, silent, "-static")}, "is linked statically, so no other malloc can be put under it"},
		"own malloc":        {[]string{own}, "brings a malloc of its own"},
		"allocates nothing": {[]string{compile(t, silent)}, "allocates nothing: no malloc can make a difference to it"},
		"fails":             {[]string{"false"}, "false fails: exit status 1"},
		"hangs":             {[]string{"--timeout", "200ms", "--", "sleep", "1000"}, "no end within the time limit of 200ms"},
		"prints anew":       {[]string{"sh", "-c", "echo $$"}, "prints differently in each run: line 1 of stdout is "},
		"is not there":      {[]string{"no-such-program"}, "no-such-program: not found in PATH"},
		"is a line":         {[]string{"--vs", "echo 1 | cat", "--", "echo 1 | sort"}, `"echo 1 | sort": not found in PATH; a line for the shell is given as sh -c "echo 1 | sort"`},
		"nothing":           {nil, "no command given"},
		"no malloc":         {[]string{"--with", "/etc/passwd", "--", program, "1", "1"}, "--with /etc/passwd: it is no shared library"},
		"other fails":       {[]string{"--vs", "sh -c 'exit 7'", "--", "true"}, "fails: exit status 7"},
		"other is open":     {[]string{"--vs", "'a", "--", "true"}, "a quotation mark has no other end"},
		"other is nothing":  {[]string{"--vs", "", "--", program, "1", "1"}, "the other command is empty"},
		"other is empty":    {[]string{"--vs", " ", "--", "true"}, "the other command is empty"},
		"work":              {[]string{"--work", "much", "--", "true"}, "--work much: it takes an amount such as 80GB"},
		"metric":            {[]string{"--metric", "(", "--", "true"}, "--metric: error parsing regexp"},
		"no metric":         {[]string{"--metric", "speed ([0-9]+)", "--", program, "1", "1"}, `nothing that the command prints matches "speed ([0-9]+)"`},
		"rounds":            {[]string{"--rounds", "0", "--", "true"}, "--rounds takes a number from 1 up"},
		"plot":              {[]string{"--plot", "x.png", "--", "true"}, "the plot is an SVG picture"},
		"input":             {[]string{"--input", "/no/such/input", "--", "cat"}, "/no/such/input"},
		"input folder":      {[]string{"--input", "/", "--", "cat"}, "--input /: is a folder"},
		"plot nowhere":      {[]string{"--plot", "/no/such/x.svg", "--", program, "1", "1"}, "/no/such/x.svg cannot be written: no such file or directory"},
		"plot is a folder":  {[]string{"--plot", folder, "--", program, "1", "1"}, folder + " cannot be written: is a directory"},
		"recording":         {[]string{"--recording", "/no/such.mallow", "--", program, "1", "1"}, "/no/such.mallow"},
		"hostile name":      {[]string{"sh", "-c", "echo '\x1b[2J' >&2; exit 1", "\u202e"}, `fails: exit status 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := compare(t, append([]string{"--plot", picture}, test.arguments...)...)
			if result.Status != 1 || result.Output != "" || !strings.Contains(result.Errors, test.want) || strings.Count(result.Errors, "\n") != 1 {
				t.Errorf("%s\n%s%s", result.Ending(), result.Output, result.Errors)
			}
			if strings.ContainsAny(result.Errors, "\x1b\u202e") {
				t.Errorf("it reaches the terminal as it is: %q", result.Errors)
			}
		})
	}
}

// What is piped can be read once only: it is left alone, and that is said.
func TestPipedInput(t *testing.T) {
	for input, want := range map[string]bool{"words\n": true, "": false} {
		c := parsed(t, harness.Run(t, harness.Command{
			Arguments: []string{harness.CLI(t), "compare", "--json", "--rounds", "1", "--no-record", "--vs", "cat", "--", "cat"}, Directory: harness.TempDir(t), Input: input,
		}))
		if said := slices.ContainsFunc(c.Notes, func(note string) bool { return strings.Contains(note, "standard input is a pipe") }); said != want {
			t.Errorf("input %q: %q", input, c.Notes)
		}
	}
}

// A static program can be compared with another one, just not recorded.
func TestStaticCommands(t *testing.T) {
	program := compile(t, silent, "-static")
	c := compared(t, "--rounds", "2", "--vs", program, "--", program)
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "is linked statically") || c.Rows[1].Name != program+" (again)" {
		t.Errorf("%+v", c)
	}
}

// A program that is linked with another malloc has that one when nothing is put under it; libc's is put under it too.
func TestMallocThatItIsLinkedWith(t *testing.T) {
	const jemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
	if _, err := os.Stat(jemalloc); err != nil {
		t.Skip("libjemalloc2 is not installed")
	}
	program := compile(t, allocating, "-Wl,--no-as-needed", jemalloc)
	c := compared(t, "--rounds", "1", "--only", "libmallow", "--", "sh", "-c", program+" 1000 0; true")
	if len(c.Rows) != 3 || c.Rows[0].Name != "as it is (jemalloc, libc)" || c.Rows[1].Name != "libc" || c.Rows[2].Name != "libmallow" || c.Rows[1].Failed != nil {
		t.Errorf("%+v", c.Rows)
	}
}

// In a program at a fixed address that uses malloc as a value, the libraries' malloc has an address of the program's.
func TestFixedAddressOfMalloc(t *testing.T) {
	program := compile(t, "#include <stdlib.h>\nvoid* (*volatile take)(size_t);\nint main(void) { take = malloc; free(take(1)); free(malloc(1)); return 0; }\n",
		"-no-pie", "-fno-pic")
	c := compared(t, "--rounds", "1", "--only", "libmallow", "--", program)
	if len(c.Rows) != 2 || c.Rows[0].Name != "libc" || c.Rows[1].Failed != nil {
		t.Errorf("%+v", c.Rows)
	}
}

// What a program allocates past malloc no malloc can change.
func TestHeapOfItsOwn(t *testing.T) {
	program := compile(t, "#include <stdlib.h>\nvoid* mi_malloc(unsigned long n) { (void)n; return 0; }\nint main(void) { free(malloc(1)); return 0; }\n")
	c := compared(t, "--rounds", "1", "--only", "libmallow", "--", program)
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "by its own mimalloc is the same on every side") {
		t.Errorf("%q", c.Notes)
	}
}

// Processes that get away from the preload are named.
func TestProcessesWithAnotherMalloc(t *testing.T) {
	program := compile(t, allocating)
	c := compared(t, "--rounds", "1", "--only", "libmallow", "--", "sh", "-c", "env -i "+program+" 20000000 0; true") // long enough to be seen
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, program+", which it starts, was not recorded") {
		t.Errorf("%q", c.Notes)
	}
}
