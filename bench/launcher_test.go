package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long these tests wait for a program that has an end.
const patience = 10 * time.Minute

// newLauncher builds the launcher as the runner does, from the root of the repository.
func newLauncher(t *testing.T, timeout time.Duration) launcher {
	t.Helper()
	t.Chdir("..")
	l, err := buildLauncher(t.TempDir(), timeout)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func drop(from io.Reader) error { return nil }

func TestLauncherShowsSmallProcessesAsSmall(t *testing.T) {
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	taken, err := newLauncher(t, patience).run([]string{"/bin/true"}, nil, "", drop)
	if err != nil || taken.rss > 4<<20 || taken.rss < 200<<10 || taken.wall <= 0 {
		t.Errorf("true took %+v, %v, beside %d bytes of the runner", taken, err, len(ballast))
	}
}

func TestLauncherCountsTimeOfTheProgram(t *testing.T) {
	taken, err := newLauncher(t, patience).run([]string{"/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.1"},
		[]string{"PATH=/usr/bin:/bin"}, "", drop)
	if err != nil || taken.user+taken.sys < 0.005 || taken.wall < taken.user+taken.sys+0.05 {
		t.Errorf("took %+v, %v", taken, err)
	}
}

func TestLauncherHandsOverInputOutputAndEnvironment(t *testing.T) {
	l := newLauncher(t, patience)
	input := filepath.Join(l.folder, "input")
	if err := os.WriteFile(input, []byte("from the input\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var output string
	_, err := l.run([]string{"/bin/sh", "-c", "cat; echo $WORD"}, []string{"PATH=/usr/bin:/bin", "WORD=and the environment"}, input, func(from io.Reader) error {
		content, err := io.ReadAll(from)
		output = string(content)
		return err
	})
	if err != nil || output != "from the input\nand the environment\n" {
		t.Errorf("%q, %v", output, err)
	}
}

func TestLauncherTellsHowAProgramFailed(t *testing.T) {
	l := newLauncher(t, patience)
	for _, test := range []struct {
		script, want string
		timeout      time.Duration
	}{
		{"echo oh dear >&2; exit 3", "exit status 3\noh dear", patience},
		{"kill -SEGV $$", "exit status 139", patience},
		{"sleep 600", "no end after 1s", time.Second},
	} {
		l.timeout = test.timeout
		_, err := l.run([]string{"/bin/sh", "-c", test.script}, []string{"PATH=/usr/bin:/bin"}, "", drop)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.script, err, test.want)
		}
	}
	if _, err := l.run([]string{"/nowhere/program"}, nil, "", drop); err == nil || !strings.Contains(err.Error(), "/nowhere/program") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestLauncherIsNotRunByHandUnprepared(t *testing.T) {
	l := newLauncher(t, patience)
	for _, arguments := range [][]string{nil, {"/bin/true"}} {
		output, err := exec.Command(l.program, arguments...).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(output), "launch: ") {
			t.Errorf("launch %v: %v, %q", arguments, err, output)
		}
	}
}
