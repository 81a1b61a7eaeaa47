package main

import (
	"errors"

	"github.com/spf13/cobra"

	"mallow/internal/doctor"
	"mallow/internal/launch"
)

func newDoctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor [--] PROG [ARGS]",
		Short: "Say what mallow can and cannot see of a program, and why",
		Long: `doctor looks at PROG without running it: how it gets its malloc, whether its
stacks can be walked and whether lines can be named.

Exit codes: 0 mallow can record it, 1 it cannot, or PROG is not a program.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no program given: mallow doctor PROG (mallow help doctor tells more)")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			command, err := launch.Lookup(args[0], args[1:])
			if err != nil {
				return err
			}
			diagnosis, err := doctor.Diagnose(command.Path)
			if err != nil {
				return err
			}
			if err := diagnosis.Write(c.OutOrStdout()); err != nil {
				return err
			}
			if diagnosis.Refusal != nil {
				return exitError{code: 1}
			}
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	return c
}
