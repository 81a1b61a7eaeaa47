// Package control switches recording on and off in programs that run, from inside and from outside.
package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/recording"
	"mallow/internal/running"
	"mallow/test/harness"
)

// A round of programs/rounds.c.
const often, keep, keepBytes = 1000, 10, 1000

func site(t *testing.T, report harness.Report, function string) harness.Site {
	t.Helper()
	for _, s := range report.Sites {
		if s.Function == function {
			return s
		}
	}
	return harness.Site{}
}

// onDemand starts a program that can be told to record.
func onDemand(t *testing.T, arguments ...string) *harness.Conversation {
	t.Helper()
	folder := harness.TempDir(t)
	return harness.Converse(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "run", "--control", folder}, arguments...),
	})
}

// busy is a program that allocates without end.
func busy(t *testing.T, arguments ...string) *harness.Conversation {
	t.Helper()
	program := onDemand(t, append([]string{harness.Program(t, "programs/busy")}, arguments...)...)
	program.Ready(t)
	return program
}

// session is a `mallow record --pid` that runs while the test goes on.
type session struct {
	*harness.Background
	folder string
	pid    int
}

func record(t *testing.T, pid int, more ...string) session {
	t.Helper()
	folder := filepath.Join(harness.TempDir(t), "s.mallow")
	arguments := append([]string{harness.CLI(t), "record", "--pid", strconv.Itoa(pid), "-o", folder}, more...)
	return session{harness.Start(t, harness.Command{Arguments: arguments}), folder, pid}
}

// The orders of a control file, as format/control.md numbers them. Attention is written behind an order, and zeros into the
// table last: before they are a call that hits does not look.
const (
	fileBytes    = 8192
	tableAt      = 32
	tableBytesAt = 36
	attentionAt  = 64
	orderAt      = 72
	startIt      = 1
	stopIt       = 2
)

// awaitOrder waits until the process has an order that it has not obeyed yet: it does so at its next call.
func (s session) awaitOrder(t *testing.T, order uint32) {
	t.Helper()
	s.awaitOrderOf(t, s.pid, order)
}

// awaitOrderOf waits for one of a process that the recorded one has forked.
func (s session) awaitOrderOf(t *testing.T, pid int, order uint32) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		path, err := running.Control(pid)
		if err != nil {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		words := make([]byte, fileBytes)
		_, err = file.ReadAt(words, 0)
		file.Close()
		le := binary.LittleEndian
		if err != nil || le.Uint32(words[attentionAt:]) == 0 || le.Uint32(words[orderAt:]) != order {
			continue
		}
		table := words[le.Uint32(words[tableAt:]):][:le.Uint32(words[tableBytesAt:])]
		if !slices.ContainsFunc(table, func(class byte) bool { return class != 0 }) {
			return
		}
	}
	t.Fatalf("process %d has no order %d: %s", pid, order, s.Errors())
}

// awaitImages waits until the recording has so many images, all with a header.
func (s session) awaitImages(t *testing.T, count int) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if r, err := recording.Open(s.folder); err == nil && len(r.Images) >= count {
			return
		}
	}
	t.Fatalf("%s has no %d images", s.folder, count)
}

// otherThan returns the process of an image that is not that one's.
func (s session) otherThan(t *testing.T, pid int) int {
	t.Helper()
	r, err := recording.Open(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range r.Images {
		if int(image.PID) != pid {
			return int(image.PID)
		}
	}
	t.Fatalf("%s has no image of another process than %d", s.folder, pid)
	return 0
}

// awaitThreads waits until the first image has so many threads that are recorded: each is from its own next call on.
func (s session) awaitThreads(t *testing.T, count uint64) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if r, err := recording.Open(s.folder); err == nil && r.Images[0].MostThreads >= count {
			return
		}
	}
	t.Fatalf("%s has no %d threads", s.folder, count)
}

// awaitCalls waits until the first image has so many allocations.
func (s session) awaitCalls(t *testing.T, least uint64) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if r, err := recording.Open(s.folder); err == nil {
			calls := uint64(0)
			r.Images[0].EachStack(func(_ uint32, c *recording.Counters) { calls += c.Calls })
			if calls >= least {
				return
			}
		}
	}
	t.Fatalf("%s has no %d calls", s.folder, least)
}

func (s session) interrupt(t *testing.T) harness.Report {
	t.Helper()
	if status := s.Stop(t, syscall.SIGINT); status != 0 {
		t.Fatalf("record ended with %d: %s", status, s.Errors())
	}
	return harness.ReadReport(t, s.folder)
}

// What the program does while it is recorded is in the recording, what it does before and after is not.
func TestRounds(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	pid := program.Process.Process.Pid // mallow run has turned into the program
	program.Order(t, "rrr")
	for i := range 3 {
		s := record(t, pid)
		// The program makes no call until it is told to: that is the first to be recorded.
		s.awaitOrder(t, startIt)
		program.Order(t, "rr")
		s.awaitImages(t, 1)
		program.Order(t, "r")
		s.Process.Process.Signal(syscall.SIGINT)
		s.awaitOrder(t, stopIt)
		program.Order(t, "f")
		s.Wait(t)
		report := harness.ReadReport(t, s.folder)
		program.Order(t, "rrr")
		if got := site(t, report, "often"); got.Allocations != 3*often || got.LiveBlocks != 0 || got.Temporary != 3*often {
			t.Errorf("session %d: often: %+v", i, got)
		}
		if got := site(t, report, "keep"); got.Allocations != 3*keep || got.Bytes != 3*keepBytes || got.LiveBlocks != 3*keep {
			t.Errorf("session %d: keep: %+v", i, got)
		}
		if report.Totals.Allocations != 3*(often+keep) {
			t.Errorf("session %d: %+v", i, report.Totals)
		}
	}
	program.End(t)
}

