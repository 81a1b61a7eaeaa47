package symbolize

import (
	"context"
	"debug/elf"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// need returns the path of a program that a test builds with or compares with.
func need(t testing.TB, name string) string {
	t.Helper()
	tool, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed; tools/packages.txt lists the Debian packages that the tests need", name)
	}
	return tool
}

func runIn(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	within, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a tool may hang
	defer cancel()
	cmd := exec.CommandContext(within, need(t, name), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// built keeps what compile has built, so that tests share it.
var built = struct {
	sync.Mutex
	dir      string
	programs map[string]string
}{programs: map[string]string{}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "symbolize")
	if err != nil {
		panic(err)
	}
	built.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// compile builds a program of testdata and returns its path. Nobody may change
// it: work on a duplicate.
func compile(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	built.Lock()
	defer built.Unlock()
	key := strings.Join(append([]string{compiler, source}, flags...), " ")
	if binary := built.programs[key]; binary != "" {
		return binary
	}
	dir, err := os.MkdirTemp(built.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "program")
	runIn(t, dir, compiler, append(slices.Clone(flags), "-o", binary, source)...)
	built.programs[key] = binary
	return binary
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}

// duplicate copies a program into a new folder, so that nothing beside the old
// one is found by chance.
func duplicate(t testing.TB, binary string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(binary))
	copyFile(t, binary, to)
	return to
}

// codeAddresses returns up to most addresses of .text, all if there are fewer.
func codeAddresses(t testing.TB, binary string, most int) []uint64 {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	addrs := make([]uint64, text.Size)
	for i := range addrs {
		addrs[i] = text.Addr + uint64(i)
	}
	if len(addrs) > most {
		random := rand.New(rand.NewPCG(1, 2))
		random.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
		addrs = addrs[:most]
		slices.Sort(addrs)
	}
	return addrs
}

// ask symbolizes without the system's debug files. Debug files of the test are
// below the folder "debug" beside the binary.
func ask(t testing.TB, binary string, addrs []uint64) (frames [][]Frame, warnings []string) {
	t.Helper()
	s := New(Options{DebugDirs: []string{filepath.Join(filepath.Dir(binary), "debug")}})
	t.Cleanup(s.Close)
	frames = s.Frames(Module{Path: binary}, addrs)
	return frames, s.Warnings()
}

func buildID(t testing.TB, binary string) []byte {
	t.Helper()
	o, err := openObject(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if len(o.buildID) == 0 {
		t.Fatalf("%s has no build id", binary)
	}
	return o.buildID
}
