package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/budget"
	"mallow/internal/history"
	"mallow/internal/stacks"
	"mallow/internal/stat"
)

// Options of a gate.
type Options struct {
	Tools
	File  *budget.File
	Names []string // benchmarks; none for all
	Runs  int      // of each benchmark; 0 for what the budget says
	// Base is the branch or commit to compare with, "" for what the budget says
	// or git knows; NoBase leaves the merge base out.
	Base   string
	NoBase bool
	Store  history.Store // the history; nil for none
	// Update takes what was measured into File, which is not written, and into
	// Outcome.Stacks.
	Update bool
}

// Outcome is a Result with what the command makes of it.
type Outcome struct {
	Result
	// Updated are the benchmarks and metrics whose budget is another one now.
	Updated []string
	// Stacks are the files to write beside the budget, by path.
	Stacks map[string][]byte
	// Unbudgeted are benchmarks and metrics without a budget.
	Unbudgeted []string
}

// gate is one run of it.
type gate struct {
	options    Options
	file       *budget.File
	runner     *runner
	repository *repository // nil where there is none
	base       string      // commit, "" for none
	store      history.Store
	scrap      string
	trees      map[string]*runner
	ancestors  map[string]bool
	cleanup    []func()
	outcome    Outcome
}

// Run runs the benchmarks and judges them. An error means that there is no
// result; a benchmark that fails is a check. It may run programs for as long as
// the budget's time limits allow, and ends them when ctx ends.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	benchmarks, err := chosen(o.File, o.Names)
	if err != nil {
		return nil, err
	}
	if o.Update {
		for _, b := range benchmarks {
			if err := o.File.Updatable(b.Name); err != nil {
				return nil, err
			}
		}
	}
	folder, err := filepath.Abs(filepath.Dir(o.File.Path))
	if err != nil {
		return nil, err
	}
	scrap, err := makeScrap()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scrap)
	g := &gate{
		options: o, file: o.File, store: o.Store, scrap: scrap,
		runner: &runner{Tools: o.Tools, folder: folder, root: folder, scrap: scrap, built: make(map[string]error)},
		trees:  make(map[string]*runner), ancestors: make(map[string]bool),
		outcome: Outcome{Result: Result{Schema: Schema, Checks: []Check{}, Notes: []string{}}, Stacks: make(map[string][]byte)},
	}
	defer func() {
		for _, remove := range g.cleanup {
			remove()
		}
	}()
	g.open(ctx, folder)
	for _, b := range benchmarks {
		err := g.benchmark(ctx, b)
		var f *failure
		switch {
		case errors.As(err, &f):
			g.outcome.Checks = append(g.outcome.Checks, Check{Benchmark: b.Name, Verdict: Failed, Message: f.message, Sites: []Site{}})
		case err != nil:
			return nil, err
		}
	}
	return &g.outcome, nil
}

// makeScrap makes a folder for recordings. Its name stands in the environment
// of what is recorded, and some programs allocate by the size of that: so it
// has the same length each time.
func makeScrap() (string, error) {
	for {
		folder := filepath.Join("/tmp", fmt.Sprintf("mallow-gate-%08x", rand.Uint32()))
		err := os.Mkdir(folder, 0o700)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return folder, err
		}
	}
}

// chosen finds benchmarks by name.
func chosen(file *budget.File, names []string) ([]*budget.Benchmark, error) {
	if len(file.Benchmarks) == 0 {
		return nil, fmt.Errorf("%s has no benchmark: write [benchmark.NAME] and below it command = \"...\"", file.Path)
	}
	if len(names) == 0 {
		return file.Benchmarks, nil
	}
	var all []*budget.Benchmark
	for _, name := range names {
		b := file.Benchmark(name)
		if b == nil {
			var known []string
			for _, other := range file.Benchmarks {
				known = append(known, other.Name)
			}
			return nil, fmt.Errorf("%s has no benchmark %q: there are %s", file.Path, name, strings.Join(known, ", "))
		}
		if !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all, nil
}

// open finds out what there is to compare with.
func (g *gate) open(ctx context.Context, folder string) {
	var err error
	if g.repository, err = openRepository(ctx, folder, filepath.Base(g.file.Path)); err != nil {
		if !g.options.NoBase {
			g.note("%v: the budget alone decides", err)
		}
		return
	}
	g.runner.root = g.repository.root
	if g.options.NoBase {
		return
	}
	branch := g.options.Base
	if branch == "" {
		branch = g.file.Base
	}
	var why string
	if g.base, why = g.repository.base(ctx, branch); why != "" {
		g.note("%s", why)
	}
}

// note adds a sentence once.
func (g *gate) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(g.outcome.Notes, text) {
		g.outcome.Notes = append(g.outcome.Notes, text)
	}
}