// Blocks from before are known as such.
func TestBlocksFromBefore(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	program.Order(t, "rrr")
	s := record(t, program.Process.Process.Pid)
	s.awaitOrder(t, startIt)
	program.Order(t, "rf")
	s.awaitImages(t, 1)
	program.End(t)
	s.Wait(t)
	r, err := recording.Open(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	im := r.Images[0]
	if inherited := im.Shards[0].InheritedFrees; inherited != 3*keep {
		t.Errorf("%d frees of blocks from before, not %d", inherited, 3*keep)
	}
	// 100 bytes take 112.
	if !im.Joined || im.BytesBefore < 3*keep*112 || im.BytesBefore > 3*keep*112+4096 {
		t.Errorf("%d bytes from before (joined: %v)", im.BytesBefore, im.Joined)
	}
	report := harness.ReadReport(t, s.folder)
	if report.Totals.Allocations != often+keep || report.Totals.Frees != often+4*keep || report.Totals.LiveBlocks != 0 {
		t.Errorf("%+v", report.Totals)
	}
	if !strings.Contains(s.Errors(), "recording began while the program ran; 3.") {
		t.Errorf("the report does not say so:\n%s", s.Errors())
	}
}

// A process lives on when its first thread has ended before the others, though the system's files about it are empty then.
func TestFirstThreadEnded(t *testing.T) {
	program := busy(t, "3", "100", "leave")
	pid := program.Process.Process.Pid
	for stat := ""; !strings.Contains(stat, ") Z "); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		stat = string(text)
	}
	s := record(t, pid)
	s.awaitThreads(t, 2)
	if folder, err := running.Recording(pid); err != nil || folder != s.folder {
		t.Errorf("it records into %q, %v", folder, err)
	}
	time.Sleep(200 * time.Millisecond) // mallow looks meanwhile whether it has ended
	report := s.interrupt(t)
	if one := site(t, report, "one"); one.Allocations == 0 {
		t.Errorf("%+v", one)
	}
	r, err := recording.Open(s.folder)
	if err != nil || r.Meta == nil || len(r.Meta.Command) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	if im := r.Images[0]; im.Running || im.Flags&recording.FlagPacked == 0 {
		t.Errorf("not let go: %+v", im.Header)
	}
}

