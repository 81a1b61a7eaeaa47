package gocode

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/git"
)

// A go.work that git ignores holds for the files of a commit, too.
func TestWorkspaceOfACommit(t *testing.T) {
	root, ctx := t.TempDir(), context.Background()
	write := func(name, text string) {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		if _, err := git.Run(ctx, root, args...); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() {
		run("add", ".")
		run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "more")
	}
	workspace := func(revision, folder string) string {
		t.Chdir(filepath.Join(root, folder))
		r, err := CheckOut(revision, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(r.Folder, "..", "go.work"))
		if err != nil {
			return ""
		}
		return string(content)
	}
	run("init", "--quiet")
	write(".gitignore", "go.work\n")
	write("one/go.mod", "module example.org/one\n")
	commit()
	write("two/go.mod", "module example.org/two\n")
	if got := workspace("HEAD", "one"); got != "" {
		t.Errorf("without one: %q", got)
	}
	write("go.work", "go 1.26\n\nuse (\n\t./one\n\t./two\n)\n")
	if got := workspace("HEAD", "one"); got != "go 1.26\n\nuse ./one\n" && got != "go 1.26\n\nuse (\n\t./one\n)\n" {
		t.Errorf("of a commit that has one module: %q", got)
	}
	commit()
	if got := workspace("HEAD", "two"); got != "go 1.26\n\nuse (\n\t./one\n\t./two\n)\n" {
		t.Errorf("of a commit that has both: %q", got)
	}
	run("add", "--force", "go.work")
	commit()
	if got := workspace("HEAD~1", "one"); got != "" {
		t.Errorf("of a commit before git had it: %q", got)
	}
}
