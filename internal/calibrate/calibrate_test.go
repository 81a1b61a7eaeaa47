package calibrate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"mallow/internal/advise/price"
)

func built(t *testing.T) []byte {
	program, err := embedded.ReadFile(programName)
	if err != nil {
		t.Skip("the program that measures was not built: run make")
	}
	return program
}

func TestMeasuresLibc(t *testing.T) {
	file, err := inMemory(built(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := execute(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ns := table.Hot[0].Nanoseconds; ns < 1 || ns > 1000 {
		t.Errorf("a malloc and free of %d bytes take %v ns", table.Hot[0].Size, ns)
	}
}

func TestCostsAreMeasuredOnce(t *testing.T) {
	built(t)
	library, err := filepath.Abs("../../build/libmallow.so")
	if _, statErr := os.Stat(library); err != nil || statErr != nil {
		t.Skip("libmallow.so was not built: run make")
	}
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("MALLOW_LIB", library)
	first := Costs(price.Glibc)
	if first == nil {
		t.Fatal("no costs")
	}
	if first.Malloc != "glibc's malloc" {
		t.Errorf("of %q", first.Malloc)
	}
	if plain, recorded := first.Libmallow.Hot[1].Nanoseconds, first.Recorded.Hot[1].Nanoseconds; recorded <= plain {
		t.Errorf("a recorded pair takes %v ns, one that is not recorded %v", recorded, plain)
	}
	if second := Costs(price.Glibc); !reflect.DeepEqual(first, second) {
		t.Error("measured again, or read otherwise than written")
	}
	if files, _ := filepath.Glob(filepath.Join(home, "mallow", "*")); len(files) != 1 {
		t.Errorf("keeps %v", files)
	}
}

func TestNoLibraryNoCosts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("MALLOW_LIB", "/nonexistent/libmallow.so")
	if costs := Costs(price.Glibc); costs != nil {
		t.Errorf("costs without libmallow: %+v", costs)
	}
}

func TestWhatDoesNotRunIsAnError(t *testing.T) {
	file, err := inMemory([]byte("no program"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := execute(file, nil); err == nil {
		t.Error("no error")
	}
}

// The first time its figures are what a disturbed measurement comes to.
const luckless = `#!/bin/sh
for size in 16 64; do
	echo hot malloc $size $(test -e "$SEEN" && echo 20 || echo 0)
	for kind in "mixed malloc" "hot calloc" "hot realloc"; do echo $kind $size 30; done
done
echo stay realloc 64 5
for kind in fresh few many; do echo $kind malloc 64 50; done
: > "$SEEN"
`

func TestADisturbedMeasurementIsMadeAgain(t *testing.T) {
	file, err := inMemory([]byte(luckless))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := execute(file, []string{"SEEN=" + filepath.Join(t.TempDir(), "seen")})
	if err != nil {
		t.Fatal(err)
	}
	if ns := table.Hot[0].Nanoseconds; ns != 20 {
		t.Errorf("a malloc and free take %v ns", ns)
	}
}

func some() *price.Costs { return price.Fixed(20, 80)(price.Glibc) }

func TestCacheKeepsWhatWasMeasured(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	kept, ok := cacheFor([]byte("program"), "libmallow.so")
	if !ok {
		t.Fatal("no place")
	}
	if kept.read() != nil {
		t.Error("there is something before anything was written")
	}
	kept.write(some())
	if got := kept.read(); got == nil || got.Plain.Hot[0] != some().Plain.Hot[0] {
		t.Errorf("read %+v", got)
	}
	if other, _ := cacheFor([]byte("another program"), "libmallow.so"); other.read() != nil {
		t.Error("figures of one program serve another")
	}
}

func TestCacheMistrustsItself(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "text": "{", "no tables": "{}", "list": "[]", "huge": string(bytes.Repeat([]byte("["), 1<<20)),
		"negative": `{"Plain":{"Hot":[{"Size":16,"Nanoseconds":-1}]}}`,
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (cache{path}).read(); got != nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}

func TestCacheWithoutHomeIsElsewhere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/dev/null/cache")
	t.Setenv("TMPDIR", t.TempDir())
	if _, ok := cacheFor(nil); !ok {
		t.Error("a home folder that cannot be written to leaves no place at all")
	}
	t.Setenv("TMPDIR", "/dev/null")
	if c, ok := cacheFor(nil); ok {
		t.Errorf("keeps figures in %s", c.path)
	}
}

func TestCacheOfOthersIsNotUsed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("TMPDIR", "/dev/null")
	folder := filepath.Join(home, "mallow")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if c, ok := cacheFor(nil); ok {
		t.Errorf("others can write to %s", c.path)
	}
}

// A recording may be a stranger's, and say anything.
func TestOnlyInstalledLibrariesAreExecuted(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "libjemalloc.so.2")
	if err := os.WriteFile(mine, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "libjemalloc.so.2")
	if err := os.Symlink("/usr/../"+mine, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{mine, link, "/usr/.." + mine, "/usr/lib/no such library.so", "libjemalloc.so.2", "/proc/self/exe"} {
		if trusted(path) {
			t.Errorf("%s is trusted", path)
		}
	}
	sh, err := exec.LookPath("/usr/bin/sh")
	if err == nil && !trusted(sh) {
		t.Errorf("%s is not trusted", sh)
	}
	if !trusted("") {
		t.Error("libc is not trusted")
	}
}
