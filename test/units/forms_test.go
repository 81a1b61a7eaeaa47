package units

import (
	"strings"
	"testing"

	"mallow/test/harness"
)

// forms says how often run() of forms.cc calls its functions.
var forms = map[string]uint64{
	"forms::Base::Base":                      34,
	"forms::Base::~Base":                     34,
	"forms::Derived::Derived":                9,
	"forms::Derived::~Derived":               9,
	"forms::Shared::Shared":                  21,
	"forms::Shared::~Shared":                 21,
	"forms::Shared::visit":                   6,
	"forms::Last::Last":                      15,
	"forms::Chain::~Chain":                   10,
	"forms::Open::~Open":                     11,
	"forms::Last::~Last()":                   15,
	"forms::Money::operator bool":            1,
	"forms::Money::operator()":               2,
	"forms::Money::operator[](int) const":    3,
	"forms::Money::operator<":                4,
	"forms::scaled<int>(int)":                5,
	"double forms::scaled<double>(double)":   6,
	"forms::tagged":                          7,
	"forms::resumed":                         3,
	"forms::original":                        10,
	"run::{lambda(int)#1}::operator()":       9,
	"forms::applied<run()::{lambda(int)#1}>": 9,
}

// A constructor or destructor whose forms call each other, a function that a thunk leads to and a coroutine that is resumed
// count once for a call in the source, in a library too, where they call each other through its procedure linkage table.
// Names are those of the source and of reports.
func TestFormsOfAFunction(t *testing.T) {
	var flags []string
	for name := range forms {
		flags = append(flags, "--per", name)
	}
	for name, how := range map[string][]string{
		"not optimized": {"-O0"},
		"optimized":     {"-O2", "-fno-devirtualize-speculatively"},
		"without stubs": {"-O1", "-fno-plt"},
	} {
		t.Run(name, func(t *testing.T) {
			library := compiled(t, "g++", append(how, "-std=c++20", "-shared", "-fPIC", "forms.cc")...)
			program := compiled(t, "g++", "-std=c++20", "-DPROGRAM", "forms.cc", library)
			result, recording := recordPer(t, program, flags)
			if result.Status != 0 || result.Output != "done\n" {
				t.Fatalf("%s: %s%s", result.Ending(), result.Output, result.Errors)
			}
			report := harness.ReadReport(t, recording)
			for function, want := range forms {
				if unit := report.Unit(function); unit.Count != want {
					t.Errorf("%s: %d calls, want %d", function, unit.Count, want)
				}
			}
			if !strings.Contains(result.Errors, "calls of forms::original: with those of another, whose code is the same") {
				t.Errorf("the alias is not named: %s", result.Errors)
			}
			for _, function := range []string{"forms::resumed", "forms::Open::~Open"} {
				if strings.Contains(result.Errors, "calls of "+function+" are counted without") {
					t.Errorf("calls of %s are said to be missing: %s", function, result.Errors)
				}
			}
		})
	}
}

// Where two functions have one code, calls of both count and the other one is named; one without any is not said to be unknown.
func TestFunctionsOfOneCode(t *testing.T) {
	result, recording := recordPer(t, compiled(t, "gcc", "-O2", "twins.c"), []string{"--per", "second_twin"})
	if count := harness.ReadReport(t, recording).Unit("second_twin").Count; count != 20 || !strings.Contains(result.Errors, "calls of second_twin: with those of first_twin, whose code is the same") {
		t.Errorf("%s: %d calls: %s", result.Ending(), count, result.Errors)
	}
	result, _ = recordPer(t, compiled(t, "gcc", "-O3", "twins.c"), []string{"--per", "second_twin"})
	if result.Status != 125 || !strings.Contains(result.Errors, "second_twin has no code of its own: nothing calls it, or the compiler has found another function to do the same") {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
}
