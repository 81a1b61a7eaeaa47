package gate

import (
	"testing"

	"mallow/internal/budget"
)

func TestOwnPaths(t *testing.T) {
	o := newOwnPaths("/src/a b", "/link/sub", "sub")
	for text, want := range map[string]bool{
		"/src/a b": true, "/src/a b/w": true, "make -C '/src/a b'": true, "cc -I/src/a b/include": true, "A=/src/a b/w": true, "x:/link/w": true,
		"w": false, "./w": false, "/src/a bc/w": false, "/src/a b.old": false, "/other/src/a b": false, "other/link": false, "/": false, "": false,
	} {
		for what, b := range map[string]*budget.Benchmark{
			"command": {Command: []string{"w", text}}, "shell": {Shell: text}, "build": {Build: text}, "env": {Env: []string{text}}, "folder": {Folder: text}, "stdin": {Stdin: text},
		} {
			if err := o.check(b, " at 12"); (err != nil) != want {
				t.Errorf("%s %q: %v", what, text, err)
			}
		}
	}
	for _, all := range []*ownPaths{nil, newOwnPaths("/", "/sub", "sub"), newOwnPaths("/", "/", ".")} {
		if err := all.check(&budget.Benchmark{Command: []string{"/bin/w"}}, ""); err != nil {
			t.Error(err)
		}
	}
}
