package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tiny divides the work of every row, so that what is left is its start.
const tiny = 5000

// TestMallocRows builds all programs, unoptimised because that is quicker, and runs every row on the allocator of the
// system with next to no work: each must end well and print what its group is judged by.
func TestMallocRows(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds some thirty programs: run `go test ./bench`")
	}
	t.Chdir("..")
	folder := t.TempDir()
	rows, err := mallocRows(folder, tiny)
	if err != nil {
		t.Fatal(err)
	}
	checkNames(t, rows)
	buildQuickly(t, folder, rows)
	l, err := buildLauncher(folder, patience)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range quickRows(rows) {
		if row.missing != "" {
			t.Logf("%s is not tried: %s", row.name, row.missing)
			continue
		}
		one, err := runRow(l, row, allocator{name: system})
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
		} else if _, err := rowFigures(row, []mallocRun{one}); err != nil {
			t.Error(err)
		}
	}
}

func checkNames(t *testing.T, rows []mallocRow) {
	names := map[string]bool{}
	groups := []string{"single", "multi", "program", "memory", "curve", "ttest"}
	for _, row := range rows {
		if names[row.name] {
			t.Errorf("two rows are called %q", row.name)
		}
		names[row.name] = true
		if len(row.name) > 40 || !slices.Contains(groups, row.group) || row.seconds <= 0 {
			t.Errorf("%q of group %q, %v s: want a short name, a known group and an estimate", row.name, row.group, row.seconds)
		}
	}
}

func buildQuickly(t *testing.T, folder string, rows []mallocRow) {
	sources := make(chan string)
	var builders sync.WaitGroup
	for range runtime.NumCPU() {
		builders.Go(func() {
			for name := range sources {
				program := filepath.Join(folder, strings.TrimSuffix(name, filepath.Ext(name)))
				if err := run("g++", "-O0", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-pthread", "-o", program, source(name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	built := map[string]bool{}
	for _, row := range rows {
		if row.program != "" && !built[row.program] {
			built[row.program] = true
			sources <- row.program
		}
	}
	close(sources)
	builders.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// quickRows leaves out all but the first and the last of the t-test, which are one program.
func quickRows(rows []mallocRow) []mallocRow {
	var quick []mallocRow
	for i, row := range rows {
		if row.group != "ttest" || i == 0 || rows[i-1].group != "ttest" || i+1 == len(rows) || rows[i+1].group != "ttest" {
			quick = append(quick, row)
		}
	}
	return quick
}

// TestWorkloadsRefuse holds that a program of the rows names how it is used, and does nothing, when its arguments are wrong.
func TestWorkloadsRefuse(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "one_size")
	if err := run("g++", "-O0", "-std=c++20", "-o", program, filepath.Join("workloads", "one_size.cc")); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{{}, {"1", "16"}, {"0", "16", "touched"}, {"-1", "16", "touched"}, {"1", "x", "touched"}, {"1", "16", "both"}} {
		command := exec.Command(program, arguments...)
		var problems strings.Builder
		command.Stderr = &problems
		err := command.Run()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
			t.Errorf("%q: %v, want exit status 2", arguments, err)
		}
		if want := "usage: one_size PAIRS BYTES touched|untouched\n"; problems.String() != want {
			t.Errorf("%q says %q, want %q", arguments, problems.String(), want)
		}
	}
}

// TestInputsAreTheSame holds that the inputs do not differ from run to run.
func TestInputsAreTheSame(t *testing.T) {
	folder := t.TempDir()
	for name, write := range map[string]func(string, int) error{"lines": writeLines, "documents": writeJSON} {
		var texts []string
		for _, copy := range []string{"1", "2"} {
			path := filepath.Join(folder, name+copy)
			if err := write(path, 100); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		if texts[0] != texts[1] || len(texts[0]) < 1000 {
			t.Errorf("%s: two inputs of %d and %d bytes, want equal ones", name, len(texts[0]), len(texts[1]))
		}
	}
}
