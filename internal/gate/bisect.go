package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mallow/internal/budget"
	"mallow/internal/git"
	"mallow/internal/history"
	"mallow/internal/term"
)

// BisectOptions say what to look for.
type BisectOptions struct {
	Tools
	Folder    string // of the budget, or where the command runs
	Benchmark *budget.Benchmark
	Metric    string // of budget.Metrics
	Old, New  string // commits between which it changed; Old is an ancestor of New
	Store     history.Store
	// Tested hears of each commit that was measured, or why it could not be.
	Tested func(commit, outcome string)
}

// Bisected is the commit at which a metric changed.
type Bisected struct {
	// Commit is the first of the new level. Where builds failed it may also be
	// one of Others.
	Commit   string
	Others   []string
	Old, New float64 // of the commits to begin with
	Measured int     // commits
	Notes    []string
	// Before and At are the points around the change, as far as both are known.
	Before, At *history.Point
}

// Bisect finds the commit between two at which a metric went from the value of
// the one to that of the other, in as few runs as it takes: in a working tree
// of its own, which git bisect leads from commit to commit, so that a build
// makes only what changed. Commits that the history has are not run again, and
// what is measured is kept in it.
func Bisect(ctx context.Context, o BisectOptions) (*Bisected, error) {
	scrap, err := makeScrap()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scrap)
	folder, err := filepath.Abs(o.Folder)
	if err != nil {
		return nil, err
	}
	repository, err := openRepository(ctx, folder, budget.FileName)
	if err != nil {
		return nil, err
	}
	g := &gate{options: Options{Store: o.Store}, store: o.Store, scrap: scrap, repository: repository}
	b := &bisection{gate: g, options: o, values: make(map[string]float64), runs: make(map[string]*measured), found: &Bisected{}}
	if err := b.between(ctx); err != nil {
		return nil, err
	}
	tree := filepath.Join(scrap, "tree")
	if _, err := git.Run(ctx, g.repository.root, "worktree", "add", "--detach", "--force", tree, b.new); err != nil {
		return nil, fmt.Errorf("%s cannot be checked out: %w", short(b.new), err)
	}
	defer func() {
		ctx := context.WithoutCancel(ctx)
		if _, err := git.Run(ctx, g.repository.root, "worktree", "remove", "--force", "--force", tree); err != nil {
			os.RemoveAll(tree)
			git.Run(ctx, g.repository.root, "worktree", "prune")
		}
	}()
	b.runner = &runner{Tools: o.Tools, folder: filepath.Join(tree, g.repository.inside), root: tree, scrap: scrap, where: "",
		other: newOwnPaths(g.repository.root, folder, g.repository.inside)}
	if err := b.search(ctx, tree); err != nil {
		return nil, err
	}
	b.found.Notes = g.outcome.Notes
	b.around(ctx)
	return b.found, nil
}

// bisection is a search under way.
type bisection struct {
	gate     *gate
	options  BisectOptions
	runner   *runner
	old, new string // full hashes
	values   map[string]float64
	runs     map[string]*measured // of commits that were measured now
	found    *Bisected
}

