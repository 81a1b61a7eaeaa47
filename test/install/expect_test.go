package install

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mallow/test/harness"
)

// Tests of an outside project, which hold its code to numbers of allocations, run by ctest as the recipe has it.
func TestExpect(t *testing.T) {
	cmake := tool(t, "cmake", "cmake")
	build := t.TempDir()
	must(t, harness.Command{Arguments: []string{cmake, "-S", project("expect"), "-B", build, "-DCMAKE_PREFIX_PATH=" + tree(t)}})
	must(t, harness.Command{Arguments: []string{cmake, "--build", build}})
	t.Cleanup(func() {
		left, _ := filepath.Glob("/tmp/mallow-expect-*.mallow") // what the failures below name
		for _, folder := range left {
			os.RemoveAll(folder)
		}
	})
	must(t, harness.Command{Arguments: []string{tool(t, "ctest", "cmake"), "--output-on-failure"}, Directory: build})

	// What fails names a recording, of which a report shows the braces alone.
	asserts := filepath.Join(build, "words_asserts")
	failed := harness.Run(t, harness.Command{Arguments: []string{asserts, "more"}, Settings: []string{libraryPath(t)}})
	named := regexp.MustCompile(`words_asserts.c:19: 4 allocations of 20 bytes, and 3 expected; what they are: mallow (report) (--region) '(.*)' (.*)\n`).FindStringSubmatch(failed.Errors)
	if failed.Signal == 0 || named == nil {
		t.Fatalf("%s\n%s", failed.Ending(), failed.Errors)
	}
	report := must(t, harness.Command{Arguments: append([]string{harness.CLI(t)}, named[1:]...)})
	if !strings.HasPrefix(report, "mallow: 4 allocations, 4 frees") || !strings.Contains(report, "CopyWord ") {
		t.Error(report)
	}

	// Elsewhere it says once that nothing is counted, and fails only where that is required.
	program := filepath.Join(build, "words_test")
	for _, filter := range []string{"--gtest_filter=*Block*:*Thread*"} {
		result := harness.Run(t, harness.Command{Arguments: []string{program, filter}})
		if result.Status != 0 || strings.Count(result.Errors, "allocations are not counted: this is not running on libmallow") != 1 {
			t.Errorf("%s\n%s", result.Ending(), result.Errors)
		}
		result = harness.Run(t, harness.Command{Arguments: []string{program, filter}, Settings: []string{"MALLOW_EXPECT=required"}})
		if result.Status != 1 || !strings.Contains(result.Output, "allocations are not counted") {
			t.Errorf("%s\n%s", result.Ending(), result.Output)
		}
	}
	// Under mallow record it counts, too.
	result, _ := harness.Record(t, harness.Command{Arguments: []string{program}, Settings: []string{"MALLOW_EXPECT=required"}})
	if result.Status != 0 {
		t.Errorf("recorded: %s\n%s", result.Ending(), result.Output)
	}
}
