package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mallow/internal/control"
	"mallow/internal/launch"
	"mallow/internal/term"
)

// attachOptions are the flags of mallow record for a program that runs.
type attachOptions struct {
	pid     int
	seconds float64
	limited bool // --seconds was given
	stop    bool
}

func (a *attachOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&a.pid, "pid", 0, "record this process, which mallow run has started")
	f.Float64Var(&a.seconds, "seconds", 0, "with --pid: end after so many seconds")
	f.BoolVar(&a.stop, "stop", false, "with --pid: end the recording of the process")
}

func (a *attachOptions) used(c *cobra.Command) bool {
	f := c.Flags()
	a.limited = f.Changed("seconds")
	return f.Changed("pid") || a.limited || f.Changed("stop")
}

func (a *attachOptions) check(args []string, folder string, sample uint64) error {
	const shortest, longest = 1e-9, 100 * 365 * 24 * 3600
	switch {
	case a.pid <= 0:
		return errors.New("--pid takes the number of a process; --seconds and --stop belong to it")
	case len(args) > 0:
		return errors.New("record takes --pid or a program, not both")
	case a.limited && !(a.seconds >= shortest && a.seconds <= longest):
		return errors.New("--seconds takes a number above 0")
	case a.stop && (a.limited || folder != "" || sample > 0):
		return errors.New("--stop ends a recording; it takes only --pid")
	}
	return nil
}

// recordRunning records a process for a time, or ends that.
func recordRunning(args []string, options launch.RecordOptions, a attachOptions, stderr io.Writer) error {
	if err := a.check(args, options.Folder, options.SampleBytes); err != nil {
		return exitError{launch.StatusCannotRecord, err}
	}
	r, err := a.run(options, stderr)
	reportRecorded(stderr, r.Folder, r.Warnings)
	if err != nil {
		return exitError{launch.StatusCannotRecord, fmt.Errorf("%s", term.Safe(err.Error()))}
	}
	return nil
}

func (a *attachOptions) run(options launch.RecordOptions, stderr io.Writer) (control.Recorded, error) {
	if a.stop {
		return control.Stop(a.pid)
	}
	ctx, stop := launch.UntilEnded(context.Background())
	defer stop()
	return control.Record(ctx, a.pid, control.Options{
		Folder: options.Folder, NoArguments: options.NoArguments, SampleBytes: options.SampleBytes,
		Duration: time.Duration(a.seconds * float64(time.Second)), Unseen: unseen,
		Waiting: func() {
			fmt.Fprintf(stderr, "mallow: process %d has made no call of malloc or free yet, with which recording begins; ctrl-C gives up\n", a.pid)
		},
		Began: func(folder string) {
			fmt.Fprintf(stderr, "mallow: recording process %d into %s; ctrl-C ends it\n", a.pid, term.Safe(folder))
		},
	})
}
