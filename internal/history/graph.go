package history

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"mallow/internal/git"
)

// Graph orders the commits of points. Clocks do not count: a commit comes
// after those that it stands on, whatever time it claims.
type Graph struct {
	rank map[string]int  // of what the repository has, ancestors first
	here map[string]bool // what the commit that is checked out stands on, and itself
}

// ReadGraph asks git for the order of the commits of points. Of a folder that
// is in no repository ("" too) the graph knows nothing. It costs one or two
// runs of git.
func ReadGraph(repository string, points []Point) *Graph {
	g := &Graph{rank: make(map[string]int), here: make(map[string]bool)}
	wanted, oldest := commitsOf(points)
	if repository == "" || len(wanted) == 0 {
		return g
	}
	head, err := firstLine(repository, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return g
	}
	tips := append(slices.Clone(wanted), head)
	lines, err := walk(repository, tips, oldest)
	if err != nil || !covers(lines, wanted) {
		// A clock went backwards, or the oldest is not there: walk the whole.
		if lines, err = walk(repository, tips, ""); err != nil {
			return g
		}
	}
	for i, commits := range lines {
		g.rank[commits[0]] = i
	}
	g.here[head] = true
	for _, commits := range slices.Backward(lines) {
		if g.here[commits[0]] {
			for _, parent := range commits[1:] {
				g.here[parent] = true
			}
		}
	}
	return g
}

// commitsOf returns the commits of points, each once, and the one that claims
// to be the oldest, "" where one tells no time.
func commitsOf(points []Point) (commits []string, oldest string) {
	seen := make(map[string]bool)
	var first *Point
	timed := true
	for i := range points {
		p := &points[i]
		if !isHash(p.Commit) || seen[p.Commit] {
			continue
		}
		seen[p.Commit] = true
		commits = append(commits, p.Commit)
		timed = timed && !p.CommitTime.IsZero()
		if first == nil || p.CommitTime.Before(first.CommitTime) {
			first = p
		}
	}
	if first == nil || !timed {
		return commits, ""
	}
	return commits, first.Commit
}

// isHash keeps what is no commit from being read as an option of git's.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// walk returns the commits that tips stand on, each with its parents after it,
// ancestors first; with a first commit not those that this one stands on.
func walk(repository string, tips []string, first string) ([][]string, error) {
	c := git.Command(context.Background(), repository, "rev-list", "--topo-order", "--reverse", "--parents", "--ignore-missing", "--stdin")
	input := strings.Join(tips, "\n") + "\n"
	if first != "" {
		input += "--not\n" + first + "^@\n"
	}
	c.Stdin = strings.NewReader(input)
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for line := range bytes.Lines(out) {
		lines = append(lines, strings.Fields(string(line)))
	}
	return lines, nil
}

// covers tells whether all of the wanted commits were met, or are missing from
// the repository for all we know: then the walk without a bound tells.
func covers(lines [][]string, wanted []string) bool {
	met := make(map[string]bool, len(lines))
	for _, commits := range lines {
		met[commits[0]] = true
	}
	return !slices.ContainsFunc(wanted, func(c string) bool { return !met[c] })
}

// Elsewhere tells whether a commit is one of another branch: the repository
// has it, and the commit that is checked out does not stand on it.
func (g *Graph) Elsewhere(commit string) bool {
	_, known := g.rank[commit]
	return known && !g.here[commit]
}

// Sort orders points by the graph, and those of a commit as they were, the
// ones of changed trees last. Points of commits that the graph does not know
// stay with the one before them.
func (g *Graph) Sort(points []Point) {
	type placed struct {
		rank    int
		changed int // 1 where it, or the known one before it, is of a changed tree
		run     int // where points of an unknown commit begin
		own     int // 1 of a changed tree
		point   Point
	}
	all := make([]placed, len(points))
	at := placed{rank: -1}
	for i, p := range points {
		own := 0
		if p.Dirty {
			own = 1
		}
		rank, known := g.rank[p.Commit]
		if known {
			at.rank, at.changed = rank, own
		}
		if known || i == 0 || p.Commit != points[i-1].Commit {
			at.run = i
		}
		all[i] = placed{at.rank, at.changed, at.run, own, p}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.changed, b.changed), cmp.Compare(a.run, b.run), cmp.Compare(a.own, b.own))
	})
	for i := range all {
		points[i] = all[i].point
	}
}