// between makes sure that there is a way from the old commit to the new one.
func (b *bisection) between(ctx context.Context) error {
	for name, hash := range map[string]*string{b.options.Old: &b.old, b.options.New: &b.new} {
		full, err := git.Run(ctx, b.gate.repository.root, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
		if err != nil {
			return fmt.Errorf("%s is no commit of this repository (is the clone shallow? git fetch --unshallow gets the rest)", name)
		}
		*hash = full
	}
	if b.old == b.new {
		return fmt.Errorf("both are %s: there is nothing between them", short(b.old))
	}
	if _, err := git.Run(ctx, b.gate.repository.root, "merge-base", "--is-ancestor", b.old, b.new); err != nil {
		return fmt.Errorf("%s does not stand on %s: the good commit must be an ancestor of the bad one", short(b.new), short(b.old))
	}
	return nil
}

var (
	firstNew = regexp.MustCompile(`(?m)^([0-9a-f]{40,64}) is the first '?new'? commit`) // git 2.55 has quotes, 2.47 has none
	onlySkip = regexp.MustCompile(`(?m)^There are only 'skip'ped commits left to test`)
	hashLine = regexp.MustCompile(`(?m)^[0-9a-f]{40,64}$`)
)

// search lets git choose the commits.
func (b *bisection) search(ctx context.Context, tree string) error {
	var err error
	if b.found.New, err = b.value(ctx, tree, b.new); err != nil {
		return fmt.Errorf("at %s: %w", short(b.new), err)
	}
	if b.found.Old, err = b.value(ctx, tree, b.old); err != nil {
		return fmt.Errorf("at %s: %w", short(b.old), err)
	}
	if b.found.Old == b.found.New {
		return fmt.Errorf("%s: %s at %s and at %s: there is no step between them",
			b.options.Metric, amount(b.options.Metric, b.found.Old), short(b.old), short(b.new))
	}
	if b.isChance() {
		return fmt.Errorf("%s: %s at %s and %s at %s, no more than runs of one commit differ: there is no step to be found between them",
			b.options.Metric, amount(b.options.Metric, b.found.Old), short(b.old), amount(b.options.Metric, b.found.New), short(b.new))
	}
	middle := b.found.Old/2 + b.found.New/2
	told := make(map[string]bool)
	said, err := git.Run(ctx, tree, "bisect", "start", "--term-old=old", "--term-new=new", b.new, b.old)
	for err == nil {
		if m := firstNew.FindStringSubmatch(said); m != nil {
			b.found.Commit = m[1]
			return nil
		}
		if onlySkip.MatchString(said) {
			return b.undecided(said)
		}
		commit, fault := git.Run(ctx, tree, "rev-parse", "--verify", "HEAD")
		if fault != nil {
			return fault
		}
		if told[commit] {
			return fmt.Errorf("git bisect asks again for %s, and says: %s", short(commit), term.Safe(strings.TrimSpace(said)))
		}
		told[commit] = true
		word := "old"
		v, fault := b.value(ctx, tree, commit)
		var f *failure
		switch {
		case errors.As(fault, &f):
			word = "skip"
		case fault != nil:
			return fault
		case (v > middle) == (b.found.New > middle):
			word = "new"
		}
		said, err = git.Run(ctx, tree, "bisect", word)
		if word == "skip" && onlySkip.MatchString(said) {
			return b.undecided(said) // with an exit code of its own
		}
	}
	return err
}

// isChance tells whether the two commits differ no more than their runs do.
// What the history has of a commit is taken for what it is.
func (b *bisection) isChance() bool {
	old, new := b.runs[b.old], b.runs[b.new]
	if old == nil || new == nil {
		return false
	}
	metric := b.options.Metric
	return compare(metric, old.span(metric), new.span(metric), max(old.error[metric], new.error[metric])) == 0
}

// undecided takes the commits that git cannot tell apart.
func (b *bisection) undecided(said string) error {
	b.found.Others = hashLine.FindAllString(said, -1)
	if len(b.found.Others) == 0 {
		return errors.New("no commit between the two could be measured")
	}
	last := len(b.found.Others) - 1
	b.found.Commit, b.found.Others = b.found.Others[last], b.found.Others[:last]
	return nil
}

// value is that of the metric at a commit, from the history or by running the
// benchmark in the tree.
func (b *bisection) value(ctx context.Context, tree, commit string) (float64, error) {
	if v, known := b.values[commit]; known {
		return v, nil
	}
	// Times of another day are those of another machine, or of a busy one.
	if p := b.point(commit); p != nil && !budget.IsTime(b.options.Metric) {
		v := p.Metrics[b.options.Metric].Value
		b.tell(commit, fmt.Sprintf("%s (of the history)", amount(b.options.Metric, v)))
		b.values[commit] = v
		return v, nil
	}
	if _, err := git.Run(ctx, tree, "checkout", "--quiet", "--detach", "--force", commit); err != nil {
		return 0, err
	}
	m, err := b.measure(ctx, commit)
	// What a build writes over must not keep git from the next commit.
	defer git.Run(context.WithoutCancel(ctx), tree, "reset", "--quiet", "--hard")
	var f *failure
	if errors.As(err, &f) && b.options.Benchmark.Build != "" {
		// What another commit left may be in the way.
		if _, err := git.Run(ctx, tree, "clean", "-ffdxq"); err != nil {
			return 0, err
		}
		m, err = b.measure(ctx, commit)
	}
	if err != nil {
		b.tell(commit, "left out: "+err.Error())
		return 0, err
	}
	b.found.Measured++
	v := m.span(b.options.Metric).middle
	b.tell(commit, amount(b.options.Metric, v))
	b.values[commit], b.runs[commit] = v, m
	b.gate.keep(ctx, b.options.Benchmark, m, commit)
	return v, nil
}

// leastTimed is how often a commit is timed at least: one run does not show by
// how much others differ.
const leastTimed = 3

func (b *bisection) measure(ctx context.Context, commit string) (*measured, error) {
	r, benchmark := b.runner, b.options.Benchmark
	r.built, r.where = make(map[string]error), " at "+short(commit)
	if err := r.build(ctx, benchmark); err != nil {
		return nil, err
	}
	m := newMeasured()
	if err := r.runs(ctx, benchmark, m, benchmark.Runs); err != nil {
		return nil, err
	}
	if budget.IsTime(b.options.Metric) {
		if err := r.times(ctx, benchmark, m, max(benchmark.Runs, leastTimed)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (b *bisection) tell(commit, outcome string) {
	if b.options.Tested != nil {
		b.options.Tested(commit, outcome)
	}
}

// point is one of the history that has the metric, nil for none.
func (b *bisection) point(commit string) *history.Point {
	if b.gate.store == nil {
		return nil
	}
	points, err := b.gate.store.At(b.gate.key(b.options.Benchmark), commit)
	if err != nil {
		b.gate.noteHistory(err)
		return nil
	}
	for _, p := range slices.Backward(points) {
		if _, has := p.Metrics[b.options.Metric]; has && !p.Dirty {
			return &p
		}
	}
	return nil
}

// around finds the points of the commit and of the one before it.
func (b *bisection) around(ctx context.Context) {
	if len(b.found.Others) > 0 {
		return
	}
	parent, err := git.Run(ctx, b.gate.repository.root, "rev-parse", "--verify", "--quiet", b.found.Commit+"^")
	if err != nil {
		return
	}
	b.found.Before, b.found.At = b.point(parent), b.point(b.found.Commit)
}
