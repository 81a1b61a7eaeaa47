// Package measure runs a command once and says what it cost: the whole tree of
// its processes, whatever becomes of their parents.
package measure

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"mallow/internal/launch"
)

// Command is what to run.
type Command struct {
	Args  []string
	Shell string   // in the place of Args: one string, for the shell
	Dir   string   // "" for the present one
	Env   []string // nil for that of mallow
	Stdin string   // a file; "" for none
	// Limit is how long it may run; 0 for ever.
	Limit time.Duration
	// Silent sends its output to nowhere: there is no hash of it then.
	Silent bool
}

// String names the command in sentences.
func (c Command) String() string {
	if c.Shell != "" {
		return launch.Quote(c.Shell)
	}
	words := make([]string, len(c.Args))
	for i, word := range c.Args {
		words[i] = launch.Quote(word)
	}
	return strings.Join(words, " ")
}

// Run is what one run cost. Times and page faults are sums over all processes
// of the tree; CPU is exact, its parts User and Sys are the kernel's estimate.
type Run struct {
	CPU, Wall, User, Sys     time.Duration
	PeakRSS                  uint64 // bytes, of the largest process
	MinorFaults, MajorFaults uint64
	Exit                     int
	Signal                   syscall.Signal // 0 unless one ended it; Exit is 0 then
	Output                   [32]byte       // hash of stdout and stderr
	Stdout, Stderr           []byte         // the last of them, MostKept bytes at most
	Cut                      bool           // Stdout or Stderr lacks its beginning
	PID                      int            // of the command's first process, while it ran
	Left                     int            // processes that still ran when the command had ended; they were killed
}

// MostKept is how much of each output a Run keeps.
const MostKept = 1 << 20

// ErrLimit is wrapped by the error for a command that did not end in time.
var ErrLimit = errors.New("no end within the time limit")

// Ending says how the run ended: "exit status 3", "killed by SIGSEGV".
func (r Run) Ending() string {
	if r.Signal != 0 {
		return "killed by " + signalName(r.Signal)
	}
	return fmt.Sprintf("exit status %d", r.Exit)
}

// Once runs the command. An exit status other than 0 is no error; that it
// cannot be started, does not end within its limit or that ctx ends is one, and
// then nothing of its tree runs any more.
//
// It may be called from several goroutines, which disturb each other's figures.
func Once(ctx context.Context, c Command) (Run, error) {
	if c.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("%w of %v", ErrLimit, c.Limit))
		defer cancel()
	}
	command, err := c.lookup()
	if err != nil {
		return Run{}, err
	}
	input, err := os.Open(orNull(c.Stdin))
	if err != nil {
		return Run{}, err
	}
	defer input.Close()

	out, problems := newKept(), newKept()
	var reading sync.WaitGroup
	streams := []*os.File{input}
	closeWriters := func() {
		for _, writer := range streams[1:] {
			writer.Close()
		}
	}
	for _, to := range []*kept{out, problems} {
		writer, err := c.stream(to, &reading)
		if err != nil {
			closeWriters()
			return Run{}, err
		}
		streams = append(streams, writer)
	}
	run, err := start(ctx, command, c.Dir, streams, closeWriters)
	closeWriters()
	out.hurry()
	problems.hurry()
	reading.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return Run{}, fmt.Errorf("%s: %w", c, cause)
	}
	if err != nil {
		return Run{}, fmt.Errorf("%s: %w", c, err)
	}
	run.Output = sha256.Sum256(append(out.hash(), problems.hash()...))
	run.Stdout, run.Stderr, run.Cut = out.last, problems.last, out.cut || problems.cut
	return run, nil
}

func orNull(path string) string {
	if path == "" {
		return os.DevNull
	}
	return path
}

// lookup finds the program.
func (c Command) lookup() (launch.Command, error) {
	args := c.Args
	if c.Shell != "" {
		args = []string{"/bin/sh", "-c", c.Shell}
	}
	if len(args) == 0 {
		return launch.Command{}, errors.New("there is no command to run")
	}
	name := args[0]
	if c.Dir != "" && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(c.Dir, name)
		absolute, err := filepath.Abs(name)
		if err != nil {
			return launch.Command{}, err
		}
		name = absolute
	}
	command, err := launch.Lookup(name, args[1:])
	if err != nil {
		return command, err
	}
	if command.Path == name {
		command.Argv[0] = args[0]
	}
	if c.Env != nil {
		command.Env = c.Env
	}
	return command, nil
}

// stream returns what the command writes to, and reads from its other end.
func (c Command) stream(to *kept, reading *sync.WaitGroup) (*os.File, error) {
	if c.Silent {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	enlarge(writer)
	to.from = reader
	reading.Go(func() {
		io.Copy(to, reader)
		reader.Close()
	})
	return writer, nil
}
