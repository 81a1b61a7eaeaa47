// Package merged adds up recordings of several runs, hosts, shards and builds of programs whose calls are known.
package merged

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// source is a program that allocates as often as its argument says, at one line of one function, and once at another
// one. AT is put before the first line.
const source = `AT#include <stdlib.h>
static void* volatile kept;
__attribute__((noinline)) void work(int times) {
  for (int i = 0; i < times; ++i) {
    free(malloc(24));
  }
}
__attribute__((noinline)) void start(void) { kept = malloc(100); }
int main(int argc, char** argv) {
  (void)argc;
  start();
  work(atoi(argv[1]));
  return 0;
}
`

// build compiles the program into a folder of its own.
func build(t *testing.T, at string, flags ...string) (program string) {
	t.Helper()
	folder := harness.TempDir(t)
	program = filepath.Join(folder, "shard")
	text := strings.Replace(source, "AT", at, 1)
	if err := os.WriteFile(filepath.Join(folder, "shard.c"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := append([]string{"/usr/bin/cc", "-fno-builtin", "-O1", "-fno-optimize-sibling-calls", "-o", "shard", "shard.c"}, flags...)
	if result := harness.Run(t, harness.Command{Arguments: command, Directory: folder}); result.Status != 0 {
		t.Fatal(result.Errors)
	}
	return program
}

func record(t *testing.T, program string, times int, flags ...string) string {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program, fmt.Sprint(times)}, Flags: flags})
	if result.Status != 0 {
		t.Fatal(result.Errors)
	}
	return recording
}

// copied is the program in another folder, as other hosts have it; with its own inode and time.
func copied(t *testing.T, program string) string {
	t.Helper()
	other := filepath.Join(harness.TempDir(t), "shard")
	harness.CopyProgram(t, program, other)
	return other
}

// report has the keys of mallow report --json that these tests look at.
type report struct {
	Totals  struct{ Allocations uint64 }
	Sites   []harness.Site
	Units   []harness.Unit
	Quality struct {
		Merged *struct {
			Recordings, Sampled int
			Programs            []string
			Least               uint64 `json:"least_allocations"`
			Most                uint64 `json:"most_allocations"`
			Rebuilt             []struct {
				Name   string
				Builds int
			}
		}
		Warnings []string
	}
}

func mallow(t *testing.T, arguments ...string) string {
	t.Helper()
	result := harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t)}, arguments...), Settings: []string{"MALLOW_SYMBOL_CACHE=off", "NO_COLOR=1"},
	})
	if result.Status != 0 {
		t.Fatalf("%v: %s", arguments, result.Errors)
	}
	return result.Output
}

