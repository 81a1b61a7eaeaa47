package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mallow/internal/control"
	"mallow/internal/launch"
)

func newRunCommand() *cobra.Command {
	folder := ""
	c := &cobra.Command{
		Use:   "run [--control FOLDER] [--] PROG ARGS",
		Short: "Run a program on libmallow, to be recorded later or never",
		Long: `run turns into PROG with libmallow as its malloc: nothing is recorded and
nothing is left of mallow but the malloc. While PROG runs, "mallow record --pid"
can record it for a time.

Exit codes: the program's own; 127 PROG not found, 126 not executable, 125
mallow failed or PROG cannot run on libmallow (it is then not started).`,
		Example: `  mallow run ./server &
  mallow record --pid $! --seconds 10`,
		RunE: func(c *cobra.Command, args []string) error {
			return runProgram(args, folder, c.ErrOrStderr())
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&folder, "control", "", "existing folder for the control file (default: one of this user below $XDG_RUNTIME_DIR or /tmp)")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{launch.StatusCannotRecord, err} })
	return c
}

func runProgram(args []string, folder string, stderr io.Writer) error {
	command, err := prepared(args, "run")
	if err != nil {
		return notStarted(err)
	}
	path, err := library()
	if err != nil {
		return notStarted(err)
	}
	settings := []string{launch.Preload(command.Env, launch.Preloaded(path))}
	chosen := folder != ""
	if folder, err = controlFolder(folder); err != nil && chosen {
		return notStarted(fmt.Errorf("--control: %w", err))
	}
	if err != nil {
		fmt.Fprintf(stderr, "mallow: %s cannot be recorded later: %v\n", launch.Quote(command.Name), err)
	} else if setting := launch.ControlBy(command.Env, folder); setting != "" {
		settings = append(settings, setting)
	}
	return notStarted(launch.Exec(command.With(settings...)))
}

func controlFolder(chosen string) (string, error) {
	if chosen == "" {
		return control.Folder()
	}
	return control.Given(chosen)
}
