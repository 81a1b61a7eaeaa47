package units

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mallow/test/harness"
)

// calls says how often calls.cc calls its functions.
var calls = map[string]uint64{
	"early_exit": 150, "word_of_memory": 25, "recursive": 10, "many": 5, "called_back": 30, "throws": 20, "jumps": 7, "handler": 6,
	"in_thread": 40000, "in_child": 9, "short_jump": 10, "backward": 10, "keeps_all": 10, "marked": 10,
	"call_first": 10, "call_by_word": 10, "call_by_register": 10, "called_first": 30,
	"in_library": 1, "hidden": 60,
	"server::Request::serve": 23, "server::twice": 27,
}

func perFlags() []string {
	var flags []string
	for name := range calls {
		flags = append(flags, "--per", name)
	}
	return flags
}

func recordPer(t testing.TB, program string, flags []string, arguments ...string) (harness.Result, string) {
	t.Helper()
	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	command := append([]string{harness.CLI(t), "record", "-o", recording}, flags...)
	return harness.Run(t, harness.Command{Arguments: append(append(command, "--", program), arguments...)}), recording
}

func callsProgram(t testing.TB, flags ...string) string {
	t.Helper()
	library := compiled(t, "gcc", "-O1", "-shared", "-fPIC", "calls_library.c")
	return compiled(t, "g++", append(flags, "calls.cc", library)...)
}

func TestCallsOfFunctions(t *testing.T) {
	for name, flags := range map[string][]string{
		"position independent":       {"-O1", "-fpie", "-pie"},
		"at a fixed address":         {"-O1", "-fno-pie", "-no-pie"},
		"not optimized":              {"-O0"},
		"optimized":                  {"-O2"},
		"with marked branch targets": {"-O2", "-fcf-protection=full"},
	} {
		t.Run(name, func(t *testing.T) {
			program := callsProgram(t, flags...)
			for _, argument := range []string{"", "kill"} {
				result, recording := recordPer(t, program, perFlags(), argument)
				if argument == "" && (result.Status != 0 || result.Output != "done\n") || argument != "" && result.Signal != syscall.SIGKILL {
					t.Fatalf("%s: %s%s", result.Ending(), result.Output, result.Errors)
				}
				report := harness.ReadReport(t, recording)
				for function, want := range calls {
					unit := report.Unit(function)
					if unit.Count != want || !unit.Function {
						t.Errorf("%s: %+v, want %d", function, unit, want)
					}
				}
				if report.Quality.TruncatedStacks != 0 {
					t.Errorf("%+v", report.Quality)
				}
			}
		})
	}
}

