package hostile

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// A program that is given to its loader by hand, as wrappers of bundled programs do: the kernel takes the loader for the
// program.
func TestProgramGivenToTheLoader(t *testing.T) {
	program := harness.Program(t, "programs/guest")
	loader := interpreterOf(t, program)
	for name, arguments := range map[string][]string{
		"itself":  {loader, program, "nothing"},
		"a child": {"/bin/sh", "-c", `"$0" --argv0 other "$1" nothing; exit $?`, loader, program},
	} {
		t.Run(name, func(t *testing.T) {
			command := harness.Command{Arguments: arguments}
			alone := harness.Run(t, command)
			if alone.Status != 5 {
				t.Fatalf("alone: %s, %q", alone.Ending(), alone.Errors)
			}
			recorded, recording := harness.Record(t, command)
			sameEnding(t, alone, recorded)
			report := harness.ReadReport(t, recording)
			if got := report.SiteIn("allocate").Allocations; got != guestCalls+childCalls {
				t.Errorf("%d allocations in allocate(), want %d", got, guestCalls+childCalls)
			}
			if !slices.ContainsFunc(report.Processes, func(p harness.Process) bool { return p.Executable == program }) {
				t.Errorf("no process is said to execute %q: %+v", program, report.Processes)
			}
		})
	}
}

func interpreterOf(t *testing.T, program string) string {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".interp")
	if section == nil {
		t.Fatalf("%s has no interpreter", program)
	}
	name, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(name), "\x00")
}
