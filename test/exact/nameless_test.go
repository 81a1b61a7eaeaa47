package exact

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

const usesLibrary = `#include <filesystem>
#include <sstream>
#include <string>
static volatile unsigned long sink;
void texts() {
  for (int i = 0; i < 50; ++i) {
    std::ostringstream text;
    text << std::string(600, 'x');
    sink = text.str().size();
  }
}
void paths() {
  for (int i = 0; i < 50; ++i) {
    std::filesystem::path path = "/a folder/with a long name";
    path /= "and a file";
    sink = path.parent_path().native().size();
  }
}
int main() { texts(); paths(); }
`

// Functions of the C++ library that it does not export have no names, and allocate for the line that called into the
// library all the same. What the loader has it do for itself has no such line.
func TestNamelessFunctionsOfTheLibrary(t *testing.T) {
	folder := harness.TempDir(t)
	source, program := filepath.Join(folder, "uses.cc"), filepath.Join(folder, "uses")
	if err := os.WriteFile(source, []byte(usesLibrary), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("c++", "-std=c++17", "-g", "-O0", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, recording := harness.Record(t, harness.Command{Arguments: []string{program}})
	r := harness.ReadReport(t, recording)
	calls := make(map[string]uint64)
	for _, s := range r.Sites {
		of := harness.PlainName(s.Function)
		if strings.HasPrefix(filepath.Base(s.Module), "libstdc++") {
			of = "the library"
		}
		calls[of] += s.Allocations
	}
	if calls["texts"] < 200 || calls["paths"] < 150 || calls["the library"] > 1 || calls["call_init"] > 0 {
		t.Errorf("%v", calls)
	}
}
