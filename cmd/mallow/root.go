package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mallow/internal/launch"
)

// commands lists the constructors of the verbs that are built, in the order
// in which help shows them.
var commands = []func() *cobra.Command{
	newRecordCommand,
	newRunCommand,
	newReportCommand,
	newDiffCommand,
	newCompareCommand,
	newGateCommand,
	newHistoryCommand,
	newImportCommand,
	newLogCommand,
	newTopCommand,
	newGoCommand,
	newDoctorCommand,
	newLibCommand,
	newVersionCommand,
	newCompletionCommand,
}

// verbs are reserved from the first version on, so that a program of such a
// name never changes its meaning: it needs "mallow record -- NAME". One that
// is not built yet says so.
var verbs = []string{
	"record", "run", "lib", "report", "diff", "compare", "gate", "history", "go", "import", "log", "top",
	"check", "torture", "doctor", "version", "completion", "help",
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "mallow",
		Short: "Find, explain, remove and keep out the cost of memory allocation",
		Long: `mallow records every memory allocation of a program, with its whole call
stack, and explains them on one screen.

Without a verb it records: "mallow PROG ARGS" is "mallow record -- PROG ARGS".
mallow's own flags end at the first word that is no flag.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		ValidArgsFunction: filesToo,
	}
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("optional", optional)
	usage := strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsages | optional |")
	root.SetUsageTemplate("{{if .HasParent}}" + usage + "{{else}}" + rootUsage + "{{end}}")
	for _, newCommand := range commands {
		root.AddCommand(newCommand())
	}
	root.SetHelpCommand(newHelpCommand())
	useLinesAsTheyAre(root)
	completeChoices(root)
	refuseEmptyValues(root)
	for _, verb := range verbs {
		if verb != "help" && find(root, verb) == nil {
			root.AddCommand(newUnbuiltCommand(verb))
		}
	}
	return root
}

// useLinesAsTheyAre lets cobra put no "[flags]" behind them: Use shows them where they stand.
func useLinesAsTheyAre(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	for _, inner := range c.Commands() {
		useLinesAsTheyAre(inner)
	}
}

// helpOutput remembers the error that cobra does not ask for.
type helpOutput struct {
	w   io.Writer
	err error
}

func (h *helpOutput) Write(b []byte) (int, error) {
	n, err := h.w.Write(b)
	h.err = cmp.Or(h.err, err)
	return n, err
}

// showHelp lets help be written to w. The error of that is there when the
// command has been executed.
func showHelp(root *cobra.Command, w io.Writer) *helpOutput {
	out, show := &helpOutput{w: w}, root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.SetOut(out)
		show(c, args)
	})
	return out
}

// rootUsage lists the verbs in the order of commands.
const rootUsage = `Usage:
  mallow PROG ARGS
  mallow VERB [FLAGS] ARGS

Verbs:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}

"mallow help VERB" tells more.
`

func newUnbuiltCommand(verb string) *cobra.Command {
	return &cobra.Command{
		Use:                verb,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("mallow %s is not built yet (a program named %s needs mallow record -- %s)", verb, verb, verb)
		},
	}
}

func find(root *cobra.Command, verb string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == verb {
			return c
		}
	}
	return nil
}

// withDefaultVerb puts "record" before arguments that do not begin with a
// verb.
func withDefaultVerb(root *cobra.Command, args []string) ([]string, error) {
	if len(args) == 0 || slices.Contains(verbs, args[0]) || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return args, nil
	}
	switch args[0] {
	case "-h", "--help":
		return args, nil
	case "--version":
		return []string{"version"}, nil
	}
	if word := firstWord(find(root, "record").Flags(), args); slices.Contains(verbs, word) {
		return nil, fmt.Errorf("the verb comes first: mallow %s FLAGS (a program named %s needs mallow record -- %s)",
			word, word, word)
	}
	return append([]string{"record"}, args...), nil
}

// perhapsVerb suggests a verb to those who mistyped it: what is none was taken
// for a program, which is not there.
func perhapsVerb(root *cobra.Command, args []string, err error) error {
	const leastLetters = 4 // shorter words resemble any
	var e exitError
	if len(args) == 0 || !errors.As(err, &e) || e.err == nil || e.code != launch.StatusNotFound || len(args[0]) < leastLetters || slices.Contains(verbs, args[0]) {
		return err
	}
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(args[0]); len(near) > 0 && !strings.Contains(err.Error(), "did you mean") {
		return exitError{e.code, fmt.Errorf("%w; did you mean mallow %s?", e.err, near[0])}
	}
	return err
}

// perhapsRate is for those who wrote --cpu 500, which makes 500 the program: its value may be left out, so = stands before it.
func perhapsRate(args []string, err error) error {
	at := slices.Index(args, "--cpu") + 1
	var e exitError
	if at == 0 || at == len(args) || !errors.As(err, &e) || e.err == nil || e.code != launch.StatusNotFound {
		return err
	}
	if _, noNumber := strconv.Atoi(args[at]); noNumber != nil || !strings.HasPrefix(e.err.Error(), args[at]+": ") {
		return err
	}
	return exitError{e.code, fmt.Errorf("%w; did you mean --cpu=%s?", e.err, args[at])}
}

// firstWord returns the first argument that is neither a flag nor the value
// of one of the flags; "" where there is none or "--" stands before it.
func firstWord(flags *pflag.FlagSet, args []string) string {
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return ""
		}
		if len(arg) < 2 || arg[0] != '-' {
			return arg
		}
		args = args[1:]
		if takesNextArgument(flags, arg) && len(args) > 0 {
			args = args[1:]
		}
	}
	return ""
}

func takesNextArgument(flags *pflag.FlagSet, arg string) bool {
	var flag *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		flag = flags.Lookup(name)
	} else if len(arg) == 2 {
		flag = flags.ShorthandLookup(arg[1:])
	}
	return flag != nil && flag.NoOptDefVal == ""
}