// What a process executes is another program, and is not recorded: that is said, and not waited for.
func TestExecuted(t *testing.T) {
	folder := harness.TempDir(t)
	program := onDemand(t, "/bin/sh", "-c", "cd "+folder+"; printf .; until test -e enough; do echo once more >line; read word <line; done; exec sleep 1000")
	program.Ready(t)
	s := record(t, program.Process.Process.Pid)
	s.awaitImages(t, 1)
	if err := os.WriteFile(filepath.Join(folder, "enough"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Second, func() { program.Process.Process.Kill() })
	s.Wait(t)
	if status := s.Process.ProcessState.ExitCode(); status != 0 || !strings.Contains(s.Errors(), "has executed another program, which is not in this recording") {
		t.Errorf("%d: %s", status, s.Errors())
	}
	if r, err := recording.Open(s.folder); err != nil || r.Images[0].Running || r.Images[0].Flags&recording.FlagPacked == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	program.Process.Process.Kill()
}

// What root records belongs to the user of the process.
func TestRecordedByRoot(t *testing.T) {
	const nobody = 65534
	if os.Geteuid() != 0 {
		t.Skip("only root may record the process of another user")
	}
	folder := harness.TempDir(t)
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	program := harness.Converse(t, harness.Command{Arguments: []string{
		"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		harness.CLI(t), "run", "--control", folder, harness.ForEveryUser(t, harness.Program(t, "programs/busy")), "1", "100",
	}})
	program.Ready(t)
	s := session{folder: filepath.Join(folder, "s.mallow"), pid: program.Process.Process.Pid}
	s.Background = harness.Start(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--pid", strconv.Itoa(s.pid), "-o", s.folder}})
	s.awaitImages(t, 1)
	s.interrupt(t)
	files, _ := filepath.Glob(s.folder + "/*")
	if len(files) != 2 {
		t.Errorf("%q", files)
	}
	for _, path := range append(files, s.folder) {
		var status syscall.Stat_t
		if err := syscall.Stat(path, &status); err != nil || status.Uid != nobody || status.Gid != nobody {
			t.Errorf("%s belongs to %d, %d: %v", path, status.Uid, status.Gid, err)
		}
	}
}

// A machine may be so busy that the program hardly gets to a call within the seconds: it is given more of them then.
func TestSeconds(t *testing.T) {
	program := busy(t, "2", "100")
	var wrong error
	for _, seconds := range []float64{0.5, 2, 8, 32} {
		if wrong = recordSeconds(t, program.Process.Process.Pid, seconds); wrong == nil {
			return
		}
		t.Logf("%v s: %v", seconds, wrong)
	}
	t.Error(wrong)
}

func recordSeconds(t *testing.T, pid int, seconds float64) error {
	t.Helper()
	started := time.Now()
	s := record(t, pid, "--seconds", fmt.Sprint(seconds))
	s.Wait(t)
	if elapsed := time.Since(started); elapsed.Seconds() < seconds {
		t.Errorf("took %v, not %v s", elapsed, seconds)
	}
	if status := s.Process.ProcessState.ExitCode(); status != 0 {
		return fmt.Errorf("%d: %s", status, s.Errors())
	}
	report := harness.ReadReport(t, s.folder)
	one := site(t, report, "one")
	if one.Allocations < 1000 {
		return fmt.Errorf("%d calls", one.Allocations)
	}
	if one.SizeMin != 100 || one.SizeMax != 100 || one.LiveBlocks > 2*8 {
		t.Errorf("%+v", one)
	}
	r, err := recording.Open(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	if im := r.Images[0]; im.Running || im.StoppedRealtime == 0 || im.Flags&recording.FlagPacked == 0 {
		return fmt.Errorf("not let go: %+v", im.Header)
	}
	warnings := slices.DeleteFunc(append(r.Warnings, r.Images[0].Warnings...), func(w string) bool {
		return strings.HasPrefix(w, "calls in flight") // of a thread that the processor was taken from
	})
	if len(warnings) != 0 {
		t.Errorf("%q", warnings)
	}
	if r.Meta == nil || !r.Meta.Joined || len(r.Meta.Command) != 3 || filepath.Base(r.Meta.Command[0]) != "busy" {
		t.Errorf("%+v", r.Meta)
	}
	return nil
}

// However busy a program is in its hit paths, and in how many threads, it notices at once.
func TestNoticedOnHitPaths(t *testing.T) {
	for _, arguments := range [][]string{{"1", "16"}, {"4", "64"}, {"2", "1024"}, {"2", "5000"}, {"1", "262144"}} {
		program := busy(t, arguments...)
		time.Sleep(200 * time.Millisecond)
		started := time.Now()
		s := record(t, program.Process.Process.Pid)
		s.awaitImages(t, 1)
		t.Logf("%v: recording after %v, the start of mallow included", arguments, time.Since(started))
		threads, _ := strconv.Atoi(arguments[0])
		s.awaitThreads(t, uint64(threads))
		report := s.interrupt(t)
		if one := site(t, report, "one"); one.Allocations == 0 {
			t.Errorf("%v: nothing recorded", arguments)
		}
		if len(report.Processes) != 1 || report.Processes[0].Threads != uint64(threads) {
			t.Errorf("%v: %+v", arguments, report.Processes)
		}
	}
}

func TestStop(t *testing.T) {
	program := busy(t, "2", "0")
	pid := strconv.Itoa(program.Process.Process.Pid)
	s := record(t, program.Process.Process.Pid)
	s.awaitImages(t, 1)
	s.awaitCalls(t, 1000) // of threads that come and go with 5000 each
	stop := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--stop", "--pid", pid}})
	if stop.Status != 0 || stop.Errors != "" {
		t.Errorf("%s: %q", stop.Ending(), stop.Errors)
	}
	s.Wait(t)
	if s.Process.ProcessState.ExitCode() != 0 || site(t, harness.ReadReport(t, s.folder), "one").Allocations == 0 {
		t.Errorf("%v: %s", s.Process.ProcessState, s.Errors())
	}

	// Who began it may be gone.
	s = record(t, program.Process.Process.Pid)
	s.awaitImages(t, 1)
	s.awaitCalls(t, 1000)
	s.Stop(t, syscall.SIGKILL)
	stop = harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--stop", "--pid", pid}})
	if stop.Status != 0 || !strings.Contains(stop.Errors, "wrote "+s.folder) {
		t.Errorf("%s: %q", stop.Ending(), stop.Errors)
	}
	stop = harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--stop", "--pid", pid}})
	if stop.Status != 125 || !strings.Contains(stop.Errors, "is not being recorded") {
		t.Errorf("%s: %q", stop.Ending(), stop.Errors)
	}
}

// A folder that somebody moves or removes meanwhile leaves no process that is recorded for ever.
func TestFolderIsNotThere(t *testing.T) {
	program := busy(t, "1", "0")
	pid := program.Process.Process.Pid
	recordsNoMore := func() {
		t.Helper()
		if folder, err := running.Recording(pid); err == nil || !strings.Contains(err.Error(), "is not being recorded") {
			t.Errorf("it still records into %q: %v", folder, err)
		}
	}

	s := record(t, pid)
	s.awaitCalls(t, 1000)
	moved := s.folder + ".moved"
	if err := os.Rename(s.folder, moved); err != nil {
		t.Fatal(err)
	}
	s.Process.Process.Signal(syscall.SIGINT)
	s.Wait(t)
	if status := s.Process.ProcessState.ExitCode(); status != 0 || !strings.Contains(s.Errors(), "wrote "+moved) {
		t.Errorf("moved: %d: %s", status, s.Errors())
	}
	recordsNoMore()

	s = record(t, pid)
	s.awaitCalls(t, 1000)
	if err := os.RemoveAll(s.folder); err != nil {
		t.Fatal(err)
	}
	s.Process.Process.Signal(syscall.SIGINT)
	s.Wait(t)
	if status := s.Process.ProcessState.ExitCode(); status != 125 || !strings.Contains(s.Errors(), "was removed while it was written") {
		t.Errorf("removed: %d: %s", status, s.Errors())
	}
	recordsNoMore()

	s = record(t, pid)
	s.awaitCalls(t, 1000)
	s.Stop(t, syscall.SIGKILL)
	if err := os.RemoveAll(s.folder); err != nil {
		t.Fatal(err)
	}
	stop := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--stop", "--pid", strconv.Itoa(pid)}})
	if stop.Status != 125 || !strings.Contains(stop.Errors, "was removed while it was written") {
		t.Errorf("removed and stopped: %s: %q", stop.Ending(), stop.Errors)
	}
	recordsNoMore()
}

// Of several recorders one gets the process, and the others say why they do not.
func TestTwoRecorders(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	pid := program.Process.Process.Pid
	program.Order(t, "r")
	first := record(t, pid)
	first.awaitOrder(t, startIt)
	program.Order(t, "r")
	first.awaitImages(t, 1)
	rounds := uint64(1)
	// The order of the second is refused at the next call.
	for second := record(t, pid); ; time.Sleep(10 * time.Millisecond) {
		if second.Ended() {
			if status := second.Process.ProcessState.ExitCode(); status != 125 || !strings.Contains(second.Errors(), "is being recorded already") {
				t.Errorf("%d: %s", status, second.Errors())
			}
			if _, err := os.Stat(second.folder); err == nil {
				t.Error("its folder was left")
			}
			break
		}
		program.Order(t, "r")
		rounds++
	}
	first.Process.Process.Signal(syscall.SIGINT)
	first.awaitOrder(t, stopIt)
	program.Order(t, "f")
	first.Wait(t)
	if got := site(t, harness.ReadReport(t, first.folder), "often"); got.Allocations != rounds*often {
		t.Errorf("often: %+v, want %d rounds", got, rounds)
	}
	program.End(t)
}

// The same at the same moment, of a program that is busy.
func TestSeveralRecordersAtOnce(t *testing.T) {
	program := busy(t, "2", "64")
	var sessions []session
	for range 4 {
		sessions = append(sessions, record(t, program.Process.Process.Pid, "--seconds", "2"))
	}
	recorded := 0
	for _, s := range sessions {
		s.Wait(t)
		switch status := s.Process.ProcessState.ExitCode(); {
		case status == 0:
			recorded++
			if site(t, harness.ReadReport(t, s.folder), "one").Allocations == 0 {
				t.Error("nothing is recorded")
			}
		// Of its two seconds one may have had none in which the program ran.
		case status != 125 || !strings.Contains(s.Errors(), "is being recorded already") && !strings.Contains(s.Errors(), "makes no call of malloc"):
			t.Errorf("%d: %s", status, s.Errors())
		}
	}
	if recorded == 0 {
		t.Error("none of them recorded it")
	}
}

// Children that are forked while the program is recorded belong to the recording.
func TestChildren(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	program.Order(t, "r")
	s := record(t, program.Process.Process.Pid)
	s.awaitOrder(t, startIt)
	program.Order(t, "r")
	s.awaitImages(t, 1)
	program.Order(t, "c") // from here on the child takes the orders
	program.Order(t, "rr")
	s.awaitImages(t, 2)
	s.Process.Process.Signal(syscall.SIGINT)
	s.awaitOrder(t, stopIt)
	s.awaitOrderOf(t, s.otherThan(t, s.pid), stopIt)
	program.Order(t, "rf") // the child stops
	program.Order(t, "e")  // and the parent lives
	program.Order(t, "r")
	s.Wait(t)
	report := harness.ReadReport(t, s.folder)
	if got := site(t, report, "often"); got.Allocations != 4*often {
		t.Errorf("often: %+v", got)
	}
	if len(report.Processes) != 2 {
		t.Errorf("%+v", report.Processes)
	}
	program.End(t)
}

// A child that was forked before can be told, too: also one that has made no call yet.
func TestForkedBefore(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	program.Order(t, "rc")
	parent := program.Process.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		t.Skipf("the kernel lists no children of a process (CONFIG_PROC_CHILDREN), and this one has no image yet to be found by: %v", err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	program.Order(t, "r")
	s := record(t, child)
	// With one of them it makes its control file, with one after it it is told.
	rounds := uint64(0)
	for images := 0; images == 0; time.Sleep(10 * time.Millisecond) {
		program.Order(t, "r")
		rounds++
		if r, err := recording.Open(s.folder); err == nil {
			images = len(r.Images)
		}
		if s.Ended() {
			t.Fatal(s.Errors())
		}
	}
	program.Order(t, "r")
	rounds++
	program.Order(t, "e")
	s.Wait(t)
	report := harness.ReadReport(t, s.folder)
	if got := site(t, report, "often"); got.Allocations < often || got.Allocations > rounds*often || got.Allocations%often != 0 {
		t.Errorf("often: %+v", got)
	}
	program.End(t)
}

// inherited starts programs/heir and returns the process that it leaves behind.
func inherited(t *testing.T, control string, more ...string) int {
	t.Helper()
	file := filepath.Join(harness.TempDir(t), "pid")
	command := exec.Command(harness.CLI(t), append([]string{"run", "--control", control, harness.Program(t, "programs/heir"), file}, more...)...)
	command.Env = harness.Environment()
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(child, syscall.SIGKILL) })
	return child
}

// A daemon can be told although its parent has ended and taken the file that both looked at away.
func TestForkedByAParentThatEnded(t *testing.T) {
	s := record(t, inherited(t, harness.TempDir(t)), "--seconds", "0.5")
	s.Wait(t)
	if s.Process.ProcessState.ExitCode() != 0 {
		t.Fatal(s.Errors())
	}
	if got := site(t, harness.ReadReport(t, s.folder), "serve"); got.Allocations == 0 {
		t.Errorf("serve: %+v", got)
	}
}

// A child that can make no control file looks at that of its parent no more: nobody would put the table in it right again.
func TestForkedWithoutAFolder(t *testing.T) {
	control := filepath.Join(harness.TempDir(t), "control")
	if err := os.Mkdir(control, 0o700); err != nil {
		t.Fatal(err)
	}
	child := inherited(t, control, control)
	looksAt := func() bool {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", child))
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(strings.Split(string(maps), "\n"), func(line string) bool {
			return strings.Contains(line, " r--s 00001000 ") && strings.Contains(line, "/control-")
		})
	}
	for deadline := time.Now().Add(20 * time.Second); looksAt(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it still looks at its parent's")
		}
	}
}

// An idle program is told when it wakes; until then nothing happens to it, and the order can be taken back.
func TestIdle(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	program.Order(t, "r")
	s := record(t, program.Process.Process.Pid, "--seconds", "0.5")
	s.Wait(t)
	if status := s.Process.ProcessState.ExitCode(); status != 125 || !strings.Contains(s.Errors(), "makes no call of malloc or free") {
		t.Errorf("%d: %s", status, s.Errors())
	}
	if _, err := os.Stat(s.folder); err == nil {
		t.Error("the folder was left")
	}
	program.Order(t, "rr")
	if _, err := os.Stat(s.folder); err == nil {
		t.Error("the order was obeyed late")
	}
	program.End(t)
}

// Who waits for an idle program is told what for.
func TestWaiting(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	program.Order(t, "r")
	s := record(t, program.Process.Process.Pid, "--seconds", "2")
	s.Wait(t)
	if !strings.Contains(s.Errors(), "has made no call of malloc or free yet, with which recording begins") {
		t.Errorf("%s", s.Errors())
	}
}

// What waits to begin can be stopped, too: the order is taken back.
func TestStopWaiting(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/rounds"))
	program.Order(t, "r")
	s := record(t, program.Process.Process.Pid)
	s.awaitOrder(t, startIt)
	stop := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--stop", "--pid", strconv.Itoa(s.pid)}})
	if stop.Status != 0 || stop.Errors != "" {
		t.Errorf("%s: %q", stop.Ending(), stop.Errors)
	}
	s.Wait(t)
	if status := s.Process.ProcessState.ExitCode(); status != 125 || !strings.Contains(s.Errors(), "was told to stop before it began to record") {
		t.Errorf("%d: %s", status, s.Errors())
	}
	program.Order(t, "rr")
	if _, err := os.Stat(s.folder); err == nil {
		t.Error("the order was obeyed late, or the folder was left")
	}
	program.End(t)
}

// A process that is stopped is said to be so, not to be one that does not allocate: nothing happens to it before it goes on.
func TestStopped(t *testing.T) {
	program := busy(t, "1", "0")
	process := program.Process.Process
	stop := func() {
		t.Helper()
		process.Signal(syscall.SIGSTOP)
		for deadline := time.Now().Add(harness.Patience); !running.Stopped(process.Pid); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it does not stop")
			}
		}
	}
	const says = "is stopped, by a signal or a debugger"

	stop()
	s := record(t, process.Pid, "--seconds", "0.2")
	s.Wait(t)
	if status := s.Process.ProcessState.ExitCode(); status != 125 || !strings.Contains(s.Errors(), says) {
		t.Errorf("stopped before: %d: %s", status, s.Errors())
	}
	if _, err := os.Stat(s.folder); err == nil {
		t.Error("the folder was left")
	}
	process.Signal(syscall.SIGCONT)

	s = record(t, process.Pid)
	s.awaitCalls(t, 1000)
	stop()
	if status := s.Stop(t, syscall.SIGINT); status != 0 || !strings.Contains(s.Errors(), says) {
		t.Errorf("stopped meanwhile: %d: %s", status, s.Errors())
	}
	process.Signal(syscall.SIGCONT)
}

