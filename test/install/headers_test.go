package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// TestHeaders compiles what a program includes as old and as strict programs are compiled, with warnings as errors: the
// standards of 1989 and 1998, and inline assembly in either syntax.
func TestHeaders(t *testing.T) {
	const calls = `int main(void) {
  unsigned depth = mallow_region_begin("region");
  mallow_unit("unit", 1);
  mallow_region_return_to(depth);
  mallow_region_end();
  return 0;
}
`
	compileStrictly(t, "#include <mallow/mallow.h>\n#include <mallow/tc.h>\n#include <mallow/tc_extension.h>\n"+calls,
		"cc c -std=gnu89", "cc c -std=c89", "cc c -std=c17", "cc c -std=c89 -masm=intel", "cc c -fno-pie -no-pie -masm=intel",
		"c++ c++ -std=c++98", "c++ c++ -std=c++11", "c++ c++ -std=c++20", "c++ c++ -std=c++98 -masm=intel")
}

// TestExpectHeader does the same with the header for tests, which begins with C99: where extensions are off, libc declares
// nothing but the standard's functions and those of a program that asks for none else.
func TestExpectHeader(t *testing.T) {
	const test = `#include <mallow/expect.h>
int main(void) {
  MALLOW_EXPECT_ALLOCATIONS(1) { free(malloc(1)); }
  return 0;
}
`
	compileStrictly(t, test, "cc c -std=c99", "cc c -std=c17", "cc c -std=gnu17", "c++ c++ -std=c++98",
		"c++ c++ -std=c++20 -Wconversion -Wold-style-cast -Wuseless-cast")
}

// compileStrictly compiles a program and runs it, each time with other flags: compiler, language, options.
func compileStrictly(t *testing.T, text string, all ...string) {
	source := filepath.Join(t.TempDir(), "included")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range all {
		t.Run(flags, func(t *testing.T) {
			words := strings.Fields(flags)
			program := filepath.Join(t.TempDir(), "program")
			arguments := append([]string{tool(t, words[0], "g++"), "-x", words[1]}, words[2:]...)
			arguments = append(arguments, "-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic",
				"-I"+filepath.Join(harness.Root(), "include"), source, "-o", program)
			must(t, harness.Command{Arguments: arguments})
			must(t, harness.Command{Arguments: []string{program}})
		})
	}
}
