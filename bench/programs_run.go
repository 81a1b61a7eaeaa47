package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mallow/internal/doctor"
	"mallow/internal/launch"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// session runs one program again and again, in a folder of its own.
type session struct {
	program  program
	measurer measurer
	folder   string
	limit    time.Duration
}

// ended is what is seen of one run from outside.
type ended struct {
	output, errors string
	status         int // as the shell has it; 128 and more for a signal
	cpu            float64
	late           bool // it did not end by itself within the limit
}

func (e ended) same(other ended) bool {
	return e.output == other.output && e.status == other.status && e.late == other.late
}

// helpers are functions of sh for the lines `drive`.
const helpers = `await() { n=0; until "$@" >/dev/null 2>&1; do n=$((n + 1)); [ $n -lt 200 ] || return 1; sleep 0.1; done; }
`

func (s session) prepare() error {
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return err
	}
	if err := s.giveAway(s.folder); err != nil || s.program.setup == "" {
		return err
	}
	c := s.shell(context.Background(), s.program.setup)
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.300s", err, output)
	}
	return nil
}

// giveAway makes a folder the user's, if that is another one.
func (s session) giveAway(folder string) error {
	if s.program.user == "" || os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup(s.program.user)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		return err
	}
	return os.Chown(folder, uid, -1)
}

func (s session) shell(ctx context.Context, script string) *exec.Cmd {
	command := []string{"/bin/sh", "-c", script}
	if s.program.user != "" && os.Geteuid() == 0 {
		command = slices.Concat([]string{"/usr/bin/setpriv", "--reuid=" + s.program.user, "--clear-groups"}, command)
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = s.folder
	c.Env = append([]string{"PATH=" + programsPath, "HOME=" + s.folder, "LC_ALL=C.UTF-8", "TZ=UTC", "TMPDIR=" + s.folder}, s.program.settings...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // no server outlives a survey that is ended
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	return c
}

// execute runs the program once, with this in front of its command.
func (s session) execute(prefix string) (ended, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	c := s.shell(ctx, "exec "+prefix+" "+s.program.run)
	var output, problems bytes.Buffer
	c.Stdout, c.Stderr = &output, &problems
	if err := c.Start(); err != nil {
		return ended{}, err
	}
	var driven string
	if s.program.drive != "" {
		said, err := s.shell(ctx, helpers+s.program.drive).Output()
		if driven = string(said); err != nil {
			driven += fmt.Sprintf("the driver failed: %v\n", err)
		}
		c.Process.Signal(syscall.SIGTERM)
	}
	err := c.Wait()
	syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // what it left behind
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return ended{}, err
	}
	result := ended{errors: problems.String(), status: c.ProcessState.ExitCode(), late: ctx.Err() != nil}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		result.status = 128 + int(status.Signal())
	}
	result.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	text := output.String()
	if s.program.drive != "" {
		text = driven // a server's own output is a log
	}
	if s.program.check != "" {
		more, _ := s.shell(context.Background(), s.program.check).CombinedOutput()
		text += string(more)
	}
	if s.program.filter != "" {
		filter := s.shell(context.Background(), s.program.filter)
		filter.Stdin = strings.NewReader(text)
		filtered, err := filter.Output()
		if err != nil {
			return ended{}, fmt.Errorf("the filter failed: %w", err)
		}
		text = string(filtered)
	}
	result.output = text
	return result, nil
}

// measure fills the row.
func (s session) measure(row *surveyed, rounds int) {
	path, err := exec.LookPath(s.program.command())
	if err == nil {
		row.diagnosis, err = doctor.Diagnose(path)
	}
	if err != nil {
		row.skipped = err.Error()
		return
	}
	plain, err := s.execute("")
	if err != nil {
		row.skipped = err.Error()
		return
	}
	row.plain = plain
	above := s.folder + ".recording"
	if err = os.MkdirAll(above, 0o755); err == nil {
		err = s.giveAway(above)
	}
	if err != nil {
		row.skipped = err.Error()
		return
	}
	defer os.RemoveAll(above)
	folder := filepath.Join(above, "run.mallow")
	row.recorded, err = s.execute(s.measurer.cli + " record -o " + launch.Quote(folder) + " --")
	if err != nil {
		row.skipped = err.Error()
		return
	}
	if row.refused() {
		return
	}
	row.figures, row.unreadable = readFigures(folder)
	row.steady, row.errorsSteady = true, true
	for range rounds {
		for mode, prefix := range []string{
			"",
			"env LD_PRELOAD=" + s.measurer.library,
			"env LD_PRELOAD=" + s.measurer.library + " MALLOW_OPTIONS=record=" + folder,
		} {
			os.RemoveAll(folder)
			err := os.Mkdir(folder, 0o700)
			if err == nil {
				err = s.giveAway(folder)
			}
			var one ended
			if err == nil {
				one, err = s.execute(prefix)
			}
			if err != nil {
				row.unreadable = err
				return
			}
			row.cpu[mode] = append(row.cpu[mode], one.cpu)
			if mode == 0 {
				row.steady = row.steady && one.same(row.plain)
				row.errorsSteady = row.errorsSteady && one.errors == row.plain.errors
			}
			if mode == 1 && !one.same(row.plain) {
				row.libraryDiffers = true
			}
		}
	}
}

// figures is what a recording holds.
type figures struct {
	processes, calls, stacks, truncated, truncatedCalls uint64
	unrecorded                                          []string
	incomplete                                          bool
}

// unnamed leaves addresses without names: the figures need none.
type unnamed struct{}

func (unnamed) Frames(_ symbolize.Module, addresses []uint64) [][]symbolize.Frame {
	return make([][]symbolize.Frame, len(addresses))
}
func (unnamed) HasLines(symbolize.Module) bool { return false }
func (unnamed) Warnings() []string             { return nil }

func readFigures(folder string) (figures, error) {
	r, err := recording.Open(folder)
	if err != nil {
		return figures{}, err
	}
	p := profile.New([]*recording.Recording{r}, profile.Options{Symbolizer: unnamed{}})
	f := figures{
		processes: uint64(len(p.Processes)), calls: p.Totals.Allocations, truncated: p.Quality.TruncatedStacks,
		truncatedCalls: p.Quality.TruncatedCalls,
	}
	for _, im := range r.Images {
		if im.Incomplete&recording.IncompleteOwnMalloc != 0 {
			f.processes--
			f.leaveOut(filepath.Base(im.Executable) + " (brings a malloc of its own)")
			continue
		}
		f.incomplete = f.incomplete || im.Incomplete != 0
		im.EachStack(func(_ uint32, c *recording.Counters) {
			if c.Calls > 0 {
				f.stacks++
			}
		})
	}
	if r.Meta == nil {
		return f, errors.New("its recording has no meta.json")
	}
	for _, u := range r.Meta.Unrecorded {
		f.leaveOut(filepath.Base(u.Executable) + " (" + u.Reason + ")")
	}
	return f, nil
}

func (f *figures) leaveOut(what string) {
	if !slices.Contains(f.unrecorded, what) {
		f.unrecorded = append(f.unrecorded, what)
	}
}
