package running

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	maps := strings.Join([]string{
		"55d0c0a00000-55d0c0a02000 r--p 00000000 fe:01 131 /usr/bin/cat",
		"7f0000000000-7f0000001000 rw-s 00000000 fe:01 77 /tmp/a b/x.mallow/image-1-2-0",
		`7f0000001000-7f0000002000 rw-s 00000000 fe:01 78 /tmp/a\012b`,
		"7f0000002000-7f0000003000 rw-s 00000000 fe:01 79 /tmp/gone (deleted)",
		"7f0000003000-7f0000004000 rw-p 00000000 00:00 0 [anon:a/b]",
		"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]",
		"no line of the kernel",
		"/", "",
	}, "\n")
	wanted := []string{"/usr/bin/cat", "/tmp/a b/x.mallow/image-1-2-0", "/tmp/a\nb", "/tmp/gone"}
	if got := paths(maps); !slices.Equal(got, wanted) {
		t.Errorf("got %q, not %q", got, wanted)
	}
}

func TestNotRecorded(t *testing.T) {
	if _, err := Recording(os.Getpid()); err == nil || !strings.Contains(err.Error(), "is not being recorded") {
		t.Errorf("got %v", err)
	}
	ended := exec.Command("/bin/true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := Recording(ended.Process.Pid); err == nil || !strings.Contains(err.Error(), "there is no process") {
		t.Errorf("got %v", err)
	}
}

// The user alone does not open a process that has more privileges, or that shows its memory to nobody.
func TestNotToBeLookedAt(t *testing.T) {
	for _, test := range []struct {
		owner, user uint32
		says        string
	}{
		{1000, 1001, "belongs to somebody else"}, {0, 1001, "belongs to somebody else"},
		{1001, 1001, "more privileges"}, {0, 0, "more privileges"}, {1000, 0, "more privileges"},
	} {
		if err := notToBeLookedAt(7, test.owner, test.user); !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "process 7 ") {
			t.Errorf("of %d, for %d: %v", test.owner, test.user, err)
		}
	}
}