// A program whose limits leave no room for a recording: mallow says so and leaves nothing behind, and with the limit gone
// it can be recorded.
func TestLimits(t *testing.T) {
	for name, resource := range map[string]int{
		"file size": unix.RLIMIT_FSIZE, "data": unix.RLIMIT_DATA, "address space": unix.RLIMIT_AS, "open files": unix.RLIMIT_NOFILE,
	} {
		t.Run(name, func(t *testing.T) {
			program := onDemand(t, harness.Program(t, "programs/rounds"))
			program.Order(t, "r")
			pid := program.Process.Process.Pid
			var before unix.Rlimit
			if err := unix.Prlimit(pid, resource, nil, &before); err != nil {
				t.Fatal(err)
			}
			unix.Prlimit(pid, resource, &unix.Rlimit{Cur: 3, Max: before.Max}, nil)
			for range 2 {
				s := record(t, pid)
				s.awaitOrder(t, startIt)
				program.Order(t, "r")
				s.Wait(t)
				if status := s.Process.ProcessState.ExitCode(); status != 125 || !strings.Contains(s.Errors(), fmt.Sprintf("/proc/%d/limits", pid)) {
					t.Errorf("%d: %s", status, s.Errors())
				}
				if left, err := os.ReadDir(s.folder); err == nil {
					t.Errorf("the folder was left, with %v", left)
				}
			}
			unix.Prlimit(pid, resource, &before, nil)
			s := record(t, pid)
			s.awaitOrder(t, startIt)
			program.Order(t, "r")
			program.End(t)
			s.Wait(t)
			report := harness.ReadReport(t, s.folder)
			if got := site(t, report, "often").Allocations; got != often || report.Quality.Incomplete {
				t.Errorf("with the limit gone: %d allocations, want %d: %q", got, often, report.Quality.Warnings)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	plain := harness.Start(t, harness.Command{Arguments: []string{"/bin/sleep", "100"}})
	fromStart := harness.Converse(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/rounds")},
		Settings:  harness.PreloadSettings(t, harness.TempDir(t)),
	})
	fromStart.Order(t, "r")
	for _, test := range []struct{ arguments, says string }{
		{"--pid 999999999", "there is no process 999999999"},
		{"--pid 0", "--pid takes the number of a process"},
		{"--pid x", "invalid argument"},
		{"--seconds 3 true", "--seconds and --stop belong to it"},
		{"--pid 1 true", "not both"},
		{"--pid 1 --seconds -1", "--seconds takes a number"},
		{"--pid 1 --seconds nan", "--seconds takes a number"},
		{"--pid 1 --seconds 0", "--seconds takes a number above 0"},
		{"--pid 1 --seconds 1e-12", "--seconds takes a number above 0"},
		{"--pid 1 --stop -o x.mallow", "it takes only --pid"},
		{fmt.Sprint("--pid ", plain.Process.Process.Pid), "it was not started by mallow run"},
		{fmt.Sprint("--pid ", fromStart.Process.Process.Pid), "it was not started by mallow run"},
		{fmt.Sprint("--stop --pid ", plain.Process.Process.Pid), "is not being recorded"},
		{fmt.Sprint("--stop --pid ", fromStart.Process.Process.Pid), "has been recorded from its start"},
	} {
		run := harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "record"}, strings.Fields(test.arguments)...), Directory: t.TempDir()})
		if run.Status != 125 || run.Output != "" || !strings.Contains(run.Errors, test.says) || strings.Count(run.Errors, "\n") != 1 {
			t.Errorf("record %s: %s, %q, %q", test.arguments, run.Ending(), run.Output, run.Errors)
		}
	}
}

