package control

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mallow/internal/running"
)

// The mallow that began a recording sees its end as soon as the one that ends it, and may complete it first.
func TestFinishAfterAnother(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "r.mallow")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("image-1-1-0", "packed")
	write("meta.json", "{}")
	r, err := finish(Recorded{Folder: folder, Warnings: []string{"one is silent"}})
	if err != nil || r.Folder != "" || len(r.Warnings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if content, err := os.ReadFile(filepath.Join(folder, "meta.json")); err != nil || string(content) != "{}" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestFinishWhileAnother(t *testing.T) {
	folder := t.TempDir()
	hold, err := holdFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if r, err := finish(Recorded{Folder: folder}); err != nil || r.Folder != "" || len(r.Warnings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Nothing was recorded, and the other has taken the folder away.
func TestFinishOfNothing(t *testing.T) {
	if r, err := finish(Recorded{Folder: filepath.Join(t.TempDir(), "gone.mallow")}); err != nil || r.Folder != "" || len(r.Warnings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestGiveFolder(t *testing.T) {
	const nobody = 65534
	if os.Geteuid() != 0 {
		t.Skip("only root may give a folder away")
	}
	ownerOf := func(path string) uint32 {
		t.Helper()
		var status syscall.Stat_t
		if err := syscall.Stat(path, &status); err != nil {
			t.Fatal(err)
		}
		return status.Uid
	}
	beside := t.TempDir()
	theirs, made, elsewhere, link := filepath.Join(beside, "theirs"), filepath.Join(beside, "made"), filepath.Join(beside, "elsewhere"), filepath.Join(beside, "link")
	for _, folder := range []string{theirs, made, elsewhere} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(theirs, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	owner, err := os.Open(theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	give := func(folder string) {
		t.Helper()
		hold, err := holdFolder(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer hold.Close()
		giveFolder(folder, hold, owner)
	}
	give(made)
	if uid := ownerOf(made); uid != nobody {
		t.Errorf("what was made belongs to %d", uid)
	}
	give(link)
	if uid := ownerOf(elsewhere); uid != 0 {
		t.Errorf("what the link names belongs to %d", uid)
	}
}

// A process that recorded when it was looked for may have ended, or executed another
// program, when it is to stop: it records no more, which is nothing to be told of.
func TestStopWhatRecordsNoMore(t *testing.T) {
	ended, executed := exec.Command("true"), exec.Command("sleep", "100")
	for _, process := range []*exec.Cmd{ended, executed} {
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
	}
	defer executed.Wait()
	defer executed.Process.Kill()
	for running.Alive(ended.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	waitedFor := exec.Command("true")
	if err := waitedFor.Run(); err != nil {
		t.Fatal(err)
	}
	for name, process := range map[string]*exec.Cmd{"ended": ended, "waited for": waitedFor, "executed another program": executed} {
		if err := stopOne(process.Process.Pid); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended.Wait()
}
