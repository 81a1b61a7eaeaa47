// Package diff compares recordings of real programs, before and after changes that are known line by line, as
// different compilers build them.
package diff

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

// comparison has the keys of mallow diff --json that these tests look at.
type comparison struct {
	Totals map[string]struct{ Old, New float64 }
	Sites  []site
	Notes  []string
}

type site struct {
	Function, Status, Origin string
	Line                     int
	Match                    *string
	Old, New                 *struct{ Allocations, Bytes uint64 }
}

func (s *site) calls() string {
	var old, new uint64
	if s.Old != nil {
		old = s.Old.Allocations
	}
	if s.New != nil {
		new = s.New.Allocations
	}
	return fmt.Sprintf("%d->%d", old, new)
}

// build compiles a program of testdata. Both programs of a pair have the same name, and so have their sources, as
// in the life of a program.
func build(t *testing.T, version, language string, command ...string) string {
	t.Helper()
	folder := harness.TempDir(t)
	source := filepath.Join(folder, "service."+language)
	text, err := os.ReadFile(filepath.Join("testdata", version+"."+language))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, text, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "service")
	result := harness.Run(t, harness.Command{Arguments: append(slices.Clone(command), "-o", program, source)})
	if result.Status != 0 {
		t.Fatalf("%v: %s", command, result.Errors)
	}
	return program
}

func record(t *testing.T, program string) string {
	t.Helper()
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program}})
	if result.Status != 0 {
		t.Fatalf("%s: %s%s", program, result.Ending(), result.Errors)
	}
	return recording
}

func compare(t *testing.T, old, new string) comparison {
	t.Helper()
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "diff", "--json", old, new}})
	if result.Status != 0 {
		t.Fatalf("diff: %s%s", result.Ending(), result.Errors)
	}
	var c comparison
	if err := json.Unmarshal([]byte(result.Output), &c); err != nil {
		t.Fatal(err)
	}
	var oldCalls, newCalls float64
	for _, s := range c.Sites {
		if s.Old != nil {
			oldCalls += float64(s.Old.Allocations)
		}
		if s.New != nil {
			newCalls += float64(s.New.Allocations)
		}
	}
	if total := c.Totals["allocations"]; total.Old != oldCalls || total.New != newCalls {
		t.Errorf("sites have %v and %v allocations, totals %v", oldCalls, newCalls, total)
	}
	return c
}

// described tells of the program's own sites: name without scope and parameters, status and calls.
func (c *comparison) described() []string {
	var lines []string
	for _, s := range c.Sites {
		name := s.Function[:strings.IndexAny(s.Function+"(", "(<")]
		name = name[strings.LastIndexAny(name, ": ")+1:]
		if s.Origin == "program" && !strings.HasPrefix(s.Function, "_") && name != "main" && name != "" {
			lines = append(lines, name+" "+s.Status+" "+s.calls())
		}
	}
	slices.Sort(lines)
	return lines
}

// whatChanged is what became of each function of the program in C++ that the compiler cannot do without. Where
// lines are known, session is two sites.
var (
	whatChanged = []string{
		"header same 31->31", "log_line new 0->13", "new_name same 17->17", "parse changed 23->23", "poll_once gone 4000->0",
	}
	sessionByLine     = []string{"session gone 9->0", "session same 9->9"}
	sessionByFunction = []string{"session changed 18->9"}
)

func TestChanges(t *testing.T) {
	for _, compiler := range []string{"g++ -O0", "g++ -O2", "clang++ -O2"} {
		for debug, session := range map[string][]string{"-g": sessionByLine, "-g0": sessionByFunction} {
			t.Run(compiler+" "+debug, func(t *testing.T) {
				command := append(strings.Fields(compiler), debug, "-fno-builtin", "-fno-optimize-sibling-calls")
				c := compare(t, record(t, build(t, "before", "cc", command...)), record(t, build(t, "after", "cc", command...)))
				got := c.described()
				for _, want := range slices.Concat(whatChanged, session) {
					if !slices.Contains(got, want) {
						t.Errorf("lacks %q: %q", want, got)
					}
				}
			})
		}
	}
}

// TestStripped has neither names nor lines: what resembles is matched by order, the rest is said.
func TestStripped(t *testing.T) {
	command := []string{"g++", "-O2", "-s", "-fno-builtin", "-fno-optimize-sibling-calls"}
	c := compare(t, record(t, build(t, "before", "cc", command...)), record(t, build(t, "after", "cc", command...)))
	var calls []string
	for _, s := range c.Sites {
		if s.Match != nil && *s.Match == "order" {
			calls = append(calls, s.calls())
		}
	}
	for _, want := range []string{"31->31", "17->17", "23->23"} { // header, new_name, parse
		if !slices.Contains(calls, want) {
			t.Errorf("lacks %s: %q", want, calls)
		}
	}
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "has no symbols and is another build") }) {
		t.Errorf("nothing said of it: %q", c.Notes)
	}
}

// TestTwoCompilers compares one source as two compilers build it: inlining differs, the program does not, but for
// the blocks of the lambdas, which one of the compilers does without.
func TestTwoCompilers(t *testing.T) {
	flags := []string{"-O2", "-g", "-fno-builtin", "-fno-optimize-sibling-calls"}
	c := compare(t, record(t, build(t, "after", "cc", append([]string{"g++"}, flags...)...)),
		record(t, build(t, "after", "cc", append([]string{"clang++"}, flags...)...)))
	for _, line := range c.described() {
		if !strings.Contains(line, " same ") && !strings.HasPrefix(line, "lambdas ") {
			t.Error(line)
		}
	}
}

func TestRust(t *testing.T) {
	command := []string{"/usr/bin/rustc", "-g", "-O", "--crate-name", "service"}
	c := compare(t, record(t, build(t, "before", "rs", command...)), record(t, build(t, "after", "rs", command...)))
	got := c.described()
	for _, want := range []string{"squares changed 100->20", "label same 20->20", "rows same 1->1"} {
		if !slices.Contains(got, want) {
			t.Errorf("lacks %q: %q", want, got)
		}
	}
	closures := 0
	for _, s := range c.Sites {
		if strings.Contains(s.Function, "boxed") && (s.Status == "same" && s.calls() == "7->7" || s.Status == "new" && s.calls() == "0->1") {
			closures++
		}
	}
	if closures != 2 {
		t.Errorf("a closure more before another one: %+v", c.Sites)
	}
}

// TestSameProgram records programs of this machine twice: nothing differs.
func TestSameProgram(t *testing.T) {
	for _, arguments := range [][]string{
		{"/usr/bin/perl", "-e", "my %h; $h{$_} = [$_] for 1..2000; print scalar keys %h"},
		{"/bin/sh", "-c", "echo a b c | sort | wc; true"},
		{"/usr/bin/xz", "--version"},
	} {
		t.Run(filepath.Base(arguments[0]), func(t *testing.T) {
			command := harness.Command{Arguments: arguments, Settings: []string{"PERL_HASH_SEED=0"}}
			_, old := harness.Record(t, command)
			_, new := harness.Record(t, command)
			c := compare(t, old, new)
			for _, s := range c.Sites {
				if s.Status != "same" {
					t.Errorf("%s %s:%d %s", s.Status, s.Function, s.Line, s.calls())
				}
			}
			if len(c.Sites) == 0 || len(c.Notes) > 0 {
				t.Errorf("%d sites, %q", len(c.Sites), c.Notes)
			}
		})
	}
}