func read(t *testing.T, arguments ...string) (r report) {
	t.Helper()
	if err := json.Unmarshal([]byte(mallow(t, append([]string{"report", "--json"}, arguments...)...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// sites are those of the program, as "work:5 30".
func (r *report) sites() []string {
	var all []string
	for _, s := range r.Sites {
		if s.Origin == "program" {
			all = append(all, fmt.Sprintf("%s:%d %d", s.Function, s.Line, s.Allocations))
		}
	}
	slices.Sort(all)
	return all
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, and not %q", what, got, want)
	}
}

func TestRuns(t *testing.T) {
	program := build(t, "", "-g")
	a, b, c := record(t, program, 10), record(t, program, 20), record(t, program, 30)
	r := read(t, a, b, c)
	expect(t, "sites", r.sites(), "start:8 3", "work:5 60")
	m := r.Quality.Merged
	if m == nil || m.Recordings != 3 || m.Sampled != 0 || !slices.Equal(m.Programs, []string{"shard"}) || m.Least != 11 || m.Most != 31 || len(m.Rebuilt) != 0 {
		t.Errorf("merged %+v", m)
	}
	if text := mallow(t, "report", a, b, c); !strings.Contains(text, "3 recordings added up, each of 11 to 31 allocations; the peak is the sum of theirs\n") {
		t.Error(text)
	}
	if text := mallow(t, "report", a, a); !strings.Contains(text, "2 recordings added up, each of 11 allocations; ") {
		t.Error(text)
	}
	if one := read(t, a); one.Quality.Merged != nil || strings.Contains(mallow(t, "report", a), "added up") {
		t.Errorf("%+v of one recording", one.Quality.Merged)
	}
}

// The same file is the same file, wherever a host has it.
func TestHosts(t *testing.T) {
	program := build(t, "", "-g")
	other := copied(t, program)
	a, b := record(t, program, 10), record(t, other, 20)
	for _, order := range [][]string{{a, b}, {b, a}} {
		r := read(t, order...)
		expect(t, "sites", r.sites(), "start:8 2", "work:5 30")
		for _, s := range r.Sites {
			if len(s.Stacks) != 1 && s.Origin == "program" {
				t.Errorf("%s has %d stacks", s.Function, len(s.Stacks))
			}
		}
		if len(r.Quality.Merged.Rebuilt) != 0 {
			t.Errorf("%+v", r.Quality.Merged)
		}
	}
	for _, path := range []string{program, other, "shard"} {
		r := read(t, "--module", path, a, b)
		expect(t, "--module", r.sites(), "start:8 2", "work:5 30")
	}
	// Here the first one is gone.
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	r := read(t, a, b)
	expect(t, "sites", r.sites(), "start:8 2", "work:5 30")
	if len(r.Quality.Warnings) != 0 {
		t.Errorf("warnings %q", r.Quality.Warnings)
	}
}

// A packed recording brings the names of a host whose files are not here.
func TestPackedHosts(t *testing.T) {
	program := build(t, "", "-g")
	other := copied(t, program)
	packed := func(program string, times int) string {
		recording := record(t, program, times)
		file := filepath.Join(harness.TempDir(t), "host.mallowpack")
		mallow(t, "report", "--pack="+file, recording)
		return file
	}
	a, b := packed(program, 10), packed(other, 20)
	for _, path := range []string{program, other, filepath.Join(filepath.Dir(program), "shard.c")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range [][]string{{a, b}, {b, a}} {
		r := read(t, order...)
		expect(t, "sites", r.sites(), "start:8 2", "work:5 30")
	}
}

// Another build has its lines elsewhere; by function they are one.
func TestBuilds(t *testing.T) {
	a, b := record(t, build(t, "", "-g"), 10), record(t, build(t, "\n\n", "-g"), 20)
	r := read(t, a, b)
	expect(t, "sites", r.sites(), "start:10 1", "start:8 1", "work:5 10", "work:7 20")
	if m := r.Quality.Merged; len(m.Rebuilt) != 1 || m.Rebuilt[0].Name != "shard" || m.Rebuilt[0].Builds != 2 {
		t.Errorf("%+v", m)
	}
	text := mallow(t, "report", a, b)
	if !strings.Contains(text, "note: shard is in it in 2 builds: a line that is at another place in each stands once for each; --by function adds them up\n") {
		t.Error(text)
	}
}

// Code without names lies at the same place in two builds, and is not the same.
func TestBuildsWithoutSymbols(t *testing.T) {
	program := build(t, "", "-s")
	a := record(t, program, 10)
	content, err := os.ReadFile(build(t, "static volatile int begun; __attribute__((constructor)) static void before(void) { begun = 1; }\n", "-s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, content, 0o755); err != nil {
		t.Fatal(err)
	}
	b := record(t, program, 20)
	r := read(t, a, b)
	functions := make(map[string]bool)
	for _, s := range r.Sites {
		if s.Origin == "program" {
			if functions[s.Function] = true; !strings.Contains(s.Function, "shard (build ") {
				t.Errorf("%s", s.Function)
			}
		}
	}
	if len(functions) != len(r.sites()) || len(functions) != 4 {
		t.Errorf("%q", r.sites())
	}
}

func TestDifferentPrograms(t *testing.T) {
	program := build(t, "", "-g")
	_, other := harness.Record(t, harness.Command{Arguments: []string{"/usr/bin/sort", "/dev/null"}})
	a := record(t, program, 10)
	r := read(t, a, other, a)
	m := r.Quality.Merged
	if m.Recordings != 3 || !slices.Equal(m.Programs, []string{"shard", "sort"}) || len(m.Rebuilt) != 0 {
		t.Errorf("%+v", m)
	}
	if text := mallow(t, "report", a, other); !strings.Contains(text, "2 recordings added up of 2 programs, shard, sort, each of ") {
		t.Error(text)
	}
}

func TestSampledWithExact(t *testing.T) {
	program := build(t, "", "-g")
	a, b := record(t, program, 1000), record(t, program, 100000, "--sample", "10K")
	r := read(t, a, b)
	if m := r.Quality.Merged; m.Sampled != 1 || m.Recordings != 2 {
		t.Errorf("%+v", m)
	}
	text := mallow(t, "report", a, b)
	if !strings.Contains(text, "; 1 of them is an estimate\n") || !strings.Contains(text, "mallow: ~") || strings.Contains(text, "the peak above") {
		t.Error(text)
	}
}

// Work that one shard counted is not divided by what another one allocated, which counted none.
func TestUnits(t *testing.T) {
	program := build(t, "", "-g")
	a, b := record(t, program, 10, "--per", "work"), record(t, program, 20, "--per", "work")
	other := record(t, program, 1000)
	for _, recordings := range [][]string{{a, b}, {a, b, other}} {
		r := read(t, recordings...)
		if len(r.Units) != 1 || r.Units[0].Count != 2 || r.Units[0].AllocationsPerUnit == nil || *r.Units[0].AllocationsPerUnit != 16 {
			t.Errorf("%d recordings: %+v", len(recordings), r.Units)
		}
	}
}

// Two releases, each of two shards.
func TestReleases(t *testing.T) {
	before, after := build(t, "", "-g"), build(t, "\n", "-g")
	a, b := record(t, before, 10), record(t, copied(t, before), 20)
	c, d := record(t, after, 13), record(t, copied(t, after), 20)
	text := mallow(t, "diff", a+","+b, c+","+d)
	for _, part := range []string{"mallow: 32 -> 35 allocations, 9.4 % more", "         30          33           +3", "1 site is the same"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
