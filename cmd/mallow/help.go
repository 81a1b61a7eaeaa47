package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newHelpCommand stands in the place of cobra's own, which takes any word, and
// ends well.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Say what a verb does, and which flags it has",
		RunE: func(c *cobra.Command, args []string) error {
			at := c.Root()
			for i, word := range args {
				next := find(at, word)
				if next == nil {
					return fmt.Errorf("there is no verb %s: mallow %s lists them",
						strings.Join(args[:i+1], " "), strings.Join(append([]string{"help"}, args[:i]...), " "))
				}
				if at = next; at.Hidden {
					return at.RunE(at, nil)
				}
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			at := c.Root()
			for _, word := range args {
				if at = find(at, word); at == nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
			}
			var verbs []string
			for _, verb := range at.Commands() {
				if verb.IsAvailableCommand() {
					verbs = append(verbs, cobra.CompletionWithDesc(verb.Name(), verb.Short))
				}
			}
			return beginWith(verbs, begun), cobra.ShellCompDirectiveNoFileComp
		},
	}
}
