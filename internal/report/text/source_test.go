package text

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
)

// TestSource reads lines of what is there and was compiled, and of nothing
// else.
func TestSource(t *testing.T) {
	rec, err := recording.Open("../../../format/testdata/handmade/single-thread.mallow")
	if err != nil {
		t.Fatal(err)
	}
	p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
	folder := t.TempDir()
	written := func(name, content string, age time.Duration) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		at := p.Built("").Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	code := written("a.c", "one\n\t two  \t(x);\r\n\x1b[2J\u202ethree\n"+strings.Repeat("long ", 100)+"\nlast", time.Hour)
	newer := written("newer.c", "one\n", -time.Hour)
	huge := written("huge.c", strings.Repeat("x", longestRawLine+1)+"\nsecond\n", time.Hour)
	pipe := filepath.Join(folder, "pipe.c")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &source{profile: p}
	for _, c := range []struct {
		file string
		line int
		want string
	}{
		{code, 1, "one"}, {code, 2, "two (x);"}, {code, 3, `\x1b[2J\u{202e}three`}, {code, 5, "last"}, {code, 6, ""}, {code, 0, ""},
		{code, -1, ""}, {newer, 1, ""}, {huge, 2, ""}, {pipe, 1, ""}, {folder, 1, ""}, {"/dev/zero", 1, ""},
		{"a.c", 1, ""}, {filepath.Join(folder, "none.c"), 1, ""}, {"", 1, ""},
	} {
		if got := s.line(&profile.Frame{File: c.file, Line: c.line}); got != c.want {
			t.Errorf("%s:%d: %q, want %q", c.file, c.line, got, c.want)
		}
	}
	if got := s.line(&profile.Frame{File: code, Line: 4}); len([]rune(got)) != longestCode {
		t.Errorf("a long line: %q", got)
	}
	s.line(&profile.Frame{File: newer, Line: 1})
	notes := s.notes()
	if len(notes) != 1 || !strings.Contains(notes[0], "newer.c is newer than the program: its lines are not shown") {
		t.Error(notes)
	}
}
