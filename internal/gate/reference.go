package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mallow/internal/budget"
	"mallow/internal/history"
	"mallow/internal/stacks"
	"mallow/internal/stat"
)

// reference is what a benchmark is compared with.
type reference struct {
	kind   Reference
	spans  map[string]span // by metric
	commit string          // it is of; "" where nobody knows
	words  string          // "the budget"
	stacks *stacks.Set     // nil where none are kept
	since  string          // the commit that the stacks are of; "" for the same
}

func (r *reference) of(metric string) (span, bool) {
	if r == nil {
		return span{}, false
	}
	s, known := r.spans[metric]
	return s, known
}

// stacksFolder is where the stacks of a budget lie, beside it.
const stacksFolder = "mallow.stacks"

// stacksName is the file of a benchmark in it.
func stacksName(benchmark string) string {
	var b strings.Builder
	for _, c := range []byte(benchmark) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && b.Len() > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	const longest = 200
	return b.String()[:min(b.Len(), longest)] + ".txt"
}

func stacksPath(file *budget.File, benchmark string) string {
	return filepath.Join(filepath.Dir(file.Path), stacksFolder, stacksName(benchmark))
}

// ofBudget returns what the budget has, with the stacks that lie beside it.
func (g *gate) ofBudget(ctx context.Context, b *budget.Benchmark) *reference {
	r := &reference{kind: Budget, words: "the budget", spans: make(map[string]span)}
	for i := range b.Figures {
		r.spans[b.Figures[i].Metric] = spanOfFigure(&b.Figures[i])
	}
	path := stacksPath(g.file, b.Name)
	text, err := os.ReadFile(path)
	if err == nil {
		const unnamed = "what grew since the budget was taken cannot be named before mallow gate --update writes it anew"
		if r.stacks, err = stacks.ParseText(text); err != nil {
			g.note("%s: %v; %s", path, err, unnamed)
		} else if len(r.stacks.Stacks) == 0 && r.spans[budget.Allocations].least > 0 {
			g.note("%s has no stacks; %s", path, unnamed)
			r.stacks = nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		g.note("%s cannot be read: %v", path, errors.Unwrap(err))
	}
	if g.repository != nil {
		r.commit = g.repository.anchor(ctx, b.Name)
		// The budget's file has other benchmarks, too.
		r.since = g.repository.lastChange(ctx, g.repository.stacksOf(b.Name))
	}
	return r
}

// ofBase returns what the merge base costs, by its point in the history, or
// by building and running it. It is nil where neither can be had.
func (g *gate) ofBase(ctx context.Context, b *budget.Benchmark) (*reference, error) {
	if g.base == "" {
		return nil, nil
	}
	if r := g.ofPoints(b, g.base); r != nil {
		return r, nil
	}
	if b.Build == "" {
		g.note("%s: the history has no point of the merge base %s, and there is no build command to make one: it is left out", b.Name, short(g.base))
		return nil, nil
	}
	m, err := g.measureAt(ctx, b, g.base)
	var f *failure
	if errors.As(err, &f) {
		g.note("%s: the merge base %s is left out: %s", b.Name, short(g.base), f.message)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &reference{kind: MergeBase, commit: g.base, words: "the merge base " + short(g.base), spans: make(map[string]span), stacks: m.stacks}
	for metric := range m.values {
		r.spans[metric] = m.span(metric)
	}
	return r, nil
}

// measureAt runs a benchmark as another commit has it.
func (g *gate) measureAt(ctx context.Context, b *budget.Benchmark, commit string) (*measured, error) {
	r, err := g.tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	if err := r.build(ctx, b); err != nil {
		return nil, err
	}
	m := newMeasured()
	if err := r.runs(ctx, b, m, g.runs(b)); err != nil {
		return nil, err
	}
	g.keep(ctx, b, m, commit)
	return m, nil
}

// tree returns a runner for another commit, in a working tree of its own.
func (g *gate) tree(ctx context.Context, commit string) (*runner, error) {
	if r := g.trees[commit]; r != nil {
		return r, nil
	}
	// Of the same length as the other one's, if need be: paths stand in
	// environments and in what programs allocate.
	folder := filepath.Join(g.scrap, short(commit))
	folder += strings.Repeat("-", max(0, len(g.repository.root)-len(folder)))
	inside, remove, err := g.repository.worktree(ctx, folder, commit)
	if err != nil {
		return nil, failed("it cannot be checked out: %v", err)
	}
	g.cleanup = append(g.cleanup, remove)
	r := *g.runner
	r.folder, r.root, r.built, r.where = inside, folder, make(map[string]error), " at "+short(commit)
	r.other = newOwnPaths(g.repository.root, g.runner.folder, g.repository.inside)
	if _, err := os.Stat(filepath.Join(folder, ".gitmodules")); err == nil {
		r.lacks = ", where no submodule is checked out"
	}
	g.trees[commit] = &r
	return &r, nil
}

func short(commit string) string { return commit[:min(len(commit), 10)] }

func (g *gate) key(b *budget.Benchmark) history.Key {
	return history.Key{Benchmark: b.Name, Platform: platform(), Build: b.Build}
}

// platform is that of what the gate runs.
var platform = sync.OnceValue(func() string { return history.Platform("libmallow") })

// ofPoints returns what the history has of a commit, nil for nothing.
func (g *gate) ofPoints(b *budget.Benchmark, commit string) *reference {
	if g.store == nil {
		return nil
	}
	points, err := g.store.At(g.key(b), commit)
	if err != nil {
		g.noteHistory(err)
		return nil
	}
	r := &reference{kind: MergeBase, commit: commit, words: "the merge base " + short(commit), spans: make(map[string]span)}
	values := make(map[string][]float64)
	for i := range points {
		if points[i].Dirty {
			continue
		}
		for metric, v := range points[i].Metrics {
			values[metric] = append(values[metric], v.Value)
		}
		if set := g.unpacked(points[i].Profile); set != nil {
			r.stacks = set
		}
	}
	for metric, seen := range values {
		r.spans[metric] = spanOf(seen)
	}
	if len(values) == 0 {
		return nil
	}
	return r
}

func (g *gate) unpacked(profile []byte) *stacks.Set {
	if len(profile) == 0 {
		return nil
	}
	set, err := stacks.ParsePprof(profile)
	if err != nil {
		return nil
	}
	return set
}

// lastPoints is how far back the history is looked at.
const lastPoints = 50

// ofHistory returns what the last points before HEAD have in common: those
// since the last change.
func (g *gate) ofHistory(ctx context.Context, b *budget.Benchmark) *reference {
	if g.store == nil || g.repository == nil {
		return nil
	}
	r := &reference{kind: History, spans: make(map[string]span)}
	var last *history.Point
	for _, metric := range b.Metrics {
		points, err := g.store.Series(g.key(b), metric)
		if err != nil {
			g.noteHistory(err)
			return nil
		}
		points = g.before(ctx, points)
		if len(points) == 0 {
			continue
		}
		r.spans[metric] = lastLevel(metric, points)
		last = &points[len(points)-1]
	}
	if last == nil {
		return nil
	}
	r.commit = last.Commit
	r.words = "the history up to " + short(last.Commit)
	if last.ProfileID != "" {
		if profile, err := g.store.Profile(last.ProfileID); err == nil {
			r.stacks = g.unpacked(profile)
		}
	}
	return r
}

// before keeps the last points of commits that HEAD stands on.
func (g *gate) before(ctx context.Context, points []history.Point) (kept []history.Point) {
	for i := len(points) - 1; i >= 0 && len(kept) < lastPoints; i-- {
		p := &points[i]
		if p.Dirty || p.Commit == "" || p.Commit == g.repository.head {
			continue
		}
		behind, known := g.ancestors[p.Commit]
		if !known {
			_, err := g.repository.git(ctx, "merge-base", "--is-ancestor", p.Commit, "HEAD")
			behind = err == nil
			g.ancestors[p.Commit] = behind
		}
		if behind {
			kept = append(kept, *p)
		}
	}
	slices.Reverse(kept)
	return kept
}

// lastLevel is what a metric was last: an exact one in the newest point, others
// since the last change point.
func lastLevel(metric string, points []history.Point) span {
	values := make([]float64, len(points))
	for i := range points {
		values[i] = points[i].Metrics[metric].Value
	}
	if newest := points[len(points)-1].Metrics[metric]; newest.Class == string(Exact) {
		return spanOf(values[len(values)-1:])
	}
	if changes := stat.Changes(values, stat.ChangeOptions{}); len(changes) > 0 {
		values = values[changes[len(changes)-1].Index:]
	}
	return spanOf(values)
}

// keep adds what was measured at a commit to the history.
func (g *gate) keep(ctx context.Context, b *budget.Benchmark, m *measured, commit string) {
	store := g.options.Store // also one that cannot be read: it keeps the point
	if store == nil {
		return
	}
	point := history.Point{Key: g.key(b), Commit: commit, Time: time.Now().UTC(), Metrics: make(map[string]history.Value)}
	if g.repository != nil {
		if commit == g.repository.head {
			point.CommitTime, point.Dirty = g.repository.at, g.repository.dirty
		} else {
			point.CommitTime = g.repository.timeOf(ctx, commit)
		}
	}
	for metric := range m.values {
		s := m.span(metric)
		unit := unitOf(metric, b)
		if budget.IsTime(metric) {
			unit = "seconds"
		}
		point.Metrics[metric] = history.Value{Value: s.middle, Unit: unit, Class: string(classOf(metric, s, m.error[metric]))}
	}
	if m.stacks != nil {
		if packed, err := m.stacks.Pprof(); err == nil {
			point.Profile = packed
		}
	}
	if err := store.Add(point); err != nil {
		g.noteHistory(err)
	}
}

// noteHistory says once that the history cannot be used, and goes on without.
func (g *gate) noteHistory(err error) {
	g.note("the history is left out: %v", err)
	g.store = nil
}