func (g *gate) runs(b *budget.Benchmark) int {
	if g.options.Runs > 0 {
		return g.options.Runs
	}
	return b.Runs
}

// benchmark runs one and judges its metrics.
func (g *gate) benchmark(ctx context.Context, b *budget.Benchmark) error {
	if err := g.runner.build(ctx, b); err != nil {
		return err
	}
	m := newMeasured()
	if err := g.runner.runs(ctx, b, m, g.runs(b)); err != nil {
		return err
	}
	timed := slices.ContainsFunc(b.Metrics, budget.IsTime)
	if timed {
		if err := g.runner.times(ctx, b, m, g.runs(b)); err != nil {
			return err
		}
	}
	references, err := g.references(ctx, b)
	if err != nil {
		return err
	}
	// What looks different must persist, and what varies is better known after
	// more runs.
	if g.suspicious(b, m, references) {
		if err := g.runner.runs(ctx, b, m, g.runs(b)); err != nil {
			return err
		}
	}
	for _, note := range m.notes {
		g.note("%s", note)
	}
	if spans := m.span(budget.Allocations); spans.most == 0 && len(b.Processes) == 0 {
		g.note("%s allocates nothing on its own account: is its command the right one?", b.Name)
	}
	for _, metric := range b.Metrics {
		c, err := g.check(ctx, b, metric, m, references)
		if err != nil {
			return err
		}
		g.outcome.Checks = append(g.outcome.Checks, c)
	}
	g.keep(ctx, b, m, g.head())
	if g.options.Update {
		return g.update(ctx, b, m)
	}
	return nil
}

func (g *gate) head() string {
	if g.repository == nil {
		return ""
	}
	return g.repository.head
}

// references are those that there are, in the order in which they are asked.
func (g *gate) references(ctx context.Context, b *budget.Benchmark) ([]*reference, error) {
	all := []*reference{g.ofBudget(ctx, b)}
	base, err := g.ofBase(ctx, b)
	if err != nil {
		return nil, err
	}
	if base != nil {
		all = append(all, base)
	}
	if past := g.ofHistory(ctx, b); past != nil {
		all = append(all, past)
	}
	return all, nil
}

func (g *gate) suspicious(b *budget.Benchmark, m *measured, references []*reference) bool {
	for _, metric := range b.Metrics {
		if budget.IsTime(metric) {
			continue
		}
		now := m.span(metric)
		if g.options.Update && !now.exact() {
			return true // what is written shall hold
		}
		if r, _, better := g.fired(b, metric, m, references); r != nil && better != 0 {
			return true
		}
	}
	return false
}

// fired finds the reference that decides about a metric, with how the metric
// is to it: 1 worse, -1 better, 0 the same. Where the budget allows just what
// there is nobody else is asked: whoever raised it meant it. Nil where no
// reference knows the metric.
func (g *gate) fired(b *budget.Benchmark, metric string, m *measured, references []*reference) (by *reference, was span, better int) {
	now := m.span(metric)
	for _, r := range references {
		s, known := r.of(metric)
		if !known {
			continue
		}
		c := compare(metric, s, now, m.error[metric])
		switch {
		case by == nil:
			by, was, better = r, s, c
		case c > 0 && better <= 0:
			return r, s, c
		}
		if by == r && r.kind == Budget && c >= 0 {
			return by, was, better
		}
	}
	return by, was, better
}

