package launch

import (
	"slices"
	"testing"
)

func TestPreload(t *testing.T) {
	for before, want := range map[string]string{
		"":                  "/l.so",
		"other.so":          "/l.so:other.so",
		"a.so b.so":         "/l.so:a.so:b.so",
		"a.so:/l.so: :b.so": "/l.so:a.so:b.so", // nested: once, and first
	} {
		if got := Preload([]string{"A=1", "LD_PRELOAD=" + before}, "/l.so"); got != "LD_PRELOAD="+want {
			t.Errorf("after %q: %q", before, got)
		}
	}
	if got := Preload(nil, "/l.so"); got != "LD_PRELOAD=/l.so" {
		t.Error(got)
	}
}

func TestRecordInto(t *testing.T) {
	for _, test := range []struct {
		before, folder string
		hertz          int
		want           string
	}{
		{"", "/x/a.mallow", 0, "record=/x/a.mallow"},
		{"", "/a:b 100%/c", 0, "record=/a%3Ab 100%25/c"},
		{"verbose=1", "/c", 0, "verbose=1:record=/c"},
		{"record=/old:verbose=1", "/c", 0, "verbose=1:record=/c"},
		{"record=/old:cpu=5:verbose=1", "/c", 0, "verbose=1:record=/c"},
		{"cpu=5", "/c", 100, "record=/c:cpu=100"},
		{":", "/c", 0, "record=/c"},
	} {
		if got := RecordInto([]string{"MALLOW_OPTIONS=" + test.before}, test.folder, RecordOptions{CPUHertz: test.hertz}); got != "MALLOW_OPTIONS="+test.want {
			t.Errorf("%q into %q: %q", test.before, test.folder, got)
		}
	}
}

func TestReplaced(t *testing.T) {
	env := []string{"A=1", "LD_PRELOAD=x", "B=2"}
	got := replaced(env, []string{"LD_PRELOAD=y", "MALLOW_OPTIONS=z"})
	if want := []string{"A=1", "LD_PRELOAD=y", "B=2", "MALLOW_OPTIONS=z"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if env[1] != "LD_PRELOAD=x" {
		t.Error("the caller's environment was changed")
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "plain", "/usr/bin/c++": "/usr/bin/c++", "ü": "ü", "-o": "-o",
		"two words": `"two words"`, "": `""`, "a\x1b[31m": `"a\x1b[31m"`, "\xff": `"\xff"`, "new\nline": `"new\nline"`, `q"`: `"q\""`,
	} {
		if got := Quote(name); got != want {
			t.Errorf("%q: %s, not %s", name, got, want)
		}
	}
}
