package launch

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

func TestMakeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	defer syscall.Umask(syscall.Umask(0))
	c := Command{Name: "/usr/bin/tool"}
	for _, want := range []string{"tool.77.mallow", "tool.77.2.mallow", "tool.77.3.mallow"} {
		name, err := MakeFolder("", c, 77)
		if err != nil || name != want {
			t.Fatalf("%q, %v", name, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	for _, name := range []string{"tool.77.mallow", "none/x.mallow"} {
		var e *Error
		if _, err := MakeFolder(name, c, 77); !errors.As(err, &e) || e.Code != StatusCannotRecord {
			t.Errorf("%s: %v", name, err)
		}
	}
	if name, err := MakeFolder("chosen.mallow/", c, 77); err != nil || name != "chosen.mallow" {
		t.Errorf("%q, %v", name, err)
	}
}
