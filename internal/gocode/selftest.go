package gocode

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mallow/internal/launch"
)

// selfTestSource makes allocations of all kinds that the runtime treats
// differently, and a known number of them on one line.
//
//go:embed overlay/selftest.go
var selfTestSource string

// selfTestAllocs are made by function known of the self-test.
const selfTestAllocs = 100_000

// selfTest makes sure that a program which is built with the overlay counts
// what it allocates. It is done once for each overlay and version of Go.
func (t *Toolchain) selfTest(overlay string) error {
	// How a version allocates depends on its experiments, too.
	experiments := sha256.Sum256([]byte(t.Experiment))
	passed := filepath.Join(filepath.Dir(overlay), fmt.Sprintf("%s-%x.passed", t.Version, experiments[:4]))
	if _, err := os.Stat(passed); err == nil {
		return nil
	}
	if err := t.trySelfTest(overlay); err != nil {
		return &UnknownVersionError{t.Version, err.Error()}
	}
	return os.WriteFile(passed, nil, 0o600)
}

func (t *Toolchain) trySelfTest(overlay string) error {
	folder, err := launch.Scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	source, executable := filepath.Join(folder, "main.go"), filepath.Join(folder, "selftest")
	if err := os.WriteFile(source, []byte(selfTestSource), 0o600); err != nil {
		return err
	}
	build := t.command("build", "-overlay", overlay, "-o", executable, source)
	build.Env = append(build.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("a program does not build with the changed runtime: %s", lastLine(out))
	}
	run := exec.Command(executable)
	run.Env = append(os.Environ(), countsVariable+"="+folder)
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("a program does not run with the changed runtime: %w %s", err, lastLine(out))
	}
	all, err := readFolder(folder, run.Process.Pid)
	if err != nil {
		return err
	}
	if len(all) != 1 || !all[0].Agrees() {
		return fmt.Errorf("the changed runtime does not count every allocation")
	}
	n, err := newNamer(executable, nil)
	if err != nil {
		return err
	}
	defer n.close()
	var known float64
	for _, s := range n.stacks(all[0]) {
		for _, f := range s.Frames {
			if f.Function == "main.known" {
				known += s.Allocs
				break
			}
		}
	}
	if known != selfTestAllocs {
		return fmt.Errorf("of %d allocations on a line the changed runtime finds %.0f", selfTestAllocs, known)
	}
	return nil
}

// lastLine is what a program said at last.
func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
