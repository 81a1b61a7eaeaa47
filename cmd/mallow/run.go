package main

import (
	"github.com/spf13/cobra"

	"mallow/internal/launch"
)

func newRunCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run [--] PROG ARGS",
		Short: "Run a program on libmallow without recording",
		Long: `run turns into PROG with libmallow as its malloc: nothing is recorded and
nothing is left of mallow but the malloc.

Exit codes: the program's own; 127 PROG not found, 126 not executable, 125
mallow failed or PROG cannot run on libmallow (it is then not started).`,
		RunE: func(_ *cobra.Command, args []string) error {
			command, err := prepared(args, "run")
			if err != nil {
				return notStarted(err)
			}
			path, err := library()
			if err != nil {
				return notStarted(err)
			}
			return notStarted(launch.Exec(command.With(launch.Preload(command.Env, launch.Preloaded(path)))))
		},
	}
	c.Flags().SetInterspersed(false)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{launch.StatusCannotRecord, err} })
	return c
}