// A damaged control file is refused, and whoever holds it goes on.
func TestDamagedControlFile(t *testing.T) {
	folder := harness.TempDir(t)
	program := harness.Converse(t, harness.Command{
		Arguments: []string{harness.CLI(t), "run", "--control", folder, harness.Program(t, "programs/rounds")},
	})
	program.Order(t, "r")
	files, _ := filepath.Glob(filepath.Join(folder, "control-*"))
	if len(files) != 1 {
		t.Fatalf("control files %q", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 8192 {
		t.Errorf("%v %v", info, err)
	}
	control, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	whole := make([]byte, 128)
	if _, err := control.ReadAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []struct {
		offset int64
		bytes  string
	}{
		{0, "X"}, {8, "\x02"}, {32, "\x00\x00\x00\x00"}, {32, "\xff\xff\xff\xff"}, {36, "\xff\xff\xff\xff"},
	} {
		control.WriteAt([]byte(damage.bytes), damage.offset)
		run := harness.Run(t, harness.Command{
			Arguments: []string{harness.CLI(t), "record", "--pid", strconv.Itoa(program.Process.Process.Pid)}, Directory: t.TempDir(),
		})
		if run.Status != 125 || !strings.Contains(run.Errors, "no control file of this version") {
			t.Errorf("%v: %s %q", damage, run.Ending(), run.Errors)
		}
		control.WriteAt(whole, 0)
	}
	program.Order(t, "rr")
	program.End(t)
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// The same from inside, many times, in several threads: each session has exactly what was done in it.
func TestSessions(t *testing.T) {
	const threads, sessions, calls, old = 4, 30, 2000, 100
	folder := harness.TempDir(t)
	run := harness.Run(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/sessions"), folder, fmt.Sprint(threads), fmt.Sprint(sessions), fmt.Sprint(calls)},
		Settings:  []string{"LD_PRELOAD=" + harness.Library(t)},
	})
	if run.Status != 0 {
		t.Fatalf("%s: %s", run.Ending(), run.Errors)
	}
	for i := range sessions {
		for _, kind := range []string{"", ".snapshot"} {
			report := harness.ReadReport(t, filepath.Join(folder, fmt.Sprintf("%d%s.mallow", i, kind)))
			counted := site(t, report, "counted")
			if counted.Allocations != threads*calls || counted.LiveBlocks != threads*calls/2 || counted.Bytes != threads*calls*24 {
				t.Errorf("session %d%s: %+v", i, kind, counted)
			}
			if other := site(t, report, "uncounted"); other.Allocations != 0 {
				t.Errorf("session %d%s: %+v", i, kind, other)
			}
			if frees := report.Totals.Frees; frees != threads*(calls/2+old) {
				t.Errorf("session %d%s: %d frees", i, kind, frees)
			}
			if len(report.Quality.Warnings) != 0 {
				t.Errorf("session %d%s: %q", i, kind, report.Quality.Warnings)
			}
			if processes := len(report.Processes); processes != 1 {
				t.Errorf("session %d%s: %d processes", i, kind, processes)
			}
		}
	}
}

// What a thread began in one session and ends while the next one is just beginning leaves that one whole.
func TestLatecomer(t *testing.T) {
	for at, more := 1, true; more; at++ {
		folder := harness.TempDir(t)
		run := harness.Run(t, harness.Command{
			Arguments: []string{harness.Program(t, "programs/latecomer"), folder, fmt.Sprint(at)},
			Settings:  []string{"LD_PRELOAD=" + harness.Library(t)},
		})
		more = run.Status == 0
		if !more && (run.Status != 3 || at < 10) {
			t.Fatalf("at %d: %s: %s", at, run.Ending(), run.Errors)
		}
		report := harness.ReadReport(t, filepath.Join(folder, "1.mallow"))
		counted, late := site(t, report, "counted").Allocations, site(t, report, "late").Allocations
		if counted != 50 || late > 1 || report.Totals.Allocations != counted+late || len(report.Quality.Warnings) != 0 {
			t.Errorf("at %d: %d by counted, %d by late, %d in all; %q", at, counted, late, report.Totals.Allocations, report.Quality.Warnings)
		}
	}
}

// Nor does what it is in for so long that the next one is under way by then add to it.
func TestStraggler(t *testing.T) {
	straggler := func(t *testing.T, at int) (harness.Report, string) {
		t.Helper()
		folder := harness.TempDir(t)
		run := harness.Run(t, harness.Command{
			Arguments: []string{harness.Program(t, "programs/straggler"), folder, fmt.Sprint(at)},
			Settings:  []string{"LD_PRELOAD=" + harness.Library(t)},
		})
		if run.Status != 0 {
			t.Fatalf("%s: %s", run.Ending(), run.Errors)
		}
		return harness.ReadReport(t, filepath.Join(folder, "1.mallow")), run.Output
	}
	_, output := straggler(t, 0)
	calls, err := strconv.Atoi(strings.TrimSpace(output))
	if err != nil || calls < 10 {
		t.Fatalf("%q system calls, %v", output, err)
	}
	for at := 1; at <= calls; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			report, _ := straggler(t, at)
			if counted := site(t, report, "counted").Allocations; counted != 1000 || len(report.Regions) != 20 || len(report.Quality.Warnings) != 0 {
				t.Errorf("%d by counted, %d regions; %q", counted, len(report.Regions), report.Quality.Warnings)
			}
			for _, region := range report.Regions {
				if !strings.HasPrefix(region.Name, "counted ") || region.Entries != 1 || region.Allocations != 50 {
					t.Errorf("%s: entered %d times, %d allocations", region.Name, region.Entries, region.Allocations)
				}
			}
			for _, unit := range report.Units {
				if unit.Name != "counted" || unit.Count != 20 {
					t.Errorf("%d units %s", unit.Count, unit.Name)
				}
			}
		})
	}
}

