// Package hostile records programs in surroundings that leave the recorder no room: same output and exit status as
// without recording, and the recording, or where there is none mallow on standard error, says what is missing.
package hostile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mallow/test/harness"
)

// What test/programs/guest.c allocates itself, and its fork child.
const (
	guestCalls = 5000
	childCalls = 100
)

func needsRoot(t *testing.T, why string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("only root may %s", why)
	}
}

func sameEnding(t *testing.T, alone, recorded harness.Result) {
	t.Helper()
	if recorded.Output != alone.Output || recorded.Ending() != alone.Ending() {
		t.Errorf("recorded: %s, %q\nalone:    %s, %q\n%s", recorded.Ending(), recorded.Output, alone.Ending(), alone.Output, recorded.Errors)
	}
}

// admits checks that somebody says that something is missing: the recording, or mallow if there is none.
func admits(t *testing.T, recorded harness.Result, recording string) {
	t.Helper()
	if !hasImage(recording) {
		saysNothingRecorded(t, recorded)
		return
	}
	report := harness.ReadReport(t, recording)
	if !report.Quality.Incomplete {
		t.Errorf("%d allocations recorded and no word of what is missing: %q", report.Totals.Allocations, report.Quality.Warnings)
	}
}

func saysNothingRecorded(t *testing.T, recorded harness.Result) {
	t.Helper()
	if !strings.Contains(recorded.Errors, "was recorded") {
		t.Errorf("no recording, and mallow says nothing of it: %q", recorded.Errors)
	}
}

func hasImage(recording string) bool {
	images, _ := filepath.Glob(filepath.Join(recording, "image-*"))
	return len(images) > 0
}

func guest(t *testing.T, change, folder string) harness.Command {
	command := harness.Command{Arguments: []string{harness.Program(t, "programs/guest"), change}}
	if folder != "" {
		command.Arguments = append(command.Arguments, folder)
	}
	return command
}

