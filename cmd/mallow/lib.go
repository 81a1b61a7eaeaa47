package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mallow/internal/launch"
)

func newLibCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "lib",
		Short:   "Print the path of libmallow.so, for LD_PRELOAD",
		Example: `  LD_PRELOAD=$(mallow lib) ./server`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := launch.Library()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), path)
			return err
		},
	}
}