// What comes while a snapshot is being written is in it or not, and it names nothing that it lacks.
func TestSnapshotWhileRecording(t *testing.T) {
	folder := harness.TempDir(t)
	run := harness.Run(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/snapped"), folder},
		Settings:  []string{"LD_PRELOAD=" + harness.Library(t)},
	})
	if run.Status != 0 {
		t.Fatalf("%s: %s", run.Ending(), run.Errors)
	}
	report := harness.ReadReport(t, filepath.Join(folder, "1.mallow"))
	if counted := site(t, report, "counted"); counted.Allocations != 100 || len(report.Quality.Warnings) != 0 {
		t.Errorf("%d allocations; %q", counted.Allocations, report.Quality.Warnings)
	}
}

// A snapshot needs nothing of what the parents of its process have recorded.
func TestSnapshotInAChild(t *testing.T) {
	folder := harness.TempDir(t)
	recorded, _ := harness.Record(t, harness.Command{Arguments: []string{
		harness.Program(t, "programs/snapped_child"), harness.Program(t, "programs/plugin_a.so"), folder,
	}})
	if recorded.Status != 0 {
		t.Fatalf("%s: %s", recorded.Ending(), recorded.Errors)
	}
	for number, want := range map[int]map[string]uint64{
		1: {"both": 20, "only": 30, "plugin_a": 40, "last": 0},
		2: {"both": 5, "only": 0, "plugin_a": 4, "last": 3},
	} {
		report := harness.ReadReport(t, filepath.Join(folder, fmt.Sprintf("%d.mallow", number)))
		for function, allocations := range want {
			if got := site(t, report, function).Allocations; got != allocations {
				t.Errorf("%d: %d allocations by %s, want %d", number, got, function, allocations)
			}
		}
		if quality := report.Quality; len(quality.Warnings) != 0 || quality.TruncatedStacks != 0 {
			t.Errorf("%d: %+v", number, quality)
		}
		within := map[string]uint64{}
		for _, region := range report.Regions {
			within[region.Name] = region.Allocations
		}
		if number == 1 && within["after"] != want["plugin_a"] || number == 2 && within["after"] != 12 {
			t.Errorf("%d: %v", number, within)
		}
	}
}