// What a program does to its own surroundings while it is recorded.
func TestProgramsThatChangeTheirSurroundings(t *testing.T) {
	for _, test := range []struct {
		change string
		folder bool // takes a folder
		root   bool
		whole  bool // the child can be recorded too
	}{
		{change: "nothing", whole: true},
		{change: "descriptors", whole: true},
		{change: "chdir", folder: true, whole: true},
		{change: "mask", whole: true},
		{change: "chroot", folder: true, root: true},
		{change: "nobody", root: true},
		{change: "files"},
		{change: "file_size"},
		{change: "memory"},
		{change: "counter", whole: true},
	} {
		t.Run(test.change, func(t *testing.T) {
			if test.root {
				needsRoot(t, "change root or user")
			}
			folder := ""
			if test.folder {
				folder = harness.TempDir(t)
			}
			alone := harness.Run(t, guest(t, test.change, folder))
			recorded, recording := harness.Record(t, guest(t, test.change, folder))
			if alone.Status != 5 {
				t.Fatalf("alone: %s, %q", alone.Ending(), alone.Output)
			}
			sameEnding(t, alone, recorded)
			program := harness.ReadReport(t, recording).Origins.Program.Allocations
			switch {
			case program == guestCalls+childCalls:
			case test.whole:
				t.Errorf("%d allocations recorded, want %d", program, guestCalls+childCalls)
			case program != guestCalls:
				t.Errorf("%d allocations recorded, want %d and perhaps the child's %d", program, guestCalls, childCalls)
			default:
				admits(t, recorded, recording)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	needsRoot(t, "mount")
	alone := harness.Run(t, guest(t, "nothing", ""))
	for _, size := range []string{"4k", "16k", "64k", "128k", "256k"} {
		t.Run(size, func(t *testing.T) {
			disk := mount(t, "size="+size)
			recording := filepath.Join(disk, "run.mallow")
			command := guest(t, "nothing", "")
			command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
			recorded := harness.Run(t, command)
			if recorded.Status == 125 && recorded.Output == "" && strings.Contains(recorded.Errors, "mallow:") {
				return // not even a folder could be made, and the program was not started
			}
			sameEnding(t, alone, recorded)
			admits(t, recorded, recording)
			if totals := harness.ReadReport(t, recording).Totals; totals.Allocations > 0 && totals.Allocations < guestCalls {
				t.Errorf("%d allocations, the parent made %d: totals stay exact without room for stacks", totals.Allocations, guestCalls)
			} else if live := int64(totals.Allocations - totals.Frees); totals.LiveBlocks != live {
				t.Errorf("%d blocks never freed, want %d", totals.LiveBlocks, live)
			}
		})
	}
}

// A file system that writes a page elsewhere each time has no room left for what was recorded before it was full.
func TestFullDiskOfCopies(t *testing.T) {
	needsRoot(t, "mount")
	disk := mountBtrfs(t)
	recording := filepath.Join(disk, "run.mallow")
	alone := harness.Run(t, guest(t, "fill", disk))
	if alone.Status != 5 {
		t.Fatalf("alone: %s, %q", alone.Ending(), alone.Output)
	}
	command := guest(t, "fill", disk)
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	recorded := harness.Run(t, command)
	sameEnding(t, alone, recorded)
	admits(t, recorded, recording)
}

// Where a quota of btrfs is reached, what was recorded before it cannot be written once more.
func TestQuotaOfCopies(t *testing.T) {
	needsRoot(t, "mount")
	disk := mountBtrfs(t)
	btrfs(t, "quota", "enable", disk)
	limited, free := filepath.Join(disk, "limited"), filepath.Join(disk, "free")
	btrfs(t, "subvolume", "create", limited)
	btrfs(t, "subvolume", "create", free)
	btrfs(t, "qgroup", "limit", "3M", limited)
	refused(t, filepath.Join(limited, "run.mallow"))

	command := guest(t, "nothing", "")
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", filepath.Join(free, "run.mallow"), "--"}, command.Arguments...)
	if recorded := harness.Run(t, command); recorded.Status != 5 {
		t.Errorf("without a limit: %s, %q", recorded.Ending(), recorded.Errors)
	}

	btrfs(t, "qgroup", "create", "1/1", disk)
	btrfs(t, "qgroup", "limit", "3M", "1/1", disk)
	refused(t, filepath.Join(free, "again.mallow"))
}

func btrfs(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := exec.Command("btrfs", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("btrfs %v: %v: %s", arguments, err, output)
	}
}

// A file system in a program takes what is written and finds later that there is no room.
func TestFullDiskOfAProgram(t *testing.T) {
	needsRoot(t, "mount")
	folder := harness.TempDir(t)
	if output, err := exec.Command("bindfs", mount(t, "size=6m"), folder).CombinedOutput(); err != nil {
		t.Skipf("no file system of a program here: %v: %s", err, output)
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
	recording := filepath.Join(folder, "run.mallow")
	command := guest(t, "nothing", "")
	alone := harness.Run(t, command)
	filling := filepath.Join(folder, "filling")
	if err := os.WriteFile(filling, make([]byte, 6<<20-64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	recorded := harness.Run(t, command)
	sameEnding(t, alone, recorded)
	if !strings.Contains(recorded.Errors, "is lost: no space left on device") {
		t.Errorf("mallow does not say that the disk was full: %q", recorded.Errors)
	}
	admits(t, recorded, recording)
}

func TestReadOnlyDisk(t *testing.T) {
	needsRoot(t, "mount")
	refused(t, filepath.Join(mount(t, "ro,size=64k"), "run.mallow"))
}

func TestUnwritableFolder(t *testing.T) {
	refused(t, "/dev/null/run.mallow")
}

// refused checks that mallow names the reason in one line and does not start the program.
func refused(t *testing.T, recording string) {
	t.Helper()
	command := guest(t, "nothing", "")
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	result := harness.Run(t, command)
	if result.Status != 125 || result.Output != "" || !strings.Contains(result.Errors, "mallow:") || strings.Count(result.Errors, "\n") != 1 {
		t.Errorf("%s, stdout %q, stderr %q: want status 125 and one sentence", result.Ending(), result.Output, result.Errors)
	}
}

// mount mounts a small file system for the test.
func mount(t *testing.T, options string) string {
	t.Helper()
	folder := harness.TempDir(t)
	flags := uintptr(0)
	if rest, found := strings.CutPrefix(options, "ro,"); found {
		flags, options = syscall.MS_RDONLY, rest
	}
	if err := syscall.Mount("mallow-test", folder, "tmpfs", flags, options+",mode=755"); err != nil {
		t.Skipf("cannot mount a tmpfs here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// mountBtrfs makes and mounts a btrfs, which is copy-on-write.
func mountBtrfs(t *testing.T) string {
	t.Helper()
	image := filepath.Join(harness.TempDir(t), "image")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 256<<20)); err != nil {
		t.Fatal(err)
	}
	folder := harness.TempDir(t)
	for _, command := range [][]string{{"mkfs.btrfs", "-q", image}, {"mount", "-o", "loop", image, folder}} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no btrfs here: %v: %s", err, output)
		}
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// Without the CLI: a folder that is not there, cannot be written to, or is no folder leaves the program alone.
func TestPreloadWithoutAFolder(t *testing.T) {
	file := filepath.Join(harness.TempDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"/nonexistent/folder", file, "/proc", "", "%zz", strings.Repeat("/long", 2000)} {
		command := guest(t, "nothing", "")
		alone := harness.Run(t, command)
		command.Settings = []string{"LD_PRELOAD=" + harness.Library(t), "MALLOW_OPTIONS=record=" + folder}
		recorded := harness.Run(t, command)
		sameEnding(t, alone, recorded)
	}
}

// Limits that a shell sets before the program starts: of the file size, of the address space, of open files.
func TestLimitsBeforeTheStart(t *testing.T) {
	for _, limit := range []string{"ulimit -f 0", "ulimit -f 8", "ulimit -f 1000", "ulimit -v 400000", "ulimit -v 60000", "ulimit -n 5"} {
		t.Run(limit, func(t *testing.T) {
			program := harness.Program(t, "programs/guest")
			shell := harness.Command{Arguments: []string{"/bin/sh", "-c", limit + `; exec "$0" nothing`, program}}
			alone := harness.Run(t, shell)
			if alone.Status != 5 {
				t.Fatalf("alone: %s, %q %q", alone.Ending(), alone.Output, alone.Errors)
			}
			recorded, recording := harness.Record(t, shell)
			sameEnding(t, alone, recorded)
			sum := harness.ReadReport(t, recording).SiteIn("allocate").Allocations
			if sum != guestCalls+childCalls {
				admits(t, recorded, recording)
			}
		})
	}
}

// A program with more call stacks than a recording has room for: what comes after that keeps its innermost callers.
func TestMoreStacksThanRoom(t *testing.T) {
	const depth = 16
	recorded, recording := harness.Record(t, harness.Command{Arguments: []string{
		"/bin/sh", "-c", fmt.Sprintf(`ulimit -f 16384; exec "$0" %d`, depth), harness.Program(t, "programs/many_stacks"),
	}})
	if recorded.Status != 0 {
		t.Fatalf("%s: %s", recorded.Ending(), recorded.Errors)
	}
	report := harness.ReadReport(t, recording)
	q := report.Quality
	site, by := report.SiteIn("take"), make(map[string]uint64)
	for _, stack := range site.Stacks { // those with the most calls are there: they have a few callers alone
		by[harness.PlainName(stack.Frames[1].Function)] += stack.Allocations
	}
	if site.Allocations != 1<<depth || min(by["left"], by["right"]) < q.TruncatedAllocations/2 {
		t.Errorf("%d, %v", site.Allocations, by)
	}
	if !q.Incomplete || q.TruncatedAllocations == 0 || q.TruncatedAllocations >= 1<<depth ||
		!slices.ContainsFunc(q.Warnings, func(w string) bool { return strings.Contains(w, "the node table is full") }) {
		t.Errorf("%+v", q)
	}
}

// Where there is no memory for the recorder's own tables, and hardly any for blocks either, the recording says so.
func TestDataLimitBeforeTheStart(t *testing.T) {
	program := harness.Program(t, "programs/guest")
	recorded, recording := harness.Record(t, harness.Command{Arguments: []string{"/bin/sh", "-c", `ulimit -d 2000; exec "$0" nothing`, program}})
	admits(t, recorded, recording)
}

// What the manual says that libmallow needs of private memory, above the little that the program needs alone.
func TestDataLimitWithRoom(t *testing.T) {
	alone := harness.Run(t, guest(t, "nothing", ""))
	limited := func(limit int) harness.Command {
		return harness.Command{Arguments: []string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -d %d; exec "$0" nothing`, limit), harness.Program(t, "programs/guest")}}
	}
	const few, more = 300 + 4500*1000/1024, 300 + 7000*1000/1024 // KiB
	onLibmallow := limited(few)
	onLibmallow.Settings = []string{"LD_PRELOAD=" + harness.Library(t)}
	sameEnding(t, alone, harness.Run(t, onLibmallow))
	recorded, recording := harness.Record(t, limited(more))
	sameEnding(t, alone, recorded)
	report := harness.ReadReport(t, recording)
	if got := report.SiteIn("allocate").Allocations; got != guestCalls+childCalls || report.Quality.Incomplete {
		t.Errorf("%d allocations, want %d, and all of them whole: %q", got, guestCalls+childCalls, report.Quality.Warnings)
	}
}

// Without /proc, as in some containers, the program still has its name, and its functions theirs.
func TestWithoutProc(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip(err)
	}
	program := harness.Program(t, "programs/guest")
	hide := []string{unshare, "--mount", "/bin/sh", "-c", `umount -l /proc || exit 77; exec "$@"`, "sh"}
	under := func(arguments ...string) harness.Result {
		// The program is called by a path that is relative.
		return harness.Run(t, harness.Command{Arguments: append(hide, arguments...), Directory: filepath.Dir(program)})
	}
	name := "./" + filepath.Base(program)
	alone := under(name, "nothing")
	if alone.Status == 77 || alone.Status == 1 {
		t.Skip("needs the right to hide /proc")
	}
	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	sameEnding(t, alone, under(harness.CLI(t), "record", "-o", recording, "--", name, "nothing"))
	report := harness.ReadReport(t, recording)
	if got := report.SiteIn("allocate").Allocations; got != guestCalls+childCalls {
		t.Errorf("%d allocations, not %d", got, guestCalls+childCalls)
	}
	for _, process := range report.Processes {
		if process.Executable != program {
			t.Errorf("%q, not %q", process.Executable, program)
		}
	}
}

// mallow itself under a file size limit: neither it nor the program dies of SIGXFSZ.
func TestFileSizeLimitOfMallow(t *testing.T) {
	alone := harness.Run(t, guest(t, "nothing", ""))
	for _, limit := range []string{"ulimit -f 0", "ulimit -f 16"} {
		t.Run(limit, func(t *testing.T) {
			recording := filepath.Join(harness.TempDir(t), "run.mallow")
			recorded := harness.Run(t, harness.Command{Arguments: []string{
				"/bin/sh", "-c", limit + `; exec "$@"`, "sh", harness.CLI(t), "record", "-o", recording, "--", harness.Program(t, "programs/guest"), "nothing",
			}})
			sameEnding(t, alone, recorded)
			admits(t, recorded, recording)
		})
	}
}

// A sandbox, or an old kernel, that refuses what the recorder needs.
func TestRefusedAdvice(t *testing.T) {
	sandbox := harness.Program(t, "programs/sandboxed")
	for name, advice := range map[string]string{"populate": "23", "wipe on fork": "18", "free": "8", "do not need": "4"} {
		t.Run(name, func(t *testing.T) {
			command := guest(t, "nothing", "")
			command.Arguments = append([]string{sandbox, advice}, command.Arguments...)
			alone := harness.Run(t, command)
			if alone.Status == 3 {
				t.Skip("this kernel has no seccomp filters")
			}
			recorded, recording := harness.Record(t, command)
			sameEnding(t, alone, recorded)
			if harness.ReadReport(t, recording).SiteIn("allocate").Allocations != guestCalls+childCalls {
				admits(t, recorded, recording)
			}
		})
	}
}

// The recording is moved while the program runs: it is completed where it is.
func TestFolderMovedInTheMiddle(t *testing.T) {
	folder := harness.TempDir(t)
	recording, moved := filepath.Join(folder, "run.mallow"), filepath.Join(folder, "moved.mallow")
	result := harness.Run(t, harness.Command{Arguments: []string{
		harness.CLI(t), "record", "-o", recording, "--", "/bin/sh", "-c", `mv "$0" "$1"; exit 3`, recording, moved,
	}})
	if result.Status != 3 || !strings.Contains(result.Errors, "wrote "+moved) {
		t.Errorf("%s: %s", result.Ending(), result.Errors)
	}
	if _, err := os.Stat(filepath.Join(moved, "meta.json")); err != nil {
		t.Error(err)
	}
	for _, process := range harness.ReadReport(t, moved).Processes {
		if process.Parent == nil && (process.ExitStatus == nil || *process.ExitStatus != 3) {
			t.Errorf("%+v is not said to have ended with 3", process)
		}
	}
}

// The recording is taken away while the program runs.
func TestFolderRemovedInTheMiddle(t *testing.T) {
	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	alone := harness.Run(t, guest(t, "remove", recording))
	command := guest(t, "remove", recording)
	command.Arguments = append([]string{harness.CLI(t), "record", "-o", recording, "--"}, command.Arguments...)
	recorded := harness.Run(t, command)
	sameEnding(t, alone, recorded)
	if hasImage(recording) {
		t.Errorf("a recording after it was removed: what does it hold?")
	}
	saysNothingRecorded(t, recorded)
	if !strings.Contains(recorded.Errors, "was removed while it ran") {
		t.Errorf("mallow does not say why: %q", recorded.Errors)
	}
}

// Descriptors, errno, signals, limits, threads, umask: what a program sees of itself.
func TestNothingIsSeen(t *testing.T) {
	program := harness.Program(t, "programs/observer")
	for name, script := range map[string]string{
		"plain":                 `exec "$0" a`,
		"no standard input":     `exec "$0" a <&-`,
		"no standard error":     `exec "$0" a 2>&-`,
		"only standard output":  `exec "$0" a <&- 2>&-`,
		"descriptors 3 and 7":   `exec "$0" a 3</dev/null 7</dev/null`,
		"umask":                 `umask 077; exec "$0" a`,
		"ignored signals":       `trap '' HUP PIPE; exec "$0" a`,
		"an argument of mallow": `exec "$0" --json`,
	} {
		t.Run(name, func(t *testing.T) {
			command := harness.Command{Arguments: []string{"/bin/sh", "-c", script, program}, Directory: "/usr/share"}
			alone := harness.Run(t, command)
			if alone.Status != 11 {
				t.Fatalf("alone: %s, %q", alone.Ending(), alone.Errors)
			}
			recorded, recording := harness.Record(t, command)
			if recorded.Output != alone.Output || recorded.Ending() != alone.Ending() {
				t.Errorf("recorded: %s\n%s\nalone: %s\n%s", recorded.Ending(), recorded.Output, alone.Ending(), alone.Output)
			}
			if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got < 300 {
				t.Errorf("%d allocations of the program, it makes 300", got)
			}
			preloaded, _ := harness.Preload(t, command)
			if preloaded.Output != alone.Output || preloaded.Ending() != alone.Ending() {
				t.Errorf("preloaded: %s\n%s\nalone: %s\n%s", preloaded.Ending(), preloaded.Output, alone.Ending(), alone.Output)
			}
		})
	}
}

// systemd names the process that its sockets are for. It started mallow, and means the program.
func TestSocketsOfSystemd(t *testing.T) {
	program := []string{"/bin/sh", "-c", `echo $((LISTEN_PID - $$)) $((WATCHDOG_PID - $$)) $SYSTEMD_EXEC_PID $LISTEN_FDS`}
	start := append([]string{"/bin/sh", "-c", `LISTEN_PID=$$ WATCHDOG_PID=$$ SYSTEMD_EXEC_PID=1 LISTEN_FDS=2 exec "$0" "$@"`}, program...)
	alone := harness.Run(t, harness.Command{Arguments: start})
	if alone.Output != "0 0 1 2\n" {
		t.Fatalf("alone: %q", alone.Output)
	}
	recording := filepath.Join(harness.TempDir(t), "run.mallow")
	recorded := harness.Run(t, harness.Command{Arguments: slices.Insert(start, 3, harness.CLI(t), "record", "-o", recording, "--")})
	sameEnding(t, alone, recorded)
}

// A user without rights records in a folder of its own.
func TestAnotherUser(t *testing.T) {
	needsRoot(t, "become another user")
	for _, change := range []string{"nothing", "mask"} {
		t.Run(change, func(t *testing.T) { recordAsAnotherUser(t, change) })
	}
}

func recordAsAnotherUser(t *testing.T, change string) {
	folder := harness.TempDir(t)
	if err := os.Chown(folder, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	recording := filepath.Join(folder, "run.mallow")
	recorded := harness.Run(t, harness.Command{Arguments: []string{
		"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", harness.CLI(t), "record", "--log", "-o", recording, "--",
		harness.ForEveryUser(t, harness.Program(t, "programs/guest")), change,
	}})
	if recorded.Status != 5 {
		t.Fatalf("%s\n%s", recorded.Ending(), recorded.Errors)
	}
	if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != guestCalls+childCalls {
		t.Errorf("%d allocations, want %d", got, guestCalls+childCalls)
	}
	for _, path := range []string{recording, filepath.Join(recording, "image-*"), filepath.Join(recording, "log-*"), filepath.Join(recording, "meta.json")} {
		matches, _ := filepath.Glob(path)
		for _, match := range matches {
			info, err := os.Stat(match)
			if err != nil {
				t.Fatal(err)
			}
			if want := os.FileMode(0o600); info.Mode().Perm()&0o677 != want {
				t.Errorf("%s: %v, want %v: its owner alone must read it", match, info.Mode(), want)
			}
		}
		if len(matches) == 0 {
			t.Errorf("no %s", path)
		}
	}
}

// A program takes all the processes that its user may have: mallow has what it needs by then.
func TestAllProcessesTaken(t *testing.T) {
	needsRoot(t, "become a user without processes")
	const user = "61184" // of systemd's range for services, which nobody else uses here
	folder := harness.TempDir(t)
	if err := os.Chmod(folder, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	// So many processors make Go's runtime want more threads.
	command := guest(t, "processes", "")
	command.Arguments[0] = harness.ForEveryUser(t, command.Arguments[0])
	command.Settings = []string{"GOMAXPROCS=8"}
	command.Arguments = append([]string{"/usr/bin/setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "prlimit", "--nproc=40"}, command.Arguments...)
	alone := harness.Run(t, command)
	if alone.Status != 5 {
		t.Fatalf("alone: %s, %q", alone.Ending(), alone.Output)
	}
	cli := harness.ForEveryUser(t, harness.CLI(t))
	for i := range 5 {
		recording := filepath.Join(folder, fmt.Sprint(i, ".mallow"))
		again := command
		again.Arguments = slices.Insert(slices.Clone(command.Arguments), 6, cli, "record", "-o", recording, "--")
		recorded := harness.Run(t, again)
		sameEnding(t, alone, recorded)
		if t.Failed() {
			return
		}
		if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got < guestCalls+childCalls {
			t.Errorf("%d allocations, want %d and one of each child", got, guestCalls+childCalls)
		}
	}
}

// Names of recordings and of programs that shells, LD_PRELOAD, option lists and terminals stumble over.
func TestOddNames(t *testing.T) {
	for _, name := range []string{
		"a b", "a:b", "50%", "%3A", "a=b", "\xff\xfe", "line\nbreak", "\x1b[31mred", "-x", "*?[", "'\"$HOME\\", strings.Repeat("n", 240), "ümläut",
	} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			folder := filepath.Join(harness.TempDir(t), name)
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(folder, name)
			harness.CopyProgram(t, harness.Program(t, "programs/guest"), program)
			recording := filepath.Join(folder, strings.TrimPrefix(name, "nnnnnnnnnn")+".mallow")
			result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "-o", recording, "--", program, "nothing"}})
			if result.Status != 5 {
				t.Fatalf("%s\n%s", result.Ending(), result.Errors)
			}
			if strings.ContainsRune(result.Errors, 0x1b) {
				t.Errorf("a name writes to the terminal: %q", result.Errors)
			}
			if got := harness.ReadReport(t, recording).Origins.Program.Allocations; got != guestCalls+childCalls {
				t.Errorf("%d allocations, want %d", got, guestCalls+childCalls)
			}
		})
	}
}

// The header of a recording has no room for the path of this program, whose name is at its end.
func TestLongPath(t *testing.T) {
	folder := filepath.Join(harness.TempDir(t), strings.Repeat("a", 240), strings.Repeat("b", 240), strings.Repeat("c", 240))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "guest")
	harness.CopyProgram(t, harness.Program(t, "programs/guest"), program)
	_, recording := harness.Record(t, harness.Command{Arguments: []string{program, "nothing"}})
	for _, process := range harness.ReadReport(t, recording).Processes {
		if process.Executable != program {
			t.Errorf("%q, not %q", process.Executable, program)
		}
	}
}
