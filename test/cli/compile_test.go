package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// compile builds a C program for one test.
func compile(t *testing.T, source string, options ...string) string {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	file := program + ".c"
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"-o", program, file}, options...)
	if output, err := exec.Command("gcc", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, output)
	}
	return program
}