// A thread that asks what it has allocated is told all of it, or nothing, whatever another one switches meanwhile.
func TestStatisticsWhileSwitching(t *testing.T) {
	folder := harness.TempDir(t)
	run := harness.Run(t, harness.Command{
		Arguments: []string{harness.Program(t, "programs/statistician"), folder},
		Settings:  []string{"LD_PRELOAD=" + harness.Library(t)},
	})
	if run.Status != 0 {
		t.Fatalf("%s: %s", run.Ending(), run.Errors)
	}
	for session := 1; session <= 3; session++ {
		report := harness.ReadReport(t, filepath.Join(folder, fmt.Sprintf("%d.mallow", session)))
		if counted := site(t, report, "counted"); counted.Allocations != 1 || len(report.Quality.Warnings) != 0 {
			t.Errorf("session %d: %d by counted; %q", session, counted.Allocations, report.Quality.Warnings)
		}
	}
}

// A busy program is switched on and off a hundred times, and nothing happens to it.
func TestStorm(t *testing.T) {
	switches := 25
	for _, arguments := range [][]string{{"3", "64"}, {"3", "0"}, {"1", "forks"}, {"3", "5000"}} {
		program := busy(t, arguments...)
		for range switches {
			s := record(t, program.Process.Process.Pid, "--seconds", "0.02")
			s.Wait(t)
			if status := s.Process.ProcessState.ExitCode(); status != 0 && !strings.Contains(s.Errors(), "makes no call of malloc") {
				t.Fatalf("%v: %s", arguments, s.Errors())
			}
		}
		if program.Process.ProcessState != nil {
			t.Fatalf("%v: the program has ended: %v %s", arguments, program.Process.ProcessState, program.Errors())
		}
		if err := program.Process.Process.Signal(syscall.Signal(0)); err != nil {
			t.Fatalf("%v: %v", arguments, err)
		}
	}
}

