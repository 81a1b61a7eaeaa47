package gate

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mallow/internal/budget"
)

// ownPaths finds the paths of a working tree in the settings of a benchmark. In
// the tree of another commit they would name what is not of that commit, and its
// figures would be those of the working tree.
type ownPaths struct {
	root    string
	pattern *regexp.Regexp // nil where all paths are the tree's
}

// newOwnPaths takes the root of a working tree as git has it, and the folder of
// the budget, which lies inside below it, perhaps by a symbolic link.
func newOwnPaths(root, folder, inside string) *ownPaths {
	roots := []string{regexp.QuoteMeta(root)}
	if linked, is := strings.CutSuffix(folder, "/"+filepath.ToSlash(inside)); is || inside == "." {
		roots = append(roots, regexp.QuoteMeta(linked))
	}
	if root == "/" || slices.Contains(roots, "") {
		return &ownPaths{root: root}
	}
	return &ownPaths{root, regexp.MustCompile(`(?:^|[^\w./-]|-[A-Za-z])(?:` + strings.Join(roots, "|") + `)(?:$|[^\w.-])`)}
}

// check returns a failure where a benchmark names such a path.
func (o *ownPaths) check(b *budget.Benchmark, where string) error {
	if o == nil || o.pattern == nil {
		return nil
	}
	for _, setting := range slices.Concat(b.Command, b.Env, []string{b.Shell, b.Build, b.Folder, b.Stdin}) {
		if o.pattern.MatchString(setting) {
			return failed("its settings name %s, which stays what it is%s: paths without it, from the folder of the budget on, are those of each commit", o.root, where)
		}
	}
	return nil
}
