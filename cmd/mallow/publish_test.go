package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A result that is shown nowhere is a mistake in a script, which would go on
// for ever where it is no error.
func TestPublishWithoutForm(t *testing.T) {
	result := filepath.Join(t.TempDir(), "gate.json")
	if err := os.WriteFile(result, []byte(`{"schema":"mallow.gate/1","checks":[],"notes":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_ACTIONS", "")
	for _, args := range [][]string{{result}, {"--strict", result}, {"--name", "other", "--root", ".", result}, {"--summary", "", result}} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"gate", "publish"}, args...), &stdout, &stderr)
		want := "mallow: no form given to write the result in: --summary, --annotations, --junit, --code-quality, --metrics or --comment"
		if code != 1 || !strings.HasPrefix(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%q: %d %q%q", args, code, stdout.String(), stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"gate", "publish", "--metrics", "-", result}, &stdout, &stderr); code != 0 || stdout.String() != "# EOF\n" {
		t.Errorf("%d %q%q", code, stdout.String(), stderr.String())
	}
}