// run is transparent: status, signal and environment are those of the program.
func TestRun(t *testing.T) {
	folder := harness.TempDir(t)
	run := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "run", "--control", folder, "/bin/sh", "-c", `echo "$MALLOW_OPTIONS"; exit 7`}})
	if run.Status != 7 || run.Output != "control="+folder+"\n" {
		t.Errorf("%s: %q", run.Ending(), run.Output)
	}
	run = harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "run", "--control", folder, "/bin/sh", "-c", "kill -TERM $$"}})
	if run.Signal != syscall.SIGTERM {
		t.Errorf("%s", run.Ending())
	}
	run = harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "run", "--control", folder, "/bin/sh", "-c", `echo "$MALLOW_OPTIONS"`},
		Settings:  []string{"MALLOW_OPTIONS=release_keep=2M:record=/nowhere"},
	})
	if run.Output != "release_keep=2M:record=/nowhere\n" {
		t.Errorf("%q", run.Output)
	}
	// What was killed leaves its file, which the next run in the folder of the user takes away.
	home := harness.TempDir(t)
	os.Chmod(home, 0o700)
	command := func(program ...string) harness.Command {
		return harness.Command{Arguments: append([]string{harness.CLI(t), "run"}, program...), Settings: []string{"XDG_RUNTIME_DIR=" + home}}
	}
	harness.Run(t, command("/bin/sh", "-c", "kill -9 $$"))
	files := func() []string {
		found, _ := filepath.Glob(filepath.Join(home, "mallow-control-*", "control-*"))
		return found
	}
	if len(files()) != 1 {
		t.Errorf("%q", files())
	}
	harness.Run(t, command("/bin/true"))
	if len(files()) != 0 {
		t.Errorf("%q", files())
	}
}

// A folder that can hold no control file, or that others can put some into, is refused before the program starts.
func TestControlFolder(t *testing.T) {
	home := harness.TempDir(t)
	if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"own": 0o755, "shared": 0o775, "open": os.ModeSticky | 0o777} {
		folder := filepath.Join(home, name)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for folder, says := range map[string]string{
		"own":     "",
		"nowhere": "no such file or directory",
		"file":    "not a directory",
		"shared":  "others can write to it",
		"open":    "others can write to it",
	} {
		run := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "run", "--control", folder, "/bin/sh", "-c", "ls " + folder + "/control-*"}, Directory: home})
		if says == "" {
			if run.Status != 0 || run.Errors != "" {
				t.Errorf("%s: %s, %q", folder, run.Ending(), run.Errors)
			}
		} else if run.Status != 125 || run.Output != "" || !strings.Contains(run.Errors, says) || strings.Count(run.Errors, "\n") != 1 {
			t.Errorf("%s: %s, %q, %q", folder, run.Ending(), run.Output, run.Errors)
		}
	}
}

// What a program allocates by an allocator of its own is not in such a recording either, and it says so.
func TestOwnHeap(t *testing.T) {
	program := onDemand(t, "/usr/bin/python3", "-c", "import sys\nsys.stdout.write('.')\nsys.stdout.flush()\nwhile True: bytes(5000)")
	program.Ready(t)
	s := record(t, program.Process.Process.Pid)
	s.awaitCalls(t, 100)
	s.interrupt(t)
	if !strings.Contains(s.Errors(), "allocates by its own pymalloc is not recorded") {
		t.Error(s.Errors())
	}
}

// The descriptor of the control file is closed.
func TestNoDescriptor(t *testing.T) {
	list := []string{"/bin/ls", "/proc/self/fd"}
	alone := harness.Run(t, harness.Command{Arguments: list})
	run := harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "run", "--control", harness.TempDir(t)}, list...)})
	if run.Output != alone.Output {
		t.Errorf("%q, alone %q", run.Output, alone.Output)
	}
}
