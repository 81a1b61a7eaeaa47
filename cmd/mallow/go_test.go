package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/internal/gocode"
)

func TestFlagsOfGoAndOfMallow(t *testing.T) {
	for _, test := range []struct {
		args             []string
		program, output  bool
		wantGo, wantRest []string
	}{
		{[]string{"--json", "-tags", "a", "./..."}, false, false, []string{"-tags", "a"}, []string{"--json", "./..."}},
		{[]string{"./...", "-race", "--bench", "-x", "-tags=b"}, false, false, []string{"-race", "-tags=b"}, []string{"./...", "--bench", "-x"}},
		{[]string{"-race", "--top", "3", ".", "-v", "--json"}, true, false, []string{"-race"}, []string{"--top", "3", ".", "-v", "--json"}},
		{[]string{"--", "-v"}, true, false, nil, []string{"--", "-v"}},
		{[]string{"-o", "x", "-ldflags", "-s -w"}, false, true, []string{"-ldflags", "-s -w"}, []string{"-o", "x"}},
		{[]string{"-tags"}, false, false, []string{"-tags"}, nil},
	} {
		goFlags, rest := splitGoFlags(test.args, test.output, test.program)
		if !slices.Equal(goFlags, test.wantGo) || !slices.Equal(rest, test.wantRest) {
			t.Errorf("%q: %q and %q", test.args, goFlags, rest)
		}
	}
}

// What is wrong with flags is said before anything is built or run.
func TestFlagsOfGoThatAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"test -bench Word":                "-bench: mallow's own flags have two dashes: --bench",
		"test -benchtime=3x .":            "-benchtime: mallow's own flags have two dashes: --benchtime",
		"test -json ./...":                "-json: mallow's own flags have two dashes: --json",
		"gate -count 3":                   "-count is a flag of test programs",
		"test -short":                     "-short is a flag of test programs",
		"run -top 3 .":                    "-top: mallow's own flags have two dashes: --top",
		"test --benchtime nonsense":       "--benchtime nonsense: it takes a time such as 2s, or a number of operations such as 100x",
		"test --benchtime 0x":             "--benchtime 0x: it takes",
		"fix --benchtime -1s":             "--benchtime -1s: it takes",
		"test --bench (":                  "--bench: error parsing regexp",
		"test --bench a/(":                "--bench: error parsing regexp",
		"test --top -1":                   "--top takes a number from 0 up",
		"run --top -1 .":                  "--top takes a number from 0 up",
		"test --pprof /no/such/x":         "/no/such/x cannot be written: no such file or directory",
		"gate --benchfmt /no/such":        "/no/such cannot be written: no such file or directory",
		"run --html /no/such/x .":         "/no/such/x cannot be written: no such file or directory",
		"fix --patch /no/such/x":          "/no/such/x cannot be written: no such file or directory",
		"fix --patch-dir /no/such/":       "/no/such cannot be written: no such file or directory",
		"gate --update --budget /no/such": "/no/such cannot be written: no such file or directory",
		"fix --html /no/such/x":           "/no/such/x cannot be written: no such file or directory",
	} {
		code, stdout, stderr := mallow(append([]string{"go"}, strings.Fields(args)...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("go %s: %d, %q, %q lacks %q", args, code, stdout, stderr, want)
		}
	}
}

func TestNoBenchmark(t *testing.T) {
	for bench, want := range map[string]string{
		everyBenchmark: "there is no benchmark in these packages, or all are skipped", "Par\x1bse": `there is no benchmark that matches Par\x1bse`,
	} {
		if err := (goOptions{bench: bench}).noBenchmark(); err.Error() != want {
			t.Errorf("%s: %v, want %s", bench, err, want)
		}
	}
}

func TestNamesOfPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	folder, _ := os.Getwd()
	for pattern, want := range map[string]string{
		".": filepath.Base(folder), "./...": filepath.Base(folder), "./cmd/tool": "tool", "./cmd/tool/...": "tool", "main.go": "main", "example.org/m": "m",
	} {
		if got := programName(pattern); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

func TestVersionsThatAreTooOld(t *testing.T) {
	failed := &gocode.CommandError{What: "build -- .", Output: "go: go.mod requires go >= 1.26 (running go 1.25.7; GOTOOLCHAIN=local)"}
	if err := (goSide{version: "go1.25.7"}).tooOld(fmt.Errorf("go1.25.7: %w", failed)); err.Error() != "go1.25.7 is too old for this module: its go.mod requires go 1.26" {
		t.Error(err)
	}
	other := errors.New("other")
	if err := (goSide{version: "go1.25.7"}).tooOld(other); err != other {
		t.Error(err)
	}
	if err := (goSide{revision: "main"}).tooOld(failed); err != error(failed) {
		t.Error(err)
	}
}
