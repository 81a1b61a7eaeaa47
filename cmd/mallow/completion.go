package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion bash|zsh|fish",
		Short:   "Print a script that completes mallow's words in a shell",
		Example: `  mallow completion bash >/etc/bash_completion.d/mallow`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("completion takes one shell: mallow completion bash|zsh|fish")
			}
			return nil
		},
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), c.OutOrStdout()
			switch args[0] {
			case "bash":
				if err := root.GenBashCompletionV2(out, true); err != nil {
					return err
				}
				_, err := io.WriteString(out, bashAlone)
				return err
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return fmt.Errorf("no completion for the shell %q: bash, zsh or fish", args[0])
		},
	}
}

// bashAlone takes the place of the function of the generated script that finds the words where the package
// bash-completion is not loaded: that one calls another function of the package. Bash itself splits words at = and :,
// so the line is split here; quotes may stay, because the words are joined and evaluated as one line again.
const bashAlone = `
__mallow_init_completion()
{
    COMPREPLY=()
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line != *[[:blank:]] ]] || words+=('')
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword ? cword - 1 : 0]}
}
`

// filesToo lets the first word be a file, too: a program to record.
func filesToo(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// choice is how help names the value of a flag that takes one of some words.
var choice = regexp.MustCompile(`^[a-z/-]+(\|[a-z/-]+)+$`)

// completeChoices completes the values of such flags, of c and its commands.
func completeChoices(c *cobra.Command) {
	for _, inner := range c.Commands() {
		completeChoices(inner)
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if name, _ := pflag.UnquoteUsage(f); choice.MatchString(name) {
			completeWords(c, f.Name, strings.Split(name, "|")...)
		}
	})
}

// completeWords completes the value of a flag that takes one of words.
func completeWords(c *cobra.Command, flag string, words ...string) {
	complete := func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return beginWith(words, begun), cobra.ShellCompDirectiveNoFileComp
	}
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag, or it is completed already
	}
}

func beginWith(words []string, begun string) []string {
	var found []string
	for _, word := range words {
		if strings.HasPrefix(word, begun) {
			found = append(found, word)
		}
	}
	return found
}
