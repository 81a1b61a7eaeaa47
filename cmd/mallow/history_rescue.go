package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/term"
)

func newHistoryRescueCommand(place *historyPlace) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "rescue -o FILE",
		Short: "Save what can be read of a damaged history",
		Long: `rescue copies every point that can still be read into a new history, profiles
included where they are whole. The damaged file is only read.`,
		Example: `  mallow history rescue -o saved.db && mv saved.db .git/mallow/history.db`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "" {
				return errors.New("-o FILE says where the new history shall be")
			}
			store, err := place.open()
			if err != nil {
				return safely(err)
			}
			defer store.Close()
			points, err := history.Rescue(store.Path(), output)
			if err != nil {
				return safely(err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s of %s saved in %s\n",
				figure.Counted(uint64(points), "point", "points"), term.Safe(store.Path()), term.Safe(output))
			return err
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the new history's `FILE`")
	return c
}
