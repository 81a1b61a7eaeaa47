package history

import (
	"bytes"
	"slices"
	"strings"
)

// ordered sorts points by the commit graph of a repository. Clocks do not
// count: a commit comes after those that it stands on, whatever time it
// claims. Points of commits that the repository does not have stay where they
// were added.
func ordered(repository string, points []Point) []Point {
	rank := ranks(repository, points)
	if len(rank) == 0 {
		return points
	}
	// A point of an unknown commit is as far as the one before it.
	type placed struct {
		rank  int
		point Point
	}
	all := make([]placed, len(points))
	at := -1
	for i := range points {
		if known, ok := rank[points[i].Commit]; ok {
			at = known
		}
		all[i] = placed{at, points[i]}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.rank - b.rank })
	for i := range all {
		points[i] = all[i].point
	}
	return points
}

// ranks number the commits of points, ancestors before descendants.
func ranks(repository string, points []Point) map[string]int {
	commits := commitsOf(points)
	if repository == "" || len(commits) < 2 {
		return nil
	}
	c := gitCommand(repository, "rev-list", "--topo-order", "--reverse", "--ignore-missing", "--stdin")
	c.Stdin = strings.NewReader(strings.Join(commits, "\n") + "\n")
	out, err := c.Output()
	if err != nil {
		return nil
	}
	wanted := make(map[string]bool)
	for _, commit := range commits {
		wanted[commit] = true
	}
	rank := make(map[string]int)
	for line := range bytes.Lines(out) {
		if commit := string(bytes.TrimSpace(line)); wanted[commit] {
			rank[commit] = len(rank)
		}
	}
	return rank
}

func commitsOf(points []Point) []string {
	seen := make(map[string]bool)
	var commits []string
	for i := range points {
		if c := points[i].Commit; isHash(c) && !seen[c] {
			seen[c] = true
			commits = append(commits, c)
		}
	}
	return commits
}

// isHash keeps what is no commit from being read as an option of git's.
func isHash(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
