package main

import "github.com/spf13/cobra"

func newReportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report [FLAGS] NAME.mallow...",
		Short: "Explain a recording on one screen",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(*cobra.Command, []string) error { return nil },
	}
}
