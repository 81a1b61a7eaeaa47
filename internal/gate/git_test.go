package gate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/git"
)

// Budgets are no part of what is measured, whatever git makes of their names.
func TestDirty(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"mallow.toml", "own budget.toml", "ein \"Maß\".toml"} {
		root := t.TempDir()
		folder := filepath.Join(root, "sub folder")
		budget, program := filepath.Join(folder, name), filepath.Join(folder, "main.c")
		kept := filepath.Join(folder, stacksFolder, stacksName("a benchmark"))
		if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
			t.Fatal(err)
		}
		write := func(text string, files ...string) {
			for _, file := range files {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		run := func(args ...string) {
			if _, err := git.Run(ctx, root, args...); err != nil {
				t.Fatal(err)
			}
		}
		dirty := func() bool {
			r, err := openRepository(ctx, folder, name)
			if err != nil {
				t.Fatal(err)
			}
			return r.dirty
		}
		write("first\n", budget, kept, program)
		run("init", "--quiet")
		run("add", ".")
		run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "first")
		if write("other\n", budget, kept); dirty() {
			t.Errorf("%s: another budget makes the program another one", name)
		}
		if write("other\n", program); !dirty() {
			t.Errorf("%s: another program is not seen", name)
		}
		run("add", ".")
		run("mv", program, filepath.Join(folder, "x "+name))
		if !dirty() {
			t.Errorf("%s: a program that was renamed is not seen", name)
		}
	}
}

// What git bisect says where it has found the commit, of git 2.39 and 2.55.
func TestFirstNew(t *testing.T) {
	const commit = "559e671c43336e862a349ba6489beae525151f46"
	for _, said := range []string{
		commit + " is the first new commit\ncommit " + commit + "\n",
		commit + " is the first 'new' commit\ncommit " + commit + "\n",
	} {
		if m := firstNew.FindStringSubmatch(said); m == nil || m[1] != commit {
			t.Errorf("%q: %q", said, m)
		}
	}
}
