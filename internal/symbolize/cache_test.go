package symbolize

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mallow/internal/own"
)

// cached symbolizes with a cache, whose folder may be shared by several calls.
func cached(t *testing.T, folder string, m Module, addrs []uint64) (frames [][]Frame, warnings []string) {
	t.Helper()
	s := New(Options{DebugDirs: []string{filepath.Join(filepath.Dir(m.Path), "debug")}, Cache: folder})
	defer s.Close()
	frames = s.Frames(m, addrs)
	if s.image(m).fresh {
		warnings = []string{"read anew"}
	}
	return frames, append(warnings, s.Warnings()...)
}

func wantCached(t *testing.T, what string, warnings []string, anew bool, text string) {
	t.Helper()
	was := len(warnings) > 0 && warnings[0] == "read anew"
	if was != anew || text == "" && len(warnings) > 1 || !strings.Contains(strings.Join(warnings, "\n"), text) {
		t.Errorf("%s: %q; want it read anew: %v, and %q", what, warnings, anew, text)
	}
}

func TestCache(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g")
	binary := duplicate(t, p.binary)
	folder := filepath.Join(t.TempDir(), "names")
	m := Module{Path: binary, BuildID: buildID(t, binary)}
	ask := func(addrs []uint64) []string {
		t.Helper()
		frames, warnings := cached(t, folder, m, addrs)
		for i := range frames {
			if !reflect.DeepEqual(frames[i], p.frames[i]) {
				t.Fatalf("%#x: %v, want %v", addrs[i], frames[i], p.frames[i])
			}
		}
		return warnings
	}
	half := p.addrs[:len(p.addrs)/2]
	wantCached(t, "first", ask(half), true, "")
	wantCached(t, "second", ask(half), false, "")
	wantCached(t, "with other addresses", ask(p.addrs), true, "")
	wantCached(t, "with these again", ask(p.addrs), false, "")

	entries, _ := filepath.Glob(filepath.Join(folder, "*", "*"))
	if len(entries) != 1 {
		t.Fatalf("entries %q", entries)
	}
	for _, path := range []string{filepath.Dir(entries[0]), entries[0]} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	sound, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}

	t.Run("damaged", func(t *testing.T) {
		for _, content := range [][]byte{nil, sound[:len(sound)/2], []byte("nonsense"), bytes.Replace(sound, []byte(symbolMagic), []byte("MALLOWRC"), 1)} {
			if err := os.WriteFile(entries[0], content, 0o600); err != nil {
				t.Fatal(err)
			}
			wantCached(t, fmt.Sprintf("%d bytes", len(content)), ask(p.addrs), true, "")
		}
		wantCached(t, "written again", ask(p.addrs), false, "")
	})
	t.Run("writable by others", func(t *testing.T) {
		if err := os.Chmod(entries[0], 0o666); err != nil {
			t.Fatal(err)
		}
		wantCached(t, "not believed", ask(p.addrs), true, "")
	})
	t.Run("a link", func(t *testing.T) {
		elsewhere := filepath.Join(t.TempDir(), "x")
		if err := os.Rename(entries[0], elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, entries[0]); err != nil {
			t.Fatal(err)
		}
		wantCached(t, "not followed", ask(p.addrs), true, "")
		wantCached(t, "replaced", ask(p.addrs), false, "")
	})
	t.Run("the file was touched", func(t *testing.T) {
		if err := os.Chtimes(binary, time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		wantCached(t, "touched", ask(p.addrs), true, "")
		wantCached(t, "touched, again", ask(p.addrs), false, "")
	})
	t.Run("a debug file is there now", func(t *testing.T) {
		file := filepath.Join(filepath.Dir(binary), "debug", ".build-id", fmt.Sprintf("%x", m.BuildID[:1]), fmt.Sprintf("%x.debug", m.BuildID[1:]))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		runIn(t, filepath.Dir(binary), "objcopy", "--only-keep-debug", binary, file)
		strip(t, binary)
		wantCached(t, "stripped", ask(p.addrs), true, "")
		wantCached(t, "stripped, again", ask(p.addrs), false, "")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		wantCached(t, "and gone again", ask(p.addrs), false, "")
	})
	t.Run("the file is gone", func(t *testing.T) {
		if err := os.Rename(binary, binary+".old"); err != nil {
			t.Fatal(err)
		}
		wantCached(t, "gone", ask(p.addrs), false, "no longer at")
	})
	t.Run("another file is there", func(t *testing.T) {
		copyFile(t, compile(t, "gcc", "nested.c", "-g"), binary)
		wantCached(t, "another", ask(p.addrs), false, fmt.Sprintf("(build id %x then, ", m.BuildID[:6]))
	})
	t.Run("another name", func(t *testing.T) {
		other := m
		other.Path = binary + ".old"
		_, warnings := cached(t, folder, other, p.addrs)
		wantCached(t, "another name", warnings, true, "without lines")
	})
}