// check judges a metric.
func (g *gate) check(ctx context.Context, b *budget.Benchmark, metric string, m *measured, references []*reference) (Check, error) {
	now := m.span(metric)
	c := Check{
		Benchmark: b.Name, Metric: metric, Class: classOf(metric, now, m.error[metric]), Now: &now.middle, Unit: unitOf(metric, b),
		Verdict: OK, Sites: []Site{},
	}
	if b.Figure(metric) == nil {
		g.outcome.Unbudgeted = append(g.outcome.Unbudgeted, b.Name+" "+metric)
	}
	r, was, better := g.fired(b, metric, m, references)
	if r == nil {
		c.Message = fmt.Sprintf("%s %s; it has no budget yet: mallow gate --update writes it", now.words(metric), nouns[metric])
		g.target(b, &c, now)
		return c, nil
	}
	c.Was, c.Reference = &was.middle, r.kind
	c.Message = sentence(metric, b, was, now, r.words, better)
	switch {
	case better > 0 && budget.IsTime(metric):
		if err := g.confirm(ctx, b, metric, r, &c); err != nil {
			return c, err
		}
	case better > 0:
		c.Verdict = Regression
		if err := g.name(ctx, b, metric, m, r, references, &c); err != nil {
			return c, err
		}
	case better < 0 && r.kind == Budget && !budget.IsTime(metric):
		c.Verdict = Improvement
		c.Message += "; mallow gate --update takes it in"
	}
	g.target(b, &c, now)
	return c, nil
}

// target says that a metric has come down to where it need not go further.
func (g *gate) target(b *budget.Benchmark, c *Check, now span) {
	t := b.Target(c.Metric)
	if t == nil {
		return
	}
	if now.most <= t.Value {
		c.Message += fmt.Sprintf("; its target of %s is reached", amount(c.Metric, t.Value))
		if c.Verdict == OK {
			c.Verdict = TargetReached
		}
		return
	}
	c.Message += fmt.Sprintf("; its target is %s", amount(c.Metric, t.Value))
}

// name finds what made a metric grow: by the stacks of the reference that
// fired, or of another one.
func (g *gate) name(ctx context.Context, b *budget.Benchmark, metric string, m *measured, fired *reference, all []*reference, c *Check) error {
	for _, r := range append([]*reference{fired}, all...) {
		if r.stacks == nil {
			continue
		}
		sites, gone, err := g.guilty(ctx, b, metric, r, m)
		if err != nil {
			return err
		}
		if c.Sites = sites; len(sites) > 0 {
			if gone != "" {
				c.Message += "; " + gone
			}
			return nil
		}
	}
	switch {
	case !slices.ContainsFunc(all, func(r *reference) bool { return r.stacks != nil }):
		c.Message += "; no stacks of a reference are kept, so that what grew cannot be named"
	case fired.kind == Budget && fired.stacks != nil: // a figure was edited, or merged
		c.Message += fmt.Sprintf("; no site has more than in %s: is that of this figure? mallow gate --update writes both", stacksPath(g.file, b.Name))
	default:
		c.Message += "; no site has more than in the stacks of the reference"
	}
	return nil
}

// mostRounds is the limit of an interleaved comparison.
const mostRounds = 30

