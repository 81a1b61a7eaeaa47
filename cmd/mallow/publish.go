package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mallow/internal/budget"
	"mallow/internal/forge"
	"mallow/internal/gate"
	"mallow/internal/report/ci"
	"mallow/internal/term"
)

// publishFlags say which forms of a gate's result are written, and where to.
type publishFlags struct {
	summary, annotations, junit, quality, metrics string // files, "-" for standard output
	comment                                       string // forge
	name                                          string // of the comment
	root                                          string // of the source tree
	tokens                                        map[string]string
}

// tokens are the variables that a forge's token may be in.
var tokens = []string{"GITHUB_TOKEN", "GH_TOKEN", "MALLOW_GITLAB_TOKEN", "GITLAB_TOKEN"}

// hideTokens keeps the forge's tokens from the programs that are run before
// the result is published.
func (o *publishFlags) hideTokens() {
	o.tokens = make(map[string]string)
	for _, name := range tokens {
		o.tokens[name] = os.Getenv(name)
		os.Unsetenv(name)
	}
}

func (o *publishFlags) environment(name string) string {
	if token, hidden := o.tokens[name]; hidden {
		return token
	}
	return os.Getenv(name)
}

func (o *publishFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.summary, "summary", "", "write a page in markdown to `FILE` (added to the end of $GITHUB_STEP_SUMMARY)")
	f.StringVar(&o.junit, "junit", "", "write test cases as JUnit's XML to `FILE`")
	f.StringVar(&o.annotations, "annotations", "", "write commands that annotate source lines at GitHub to `FILE`")
	f.StringVar(&o.quality, "code-quality", "", "write GitLab's code quality report to `FILE`")
	f.StringVar(&o.metrics, "metrics", "", "write the figures as OpenMetrics to `FILE`")
	f.StringVar(&o.comment, "comment", "", "keep one comment on the pull or merge request of this run: `github|gitlab`")
	f.StringVar(&o.name, "name", "gate", "`NAME` of the comment, where several gates have one each")
	f.StringVar(&o.root, "root", "", "`FOLDER` of the source tree that lines are in (default: the run's, or this one)")
}

// check tells what is wrong with the flags before anything runs.
func (o *publishFlags) check() error {
	if _, known := forges[o.comment]; !known && o.comment != "" {
		return fmt.Errorf("--comment %s: there are github and gitlab", term.Safe(o.comment))
	}
	if !forge.IsName(o.name) {
		return fmt.Errorf("--name %s: letters, digits, -, _ and . make a name", term.Safe(o.name))
	}
	files := []string{o.junit, o.annotations, o.quality, o.metrics}
	if o.summary != os.Getenv("GITHUB_STEP_SUMMARY") { // which is added to, whatever its folder is
		files = append(files, o.summary)
	}
	for _, file := range files {
		if err := canWrite(file); err != nil {
			return err
		}
	}
	return nil
}

// any tells whether a form was asked for.
func (o *publishFlags) any() bool {
	return o.summary+o.annotations+o.junit+o.quality+o.metrics+o.comment != ""
}

// useStepSummary writes the page of a step of GitHub Actions unless another
// file was asked for.
func (o *publishFlags) useStepSummary() {
	if o.summary == "" && os.Getenv("GITHUB_ACTIONS") == "true" {
		o.summary = os.Getenv("GITHUB_STEP_SUMMARY")
	}
}

// forges find the request that a run is about.
var forges = map[string]func(ctx context.Context, env forge.Environment) (*forge.Request, error){
	"github": forge.GitHub, "gitlab": forge.GitLab,
}

// mostSummary is what GitHub takes of a step.
const mostSummary = 1 << 20

// patience is how long all requests to a forge may take together.
const patience = 2 * time.Minute

// publish writes a result in all forms that were asked for. Where the comment
// is not possible the summary says why, and that is no error.
func (o *publishFlags) publish(stdout, stderr io.Writer, r *gate.Result, strict bool) error {
	if !o.any() {
		return nil
	}
	run, err := thisRun(os.Getenv)
	if err != nil { // then there are no links
		fmt.Fprintf(stderr, "mallow: %s\n", term.Safe(err.Error()))
	}
	options := ci.Options{Root: o.rootOf(run), Source: run.Source, Commit: run.Commit, Run: run.URL, Strict: strict}
	said, err := o.putComment(r, options)
	if err != nil {
		return err
	}
	if said != "" {
		fmt.Fprintf(stderr, "mallow: %s\n", said)
	}
	for _, form := range []struct {
		file  string
		write func(w io.Writer) error
	}{
		{o.junit, func(w io.Writer) error { return ci.JUnit(w, r, options) }},
		{o.annotations, func(w io.Writer) error { return ci.Annotations(w, r, options) }},
		{o.quality, func(w io.Writer) error { return ci.CodeQuality(w, r, options, budgetBelow(options.Root)) }},
		{o.metrics, func(w io.Writer) error { return ci.OpenMetrics(w, r) }},
	} {
		if err := writeForm(stdout, form.file, form.write); err != nil {
			return err
		}
	}
	return o.writeSummary(stdout, r, options, said)
}

