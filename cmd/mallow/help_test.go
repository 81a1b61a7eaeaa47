package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The page for man has the help of every verb, word for word.
func TestManualPage(t *testing.T) {
	code, page, stderr := mallow("help", "--man")
	if code != 0 || stderr != "" || !strings.HasPrefix(page, ".TH MALLOW 1 ") {
		t.Fatal(code, page, stderr)
	}
	for line := range strings.Lines(page) {
		macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .SS .nf .fi ", " "+macro+" ") || strings.HasPrefix(line, "'") {
			t.Errorf("%q is taken for a request", line)
		}
	}
	man, err := exec.LookPath("man")
	if err != nil {
		t.Skip("man is not installed")
	}
	file := filepath.Join(t.TempDir(), "mallow.1")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(man, "--warnings", "-E", "UTF-8", "-l", file)
	command.Env = append(os.Environ(), "MANWIDTH=200", "MANROFFOPT=", "LC_ALL=C.UTF-8")
	var problems strings.Builder
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("%v: %s", err, problems.String())
	}
	shown := strings.Join(strings.Fields(string(out)), " ")
	for _, verb := range [][]string{{}, {"record"}, {"history", "add"}, {"go", "gate"}, {"report"}} {
		_, help, _ := mallow(append([]string{"help"}, verb...)...)
		if words := strings.Join(strings.Fields(help), " "); !strings.Contains(shown, words) {
			t.Errorf("of help %q there is not\n%s\nin\n%s", verb, words, out)
		}
	}
}
