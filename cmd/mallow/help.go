package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/launch"
)

// newHelpCommand stands in the place of cobra's own, which takes any word, and
// ends well.
func newHelpCommand() *cobra.Command {
	var man bool
	c := &cobra.Command{
		Use:   "help [VERB]",
		Short: "Say what a verb does, and which flags it has",
		RunE: func(c *cobra.Command, args []string) error {
			at := c.Root()
			if man {
				return writeManual(c.OutOrStdout(), at)
			}
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
	c.Flags().BoolVar(&man, "man", false, "all of it as a page for man, which make install installs")
	c.Flags().Lookup("man").Hidden = true
	return c
}

// writeManual writes mallow(1): the help of each verb, as it is.
func writeManual(w io.Writer, root *cobra.Command) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, ".TH MALLOW 1 \"\" \"mallow %s\" \"\"\n.SH NAME\nmallow \\- %s\n", launch.Version, strings.ToLower(root.Short[:1])+root.Short[1:])
	out.WriteString(".SH DESCRIPTION\n" + preformatted(helpOf(root)))
	writeSections(out, root)
	return out.Flush()
}

func writeSections(out *bufio.Writer, of *cobra.Command) {
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(out, ".SH %s\n%s", strings.ToUpper(c.CommandPath()), preformatted(helpOf(c)))
			writeSections(out, c)
		}
	}
}

func helpOf(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	return cmp.Or(c.Long, c.Short) + "\n\n" + c.UsageString()
}

// preformatted is text for roff, line by line as it is.
func preformatted(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\n.", "\n\\&.").Replace("\n" + strings.TrimSpace(text) + "\n")
	return ".nf" + text + ".fi\n"
}