// thisRun is what is known of the run of a forge's CI that this is, if it is
// one.
func thisRun(env forge.Environment) (forge.Run, error) {
	switch {
	case env("GITHUB_ACTIONS") == "true":
		return forge.GitHubRun(env)
	case env("GITLAB_CI") == "true":
		return forge.GitLabRun(env), nil
	}
	return forge.Run{}, nil
}

func (o *publishFlags) rootOf(run forge.Run) string {
	for _, root := range []string{o.root, run.Root, "."} {
		if root == "" {
			continue
		}
		if absolute, err := filepath.Abs(root); err == nil {
			return absolute
		}
	}
	return ""
}

// budgetBelow is where the budget of this folder is, from the root of the
// source tree on.
func budgetBelow(root string) string {
	if path, err := filepath.Abs(budget.FileName); err == nil {
		if inside, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(inside) {
			return inside
		}
	}
	return budget.FileName
}

// putComment keeps the comment and says what became of it.
func (o *publishFlags) putComment(r *gate.Result, options ci.Options) (said string, err error) {
	if o.comment == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := forges[o.comment](ctx, o.environment)
	if err == nil {
		var outcome forge.Outcome
		put := request.Put
		if ci.Quiet(r) { // nobody is told that nothing has changed, unless the comment says otherwise
			put = request.Replace
		}
		if outcome, err = put(ctx, o.name, ci.Markdown(r, options, forge.PutRoom(o.name))); err == nil {
			return "comment: " + string(outcome), nil
		}
	}
	if forge.IsOutside(err) {
		return "no comment: " + err.Error(), nil
	}
	return "", err
}

// writeSummary writes the page, with what was said of the comment if there is
// none.
func (o *publishFlags) writeSummary(stdout io.Writer, r *gate.Result, options ci.Options, said string) error {
	if o.summary == "" {
		return nil
	}
	page := ci.Markdown(r, options, mostSummary-1024)
	if strings.HasPrefix(said, "no comment: ") && !strings.HasSuffix(said, forge.ErrNoRequest.Error()) {
		page += "\n" + ci.Sentence(said) + "\n"
	}
	if o.summary != os.Getenv("GITHUB_STEP_SUMMARY") {
		return writeForm(stdout, o.summary, func(w io.Writer) error {
			_, err := io.WriteString(w, page)
			return err
		})
	}
	file, err := os.OpenFile(o.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", term.Safe(o.summary), cause(err))
	}
	_, err = io.WriteString(file, page)
	return errors.Join(err, file.Close())
}

func writeForm(stdout io.Writer, file string, write func(w io.Writer) error) error {
	switch file {
	case "":
		return nil
	case "-":
		return write(stdout)
	}
	return writeFile(file, write)
}

func newGatePublishCommand() *cobra.Command {
	var o publishFlags
	strict := false
	c := &cobra.Command{
		Use:   "publish [FLAGS] [NAME=]GATE.json...",
		Short: "Show what gates found to those who review the change",
		Long: `publish writes what mallow gate --json has found, perhaps in another job, in the
forms that servers show: a page in markdown, annotations of source lines, JUnit,
GitLab's code quality and metrics, and one comment on the pull or merge request,
which is updated by later runs. Several results are put together, each under its
name. It needs no access to the programs, and it alone needs a token:
GITHUB_TOKEN, or MALLOW_GITLAB_TOKEN.

Where the token may not write, as for changes from forks, the summary says so,
and that is no error. The exit code does not depend on the verdict.`,
		Example: `  mallow gate --json >gate.json
  mallow gate publish --summary "$GITHUB_STEP_SUMMARY" --comment github gate.json
  mallow gate publish --junit gate.xml --code-quality quality.json gate.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no result given: mallow gate --json >GATE.json writes one")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if !o.any() {
				return errors.New("no form given to write the result in: --summary, --annotations, --junit, --code-quality, --metrics or --comment")
			}
			r, err := readResults(args)
			if err != nil {
				return err
			}
			return o.publish(c.OutOrStdout(), c.ErrOrStderr(), r, strict)
		},
	}
	o.add(c.Flags())
	c.Flags().BoolVar(&strict, "strict", false, "the gate was strict: improvements fail, too")
	return c
}

// readResults puts results together. Where there are several, the benchmarks of
// each have its name before theirs.
func readResults(args []string) (*gate.Result, error) {
	all := &gate.Result{Schema: gate.Schema}
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if _, err := os.Stat(arg); err == nil || !named {
			name, path = "", arg
			if len(args) > 1 {
				name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
			}
		}
		r, err := readResult(path)
		if err != nil {
			return nil, err
		}
		for _, c := range r.Checks {
			if name != "" {
				c.Benchmark = name + ": " + c.Benchmark
			}
			all.Checks = append(all.Checks, c)
		}
		for _, note := range r.Notes {
			if name != "" {
				note = name + ": " + note
			}
			all.Notes = append(all.Notes, note)
		}
	}
	return all, nil
}

func readResult(path string) (*gate.Result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, clean(err)
	}
	defer file.Close()
	r, err := ci.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", term.Safe(path), err)
	}
	return r, nil
}
