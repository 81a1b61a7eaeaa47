package internals

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mallow/test/harness"
)

// Who writes a seccomp filter finds every system call of libmallow in the manual.
func TestSystemCalls(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "manual", "record.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(harness.Root(), "libmallow", "*", "*.*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	call := regexp.MustCompile(`\bSYS_(\w+)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.cc") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(source), -1) {
			if !strings.Contains(string(page), "`"+m[1]+"`") {
				t.Errorf("%s makes %s, and docs/manual/record.md does not say so", filepath.Base(file), m[1])
			}
		}
	}
}