// confirm runs a benchmark that looks slower beside its reference, in turns:
// only what is slower there is. For the budget the reference is the commit that
// it was taken at, which was faster on whatever machine that was.
func (g *gate) confirm(ctx context.Context, b *budget.Benchmark, metric string, r *reference, c *Check) error {
	doubt := func(format string, args ...any) error {
		c.Message += "; " + fmt.Sprintf(format, args...)
		return nil
	}
	commit := r.commit
	if r.kind == Budget && g.base != "" && (commit == g.head() || commit == "") {
		commit = g.base
	}
	switch {
	case g.repository == nil || commit == "":
		return doubt("it is not held against it: there is no commit to run it beside")
	case b.Build == "":
		return doubt("it is not held against it: without a build command %s cannot be run beside it", short(commit))
	case commit == g.head() && !g.repository.dirty:
		return doubt("it is not held against it: the budget is of this very commit, so that the machine is another one, or busy")
	}
	tree, err := g.tree(ctx, commit)
	if err == nil {
		err = tree.build(ctx, b)
	}
	var old, new *measured
	if err == nil {
		old, new, err = g.interleave(ctx, b, metric, tree)
	}
	var f *failure
	if errors.As(err, &f) {
		return doubt("it is not held against it: %s cannot be run beside it: %s", short(commit), f.message)
	}
	if err != nil {
		return err
	}
	rounds := len(old.values[metric])
	ratio := stat.Paired(old.values[metric], new.values[metric], stat.FalseAlarms)
	if ratio.Verdict() != stat.Slower {
		return doubt("beside %s in %d rounds it was not shown to be slower", short(commit), rounds)
	}
	c.Verdict = Regression
	return doubt("beside %s in %d rounds it is %.3g times as slow (%.3g to %.3g)", short(commit), rounds, ratio.Value, ratio.Low, ratio.High)
}

// interleave runs a benchmark here and in another tree in turns, until a
// difference shows or the rounds are over.
func (g *gate) interleave(ctx context.Context, b *budget.Benchmark, metric string, other *runner) (old, new *measured, err error) {
	old, new = newMeasured(), newMeasured()
	plan := stat.NewPlan(mostRounds, 1)
	order := rand.New(rand.NewPCG(1, uint64(len(b.Name))))
	sides := []struct {
		r *runner
		m *measured
	}{{other, old}, {g.runner, new}}
	for round := 1; round <= mostRounds; round++ {
		g.options.Progress(fmt.Sprintf("%s: round %d%s and here", b.Name, round, other.where))
		first := order.IntN(2)
		for _, side := range []int{first, 1 - first} {
			if err := sides[side].r.time(ctx, b, sides[side].m); err != nil {
				return nil, nil, err
			}
		}
		if plan.IsLook(round) && stat.Paired(old.values[metric], new.values[metric], plan.RateAt(round)).Shown() {
			break
		}
	}
	return old, new, nil
}

// update takes what was measured into the budget. What the budget allows
// already stays as it is, so that a diff shows only what changed.
func (g *gate) update(ctx context.Context, b *budget.Benchmark, m *measured) error {
	var figures []budget.Figure
	counted := false
	for _, metric := range b.Metrics {
		now := m.span(metric)
		old := b.Figure(metric)
		if old != nil && compare(metric, spanOfFigure(old), now, m.error[metric]) == 0 {
			continue
		}
		figures = append(figures, written(metric, now))
		counted = counted || !budget.IsTime(metric)
	}
	changed, err := g.file.Update(b.Name, figures)
	if err != nil {
		return err
	}
	for _, metric := range changed {
		g.outcome.Updated = append(g.outcome.Updated, b.Name+" "+metric)
	}
	return g.updateStacks(b, m, counted)
}

// written is the figure of a span; times have three digits.
func written(metric string, s span) budget.Figure {
	f := budget.Figure{Metric: metric, Least: s.least, Most: s.most}
	if budget.IsTime(metric) {
		f.Least, f.Most = digits(s.least), digits(s.most)
	}
	return f
}

// Of the stacks that lie beside a budget each site has so many callers, and
// none where it has less than a share of everything.
const (
	keptCallers = 5
	keptShare   = 0.002
)

// updateStacks writes the stacks anew where the figures are other ones, and
// where they are exact but stand elsewhere.
func (g *gate) updateStacks(b *budget.Benchmark, m *measured, counted bool) error {
	set := m.stacks.Cut(keptCallers, keptShare)
	path := stacksPath(g.file, b.Name)
	old, err := os.ReadFile(path)
	if err == nil && !counted {
		kept, err := stacks.ParseText(old)
		s := m.span(budget.Allocations)
		if err == nil && (!s.exact() || stacks.SameButLines(kept, set)) {
			return nil
		}
	}
	if text := set.Text(b.Name); !bytes.Equal(text, old) {
		g.outcome.Stacks[path] = text
	}
	return nil
}