// Of several functions of a name one can be meant, and none counts twice.
func TestOverloadedFunctions(t *testing.T) {
	program := callsProgram(t, "-O2")
	_, recording := recordPer(t, program, []string{"--per", "server::Request::serve(int)", "--per", "double server::twice<double>(double)"})
	report := harness.ReadReport(t, recording)
	if one, two := report.Unit("server::Request::serve(int)").Count, report.Unit("double server::twice<double>(double)").Count; one != 11 || two != 14 {
		t.Errorf("%d and %d calls", one, two)
	}
	result, _ := recordPer(t, program, []string{"--per", "server::twice", "--per", "double server::twice<double>(double)"})
	if result.Status != 125 || !strings.Contains(result.Errors, "they count as calls of server::twice already") {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
}

// The child of a handler that interrupted the counting goes on with it.
func TestForkWhileCounting(t *testing.T) {
	result, recording := recordPer(t, harness.Program(t, "programs/fork_in_unit"), []string{"--per", "counted"})
	var forks, owns, counts uint64
	if n, _ := fmt.Sscan(result.Output, &forks, &owns, &counts); n != 3 || result.Status != 0 || forks < 50 {
		t.Fatalf("%s: %q %s", result.Ending(), result.Output, result.Errors)
	}
	report := harness.ReadReport(t, recording)
	if children := report.Unit("child").Count; children != forks {
		t.Errorf("%d of %d children have counted", children, forks)
	}
	// What was interrupted before it was counted counts in the child, too.
	for name, own := range map[string]uint64{"own": owns, "counted": counts} {
		if all := report.Unit(name).Count; all < own || all > own+forks {
			t.Errorf("%d %s, of which %d in the parent", all, name, own)
		}
	}
}

// Which of several functions of a name cannot be counted is said by its name in the source.
func TestRefusedOverload(t *testing.T) {
	program := compiled(t, "g++", "-O2", "refused.cc")
	result, _ := recordPer(t, program, []string{"--per", "server::tiny"})
	if result.Status != 125 || !strings.Contains(result.Errors, "calls of server::tiny(int) cannot be counted: it is too short") {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
	result, recording := recordPer(t, program, []string{"--per", "server::tiny(double)"})
	if count := harness.ReadReport(t, recording).Unit("server::tiny(double)").Count; result.Status != 0 || count != 1 {
		t.Errorf("%s: %d calls", result.Ending(), count)
	}
}

// What is counted from outside is what the program counts itself.
func TestCallsOfARealProgram(t *testing.T) {
	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	script := `for i in {1..200}; do f() { x="$x$i"; }; f; done; echo done`
	result := harness.Run(t, harness.Command{Arguments: []string{
		harness.CLI(t), "record", "-o", recording, "--per", "xmalloc", "--per", "execute_command_internal", "--", "/bin/bash", "-c", script}})
	if result.Output != "done\n" {
		t.Fatalf("%s: %s", result.Ending(), result.Errors)
	}
	report := harness.ReadReport(t, recording, "--stacks", "0")
	var allocations uint64
	for _, site := range report.Sites {
		for _, stack := range site.Stacks {
			if stack.Frames[0].Function == "xmalloc" {
				allocations += stack.Allocations
			}
		}
	}
	if count := report.Unit("xmalloc").Count; count != allocations || count == 0 {
		t.Errorf("%d calls of xmalloc, which made %d allocations", count, allocations)
	}
	if count := report.Unit("execute_command_internal").Count; count < 400 {
		t.Errorf("%d commands", count)
	}
}

func TestRefusedFunctions(t *testing.T) {
	program := compiled(t, "gcc", "-O2", "refused.c")
	for function, why := range map[string]string{
		"tiny":          "calls of tiny cannot be counted: it is too short",
		"loop":          "calls of loop cannot be counted: a loop begins with its first instruction",
		"calls":         "calls of calls cannot be counted: it calls another function",
		"sizeless":      "the symbol table does not say how long it is",
		"chosen":        "chosen when the program runs",
		"inlined":       "inlined has no code of its own",
		"nothing":       "there is no function nothing in program or its libraries",
		"main@/bin/nil": "no such file",
		"main@":         "is no name of a function",
		"malloc":        "malloc is libmallow's own",
	} {
		result, recording := recordPer(t, program, []string{"--per", function})
		if result.Status != 125 || !strings.Contains(result.Errors, why) || strings.Count(result.Errors, "\n") != 1 || result.Output != "" {
			t.Errorf("%s: %s: %q%q", function, result.Ending(), result.Errors, result.Output)
		}
		if matches, _ := filepath.Glob(recording); len(matches) > 0 {
			t.Errorf("%s: left %v", function, matches)
		}
	}
}

// Of functions that no other file sees debug information has no linkage name: they are known by every name that nm, a
// report or the source has of them, and what was inlined of them is said.
func TestFunctionsOfOneFile(t *testing.T) {
	program := compiled(t, "g++", "-O2", "internal.cc")
	for _, function := range []string{"_ZN3netL7inlinedEi", "net::inlined", "net::inlined(int)"} {
		result, _ := recordPer(t, program, []string{"--per", function})
		if result.Status != 125 || !strings.Contains(result.Errors, function+" has no code of its own") {
			t.Errorf("%s: %s: %q", function, result.Ending(), result.Errors)
		}
	}
	for function, want := range map[string]struct {
		count   uint64
		inlined bool
	}{
		"_ZN3netL6copiedEPiii":                  {10, false},
		"_ZN3netL6copiedEPiii.constprop.0":      {10, false},
		"_ZN3net12_GLOBAL__N_16partlyEi":        {10, false},
		"_ZN3net12_GLOBAL__N_14bothEi":          {10, true},
		"net::(anonymous namespace)::both":      {10, true},
		"net::both":                             {10, true},
		"net::(anonymous namespace)::both(int)": {10, true},
	} {
		result, recording := recordPer(t, program, []string{"--per", function})
		if result.Status != 0 {
			t.Errorf("%s: %s: %s", function, result.Ending(), result.Errors)
			continue
		}
		if unit := harness.ReadReport(t, recording).Unit(function); unit.Count != want.count {
			t.Errorf("%s: %+v, want %d", function, unit, want.count)
		}
		if said := strings.Contains(result.Errors, "without those that the compiler has inlined, in 1 place"); said != want.inlined {
			t.Errorf("%s: inlined calls are said: %v: %s", function, said, result.Errors)
		}
	}
}

// Calls that are not seen are said.
func TestCallsThatAreNotSeen(t *testing.T) {
	program := compiled(t, "gcc", "-O2", "-x", "c", "refused.c", "-Dnoinline=always_inline")
	result, _ := recordPer(t, program, []string{"--per", "partly"})
	if !strings.Contains(result.Errors, "without those that the compiler has inlined, in 1 place") {
		t.Errorf("%s", result.Errors)
	}
	host := compiled(t, "gcc", "-O2", "host.c")
	plugin := compiled(t, "gcc", "-O2", "-shared", "-fPIC", "plugin.c")
	result, _ = recordPer(t, host, []string{"--per", "plugin@" + plugin}, plugin)
	if result.Output != "done\n" || !strings.Contains(result.Errors, "calls of plugin are not counted: its module was not loaded when the program started") {
		t.Errorf("%s", result.Errors)
	}
}

// Where code must not be changed it is not, and the report says so.
func TestCallsWhereCodeIsProtected(t *testing.T) {
	program, guard := callsProgram(t, "-O1"), compiled(t, "gcc", "protected.c")
	if result := harness.Run(t, harness.Command{Arguments: []string{guard, "/bin/true"}}); result.Status != 0 {
		t.Skip("this kernel does not forbid it")
	}
	result, recording := recordPer(t, guard, []string{"--per", "early_exit@" + program}, program)
	if result.Output != "done\n" || !strings.Contains(result.Errors, "calls of early_exit are not counted: the system does not let its code be changed") {
		t.Errorf("%s: %s%s", result.Ending(), result.Output, result.Errors)
	}
	if warnings := harness.ReadReport(t, recording).Quality.Warnings; strings.Contains(strings.Join(warnings, "\n"), "not loaded") {
		t.Errorf("the program that has none of it is blamed: %q", warnings)
	}
}

// A program may name its libraries by a path that begins where it is started.
func TestLibraryOfARelativePath(t *testing.T) {
	folder := harness.TempDir(t)
	library, err := os.ReadFile(compiled(t, "gcc", "-O1", "-shared", "-fPIC", "calls_library.c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "library.so"), library, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	source := filepath.Join(harness.Root(), "test", "units", "testdata", "calls.cc")
	if result := harness.Run(t, harness.Command{Arguments: []string{"g++", "-o", program, source, "./library.so", "-pthread"}, Directory: folder}); result.Status != 0 {
		t.Fatal(result.Errors)
	}
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "-o", "run.mallow", "--per", "in_library", "--", program}, Directory: folder})
	if result.Status != 0 || !strings.Contains(result.Errors, "call of in_library") {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
}

// Of a script, the function is that of its interpreter; another program that it starts is named.
func TestCallsInAChildProgram(t *testing.T) {
	program := callsProgram(t, "-O1")
	result, recording := recordPer(t, "/bin/sh", []string{"--per", "early_exit@" + program}, "-c", program+"; "+program)
	if result.Output != "done\ndone\n" {
		t.Fatalf("%s: %s%s", result.Ending(), result.Output, result.Errors)
	}
	if count := harness.ReadReport(t, recording).Unit("early_exit").Count; count != 300 {
		t.Errorf("%d calls", count)
	}
}

var refusal = regexp.MustCompile(`calls of (\w+) cannot be counted`)

// A program whose functions are changed by the dozen does what it did.
func TestManyFunctionsOfARealProgram(t *testing.T) {
	const batches, each = 8, 25
	const script = `x=(); for i in {1..40}; do x+=("a$i"); done; echo "${x[@]:3:5}" | tr a b; case ${x[7]} in a?) echo ${#x[@]};; esac
		f() { local y=$1; (( y > 0 )) && f $((y - 1)); printf %s "$y"; }; f 9; read -r z <<<"$(echo $((3 * 14)))"; echo " $z ${HOME/h/H}"`
	file, err := elf.Open("/bin/bash")
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	own := make(map[string]bool) // of libmallow
	library, err := elf.Open(harness.Library(t))
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	exported, err := library.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range exported {
		own[s.Name] = true
	}
	var names []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 32 && !own[s.Name] {
			names = append(names, s.Name)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	want := harness.Run(t, harness.Command{Arguments: []string{"/bin/bash", "-c", script}})
	var called, counted uint64
	for range batches {
		var flags []string
		for _, name := range names[:each] {
			flags = append(flags, "--per", name)
		}
		names = names[each:]
		result, recording := recordPer(t, "/bin/bash", flags, "-c", script)
		for result.Status == 125 { // one of them is too short, or the like
			refused := refusal.FindStringSubmatch(result.Errors)
			if refused == nil {
				t.Fatal(result.Errors)
			}
			at := slices.Index(flags, refused[1])
			flags = append(slices.Delete(flags, at-1, at+1), "--per", names[0])
			names = names[1:]
			result, recording = recordPer(t, "/bin/bash", flags, "-c", script)
		}
		if result.Status != want.Status || result.Output != want.Output {
			t.Fatalf("%v: %s: %s%s", flags, result.Ending(), result.Output, result.Errors)
		}
		for _, unit := range harness.ReadReport(t, recording).Units {
			counted++
			if unit.Count > 0 {
				called++
			}
		}
	}
	if counted != batches*each || called < 10 {
		t.Errorf("%d functions counted, %d of them called", counted, called)
	}
	t.Logf("%d functions counted, %d of them called", counted, called)
}
