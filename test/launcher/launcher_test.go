// Package launcher tests ./mallow of the source tree, on a tree whose build is a stand-in that says what it does.
package launcher

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mallow/test/harness"
)

// The stand-in counts how often it was built and takes as long as two launchers need to meet.
const makefile = `
all:
	@echo building
	@echo once >>built
	@mkdir -p internal/launch/embedded
	@echo once >>internal/launch/embedded/libmallow.so
	@sleep 0.3
	@if test -e broken; then echo the reason; exit 1; fi
	@printf '#!/bin/sh\nprintf "%%s|" "$$@"; cat; exit 9\n' >build/mallow.new
	@chmod 755 build/mallow.new
	@mv build/mallow.new build/mallow
`

type tree struct {
	t    *testing.T
	root string
}

// plant makes a source tree with the launcher and its set-up as they are, in a folder of an odd name.
func plant(t *testing.T) tree {
	t.Helper()
	root := filepath.Join(t.TempDir(), "a tree")
	for _, folder := range []string{"tools", "libmallow", "cmd", "internal/launch", "include"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mallow", "tools/setup.sh", "tools/packages.txt"} {
		content, err := os.ReadFile(filepath.Join(harness.Root(), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tr := tree{t, root}
	tr.write("Makefile", makefile)
	tr.write("libmallow/malloc.cc", "")
	return tr
}

func (tr tree) write(name, content string) {
	tr.t.Helper()
	if err := os.WriteFile(filepath.Join(tr.root, name), []byte(content), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr tree) command(arguments ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(tr.root, "mallow"), arguments...)
	command.Dir = tr.t.TempDir()
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + tr.t.TempDir()}
	command.Stdin = strings.NewReader("input")
	return command
}

// builds is how often the tree was built.
func (tr tree) builds() int {
	content, err := os.ReadFile(filepath.Join(tr.root, "built"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		tr.t.Fatal(err)
	}
	return bytes.Count(content, []byte("\n"))
}

// launches checks that the launcher becomes the built command, which exits with 9.
func (tr tree) launches(command *exec.Cmd) {
	tr.t.Helper()
	var said bytes.Buffer
	command.Stderr = &said
	output, err := command.Output()
	if command.ProcessState.ExitCode() != 9 || string(output) != "two words||input" || said.Len() > 0 {
		tr.t.Errorf("%v, printed %q, said %q", err, output, &said)
	}
}

func TestBuildsOnce(t *testing.T) {
	tr := plant(t)
	for range 3 {
		tr.launches(tr.command("two words", ""))
	}
	if n := tr.builds(); n != 1 {
		t.Errorf("built %d times", n)
	}
}

func TestBuildsAgain(t *testing.T) {
	tr := plant(t)
	tr.launches(tr.command("two words", ""))
	for i, change := range []func(){
		func() { tr.write("libmallow/malloc.cc", "changed") },
		func() { tr.write("cmd/main.go", "new") },
		func() { os.Remove(filepath.Join(tr.root, "cmd/main.go")) },
		func() { os.Remove(filepath.Join(tr.root, "build/mallow")) },
	} {
		time.Sleep(20 * time.Millisecond) // file systems keep time in ticks
		change()
		tr.launches(tr.command("two words", ""))
		if n := tr.builds(); n != i+2 {
			t.Errorf("after change %d built %d times", i, n)
		}
	}
	time.Sleep(20 * time.Millisecond)
	tr.write("cmd/main_test.go", "tests are no part of it, but the folder has changed")
	tr.launches(tr.command("two words", ""))
	n := tr.builds()
	time.Sleep(20 * time.Millisecond)
	tr.write("cmd/main_test.go", "and here it has not")
	tr.launches(tr.command("two words", ""))
	if tr.builds() != n {
		t.Error("built again for a test")
	}
}

func TestTwoAtOnce(t *testing.T) {
	tr := plant(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { tr.launches(tr.command("two words", "")) })
	}
	all.Wait()
	if n := tr.builds(); n != 1 {
		t.Errorf("built %d times", n)
	}
}

func TestThroughLink(t *testing.T) {
	tr := plant(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(tr.root, "mallow"), link); err != nil {
		t.Fatal(err)
	}
	command := tr.command("two words", "")
	command.Path = link
	tr.launches(command)
}

// The build must not see what is meant for the program.
func TestBuildEnvironment(t *testing.T) {
	tr := plant(t)
	tr.write("Makefile", "all:\n\t@test -z \"$$LD_PRELOAD$$MALLOW_OPTIONS\"\n"+strings.TrimPrefix(strings.TrimSpace(makefile), "all:\n"))
	command := tr.command("two words", "")
	command.Env = append(command.Env, "LD_PRELOAD=libm.so.6", "MALLOW_OPTIONS=x=1", "MAKEFLAGS=n")
	tr.launches(command)
}

func (tr tree) fails(command *exec.Cmd, code int, sentences ...string) {
	tr.t.Helper()
	output, _ := command.CombinedOutput()
	if command.ProcessState.ExitCode() != code {
		tr.t.Errorf("exit code %d, not %d\n%s", command.ProcessState.ExitCode(), code, output)
	}
	for _, sentence := range sentences {
		if !strings.Contains(string(output), sentence) {
			tr.t.Errorf("%q is not in\n%s", sentence, output)
		}
	}
}

func TestBrokenBuild(t *testing.T) {
	tr := plant(t)
	tr.write("broken", "")
	log := filepath.Join(tr.root, "build", "build.log")
	tr.fails(tr.command("program"), 125, "mallow: the build failed; its output is in "+log)
	tr.fails(tr.command("report", "x.mallow"), 1, "mallow: the build failed")
	if content, err := os.ReadFile(log); err != nil || !strings.Contains(string(content), "the reason") {
		t.Errorf("the log says %q, %v", content, err)
	}
	os.Remove(filepath.Join(tr.root, "broken"))
	tr.launches(tr.command("two words", ""))
}

// withTools returns a PATH with what every machine has and these tools only.
func withTools(t *testing.T, tools ...string) string {
	t.Helper()
	folder := t.TempDir()
	basic := []string{
		"sh", "readlink", "dirname", "find", "head", "env", "mkdir", "cat", "flock", "rm", "touch", "sed", "id", "sleep", "printf", "chmod", "mv", "test",
	}
	for _, tool := range append(basic, tools...) {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(folder, tool)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestMissingTools(t *testing.T) {
	tr := plant(t)
	for _, test := range []struct {
		tools    []string
		sentence string
	}{
		{[]string{"g++", "make", "git", "go"}, "mallow: missing: cmake. Install these with your package manager"},
		{[]string{"git", "go", "cmake"}, "mallow: missing: g++ make. Install these"},
		{[]string{"g++", "make", "git", "cmake"}, "mallow: missing: go, 1.26 or newer. Get it from https://go.dev/dl"},
	} {
		command := tr.command("program")
		command.Env = []string{"PATH=" + withTools(t, test.tools...), "HOME=/nonexistent"}
		tr.fails(command, 125, test.sentence)
	}
}

func TestOldGo(t *testing.T) {
	tr := plant(t)
	folder := withTools(t, "g++", "make", "git", "cmake")
	for version, sentence := range map[string]string{
		"go1.19.8": "mallow: go is 1.19.8, but mallow needs 1.26 or newer.", "go1.25rc1": "mallow: go is 1.25, but mallow needs 1.26",
	} {
		script := "#!/bin/sh\necho " + version + "\n"
		if err := os.WriteFile(filepath.Join(folder, "go"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		command := tr.command("program")
		command.Env = []string{"PATH=" + folder}
		tr.fails(command, 125, sentence)
	}
}

// Who is not root is told the command, and nothing is installed.
func TestNamesCommand(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user who may write to the tree")
	}
	tr := plant(t)
	shared, err := os.MkdirTemp("/tmp", "mallow-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(shared)
	for _, command := range [][]string{{"cp", "-r", tr.root + "/.", shared}, {"chmod", "-R", "a+rwX", shared}} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	tools := withTools(t, "make", "git", "go")
	if err := os.WriteFile(filepath.Join(tools, "apt-get"), []byte("#!/bin/sh\necho called >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{tools, filepath.Dir(tools)} {
		os.Chmod(folder, 0o755)
	}
	command := exec.Command(filepath.Join(shared, "mallow"), "program")
	command.Dir, command.Env = "/", []string{"PATH=" + tools}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	output, _ := command.CombinedOutput()
	if said := string(output); said != "mallow: missing: g++ cmake. Run as root: apt-get install g++ cmake\n" {
		t.Errorf("said %q", said)
	}
}

// A tree that was built by its owner can be used by those who cannot write to it.
func TestReadOnly(t *testing.T) {
	tr := plant(t)
	tr.write("build", "") // no folder can be made there
	tr.fails(tr.command("program"), 125, "cannot be written: build it first, as a user who may (make -C "+tr.root+")")
}
