package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// TestHeaders compiles what a program includes as old programs are compiled, with warnings as errors: the standards of 1989 and
// 1998, and inline assembly in either syntax.
func TestHeaders(t *testing.T) {
	const calls = `int main(void) {
  unsigned depth = mallow_region_begin("region");
  mallow_unit("unit", 1);
  mallow_region_return_to(depth);
  mallow_region_end();
  return 0;
}
`
	source := filepath.Join(t.TempDir(), "included")
	text := "#include <mallow/mallow.h>\n#include <mallow/tc.h>\n#include <mallow/tc_extension.h>\n" + calls
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{
		"cc c -std=gnu89", "cc c -std=c89", "cc c -std=c17", "cc c -std=c89 -masm=intel", "cc c -fno-pie -no-pie -masm=intel",
		"c++ c++ -std=c++98", "c++ c++ -std=c++11", "c++ c++ -std=c++20", "c++ c++ -std=c++98 -masm=intel",
	} {
		t.Run(flags, func(t *testing.T) {
			words := strings.Fields(flags)
			program := filepath.Join(t.TempDir(), "program")
			arguments := append([]string{tool(t, words[0], "g++"), "-x", words[1]}, words[2:]...)
			arguments = append(arguments, "-Wall", "-Wextra", "-Werror", "-pedantic",
				"-I"+filepath.Join(harness.Root(), "include"), source, "-o", program)
			must(t, harness.Command{Arguments: arguments})
			must(t, harness.Command{Arguments: []string{program}})
		})
	}
}