func TestCacheWithoutBuildID(t *testing.T) {
	p := plain(t, "gcc", "nested.c", "-O2", "-g", "-Wl,--build-id=none")
	binary := duplicate(t, p.binary)
	folder := t.TempDir()
	m := Module{Path: binary}
	_, warnings := cached(t, folder, m, p.addrs)
	wantCached(t, "first", warnings, true, "")
	frames, warnings := cached(t, folder, m, p.addrs)
	wantCached(t, "second", warnings, false, "")
	if !reflect.DeepEqual(frames, p.frames) {
		t.Error("other frames")
	}
	if err := os.Chtimes(binary, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	_, warnings = cached(t, folder, m, p.addrs)
	wantCached(t, "touched", warnings, true, "")
}

// What is incomplete may be complete the next time.
func TestCacheLeavesIncompleteOut(t *testing.T) {
	dir := t.TempDir()
	source, err := filepath.Abs("testdata/nested.c")
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "gcc", "-O2", "-g", "-gsplit-dwarf", "-o", "program", source)
	dwos, _ := filepath.Glob(filepath.Join(dir, "*.dwo"))
	for _, dwo := range dwos {
		if err := os.Rename(dwo, dwo+".away"); err != nil {
			t.Fatal(err)
		}
	}
	m := Module{Path: filepath.Join(dir, "program")}
	addrs := codeAddresses(t, m.Path, 100)
	for range 2 {
		_, warnings := cached(t, filepath.Join(dir, "names"), m, addrs)
		wantCached(t, "without its units", warnings, true, "split debug file")
	}
}

func TestCacheIsBounded(t *testing.T) {
	folder := t.TempDir()
	ours := filepath.Join(folder, entriesPrefix+"1.1")
	older := filepath.Join(folder, entriesPrefix+"0.9")
	for _, dir := range []string{ours, older, filepath.Join(folder, "photos")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put := func(path string, size int64, age time.Duration) {
		t.Helper()
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil { // sparse
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(folder, "photos", "1"), 2*mostCached, 9*time.Hour)
	put(filepath.Join(older, "oldest"), mostCached/2, 9*time.Hour)
	put(filepath.Join(ours, "old"), mostCached/4-9, 8*time.Hour)
	put(filepath.Join(ours, "new"), mostCached/2, time.Hour)
	put(filepath.Join(ours, own.NewPrefix+"1"), 1, 48*time.Hour)
	put(filepath.Join(ours, own.NewPrefix+"2"), 1, time.Minute)
	cache{folder}.evict()
	left, _ := filepath.Glob(filepath.Join(folder, "*", "*"))
	var names []string
	for _, path := range left {
		names = append(names, filepath.Base(path))
	}
	if got := strings.Join(names, " "); got != ".new-2 new old 1" {
		t.Errorf("left: %s", got)
	}
}

func TestUserCache(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	for value, want := range map[string]string{"": home + "/.cache/mallow/symbols", "off": "", "/tmp/y": "/tmp/y", "relative": home + "/.cache/mallow/symbols"} {
		t.Setenv("MALLOW_SYMBOL_CACHE", value)
		if got := UserCache(); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("MALLOW_SYMBOL_CACHE", "")
	if got := UserCache(); got != "" {
		t.Errorf("without a home: %q", got)
	}
}

// No cache must not be able to make a report fail.
func TestCacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := plain(t, "gcc", "nested.c", "-O2", "-g")
	for _, folder := range []string{file, "/proc/none", "/dev/null/x"} {
		frames, warnings := cached(t, folder, Module{Path: p.binary}, p.addrs)
		wantCached(t, folder, warnings, true, "")
		if !reflect.DeepEqual(frames, p.frames) {
			t.Error("other frames")
		}
	}
}

func TestBroughtSymbols(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g")
	m := Module{Path: p.binary, BuildID: buildID(t, p.binary)}
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	half := len(p.addrs) / 2
	s.Frames(m, p.addrs[:half])
	s.Frames(Module{Path: "/gone/x.so"}, []uint64{0x10})
	var b, again bytes.Buffer
	if err := s.WriteSymbols(&b); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSymbols(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("the same names give other bytes (%v)", err)
	}

	other := New(Options{DebugDirs: []string{}})
	defer other.Close()
	if err := other.UseSymbols(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if got := other.Frames(m, p.addrs[:half]); !reflect.DeepEqual(got, p.frames[:half]) {
		t.Error("other frames")
	}
	if got := other.Frames(Module{Path: "/gone/x.so"}, []uint64{0x10}); got[0][0].Function != "x.so+0x10" {
		t.Errorf("got %v", got)
	}
	if !other.HasLines(m) || other.HasLines(Module{Path: "/gone/x.so"}) {
		t.Error("whether there are lines is lost")
	}
	if a, b := s.Warnings(), other.Warnings(); !reflect.DeepEqual(a, b) {
		t.Errorf("warnings %q, then %q", a, b)
	}
	if other.image(m).opened {
		t.Error("the file was opened")
	}
	// A copy that lies elsewhere, or nowhere any more, is the same file.
	if got := other.Frames(Module{Path: "/gone/copy", BuildID: m.BuildID}, p.addrs[:half]); !reflect.DeepEqual(got, p.frames[:half]) {
		t.Error("other frames for a copy")
	}
	// What is not in there is looked up as ever.
	if got := other.Frames(m, p.addrs); !reflect.DeepEqual(got, p.frames) {
		t.Error("other frames for all addresses")
	}
	if err := other.UseSymbols([]byte("x")); err == nil {
		t.Error("nonsense was taken")
	}
}

func TestNearest(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g")
	here := Module{Path: p.binary, BuildID: buildID(t, p.binary)}
	gone := Module{Path: "/gone/x.so", BuildID: here.BuildID}
	other := Module{Path: p.binary, BuildID: []byte("another one")}
	text := Module{Path: "cache_test.go", BuildID: here.BuildID}
	for _, copies := range [][]Module{{here}, {gone, here}, {here, gone}, {other, here}, {text, gone, here}} {
		if got := Nearest(copies); !reflect.DeepEqual(got, here) {
			t.Errorf("%v is nearest of %v", got, copies)
		}
	}
	if got := Nearest([]Module{gone, other}); !reflect.DeepEqual(got, gone) {
		t.Errorf("%v is nearest of what is not here", got)
	}
}
