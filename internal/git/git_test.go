package git

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotOfTheHook(t *testing.T) {
	ctx := context.Background()
	own, other := t.TempDir(), t.TempDir()
	for _, folder := range []string{own, other} {
		if _, err := Run(ctx, folder, "init", "--quiet"); err != nil {
			t.Fatal(err)
		}
	}
	// As git sets them for a hook of the other repository.
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git", "index"))
	top, err := Run(ctx, own, "rev-parse", "--show-toplevel")
	if want, _ := filepath.EvalSymlinks(own); err != nil || top != want {
		t.Errorf("%q %v, want %q", top, err, want)
	}
}

func TestErrors(t *testing.T) {
	_, err := Run(context.Background(), t.TempDir(), "rev-parse", "--show-toplevel")
	if err == nil || !strings.HasPrefix(err.Error(), "git rev-parse: fatal: not a git repository") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	// A command that says nothing is told by its status.
	folder := t.TempDir()
	if _, err := Run(context.Background(), folder, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), folder, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil || err.Error() != "git rev-parse: exit status 1" {
		t.Errorf("%v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Run(context.Background(), folder, "status"); err == nil || err.Error() != "there is no git command in PATH" {
		t.Errorf("%v", err)
	}
}
