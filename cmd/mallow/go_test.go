package main

import (
	"errors"
	"fmt"
	"slices"
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
