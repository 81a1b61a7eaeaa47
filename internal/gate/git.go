package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mallow/internal/budget"
	"mallow/internal/git"
)

// repository is what git knows of the folder of a budget.
type repository struct {
	root   string // of the working tree
	inside string // the folder of the budget, from root
	budget string // name of its file
	head   string // commit
	at     time.Time
	dirty  bool // the working tree differs from head
}

// errNoRepository is that of a folder in no repository, or in one without a
// commit.
var errNoRepository = errors.New("this is no git repository with a commit")

// openRepository returns errNoRepository, or git.ErrMissing, where there is
// none.
func openRepository(ctx context.Context, folder, budget string) (*repository, error) {
	r := &repository{root: folder, budget: budget}
	root, err := r.git(ctx, "rev-parse", "--show-toplevel")
	if errors.Is(err, git.ErrMissing) {
		return nil, err
	}
	if err != nil {
		return nil, errNoRepository
	}
	folder, err = filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, errNoRepository
	}
	if r.inside, err = filepath.Rel(root, folder); err != nil {
		return nil, errNoRepository
	}
	r.root = root
	if r.head, err = r.git(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return nil, errNoRepository
	}
	r.at = r.timeOf(ctx, "HEAD")
	// Budgets are no part of what is measured.
	status, err := r.git(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
	for entry := range strings.SplitSeq(strings.TrimSuffix(status, "\x00"), "\x00") {
		const states = 3 // two letters and a blank before the name
		r.dirty = r.dirty || len(entry) > states && !r.isBudgetFile(entry[states:])
	}
	r.dirty = r.dirty || err != nil
	return r, nil
}

// isBudgetFile takes a name from the root on.
func (r *repository) isBudgetFile(name string) bool {
	return filepath.Base(name) == budget.FileName || name == filepath.Join(r.inside, r.budget) || filepath.Base(filepath.Dir(name)) == stacksFolder
}

// git runs git in the working tree.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	return git.Run(ctx, r.root, args...)
}

// base returns the commit to compare with: where HEAD left the branch that it
// goes to. On that branch itself it is the commit before, or HEAD where the
// working tree has changes. A note says why there is none.
func (r *repository) base(ctx context.Context, branch string) (commit, note string) {
	if branch == "" {
		branch = r.target(ctx)
	}
	if branch == "" {
		return r.before(ctx)
	}
	tip, err := r.git(ctx, "rev-parse", "--verify", "--end-of-options", branch+"^{commit}")
	if err != nil { // of a clone for one job there is often no branch but the remote ones
		tip, err = r.git(ctx, "rev-parse", "--verify", "--end-of-options", "refs/remotes/origin/"+branch+"^{commit}")
	}
	if err != nil {
		return "", fmt.Sprintf("git knows no %q, so there is no merge base: the other references decide", branch)
	}
	commit, err = r.git(ctx, "merge-base", "HEAD", tip)
	if err != nil {
		if shallow, _ := r.git(ctx, "rev-parse", "--is-shallow-repository"); shallow == "true" {
			return "", fmt.Sprintf("this clone is shallow and does not reach the merge base with %s: the other references decide (git fetch --unshallow gets it)", branch)
		}
		return "", fmt.Sprintf("HEAD and %s have no commit in common, so there is no merge base: the other references decide", branch)
	}
	if commit == r.head {
		return r.before(ctx)
	}
	return commit, ""
}

// target is the branch that HEAD probably goes to, "" where git does not tell.
func (r *repository) target(ctx context.Context) string {
	candidates := []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}
	if name := os.Getenv("GITHUB_BASE_REF"); name != "" {
		candidates = append([]string{"origin/" + name, name}, candidates...)
	}
	if commit := os.Getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA"); commit != "" {
		candidates = append([]string{commit}, candidates...)
	}
	for _, name := range candidates {
		if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); err != nil {
			continue
		}
		if means, err := r.git(ctx, "rev-parse", "--abbrev-ref", name); err == nil && means != "" {
			return means // origin/main for origin/HEAD
		}
		return name
	}
	return ""
}

func (r *repository) before(ctx context.Context) (commit, note string) {
	if r.dirty {
		return r.head, ""
	}
	commit, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD~1^{commit}")
	if err != nil {
		if shallow, _ := r.git(ctx, "rev-parse", "--is-shallow-repository"); shallow == "true" {
			return "", "this clone is shallow and has no commit before HEAD: the other references decide (git fetch --unshallow gets it)"
		}
		return "", ""
	}
	return commit, ""
}

// anchor is the commit that last changed the budget of a benchmark, "" where
// none did.
func (r *repository) anchor(ctx context.Context, benchmark string) string {
	return r.lastChange(ctx, filepath.Join(r.inside, r.budget), r.stacksOf(benchmark))
}

// stacksOf is where the stacks of a benchmark lie, from the root on.
func (r *repository) stacksOf(benchmark string) string {
	return filepath.Join(r.inside, stacksFolder, stacksName(benchmark))
}

// lastChange is the commit that last changed one of the files, "" where none did.
func (r *repository) lastChange(ctx context.Context, names ...string) string {
	commit, err := r.git(ctx, append([]string{"log", "-1", "--no-show-signature", "--format=%H", "--"}, names...)...)
	if err != nil {
		return ""
	}
	return commit
}

// worktree checks a commit out into a new folder and returns where the budget
// would be in it; remove takes it away again.
func (r *repository) worktree(ctx context.Context, folder, commit string) (inside string, remove func(), err error) {
	if _, err := r.git(ctx, "worktree", "add", "--detach", "--force", folder, commit); err != nil {
		return "", nil, err
	}
	remove = func() {
		ctx := context.WithoutCancel(ctx)
		if _, err := r.git(ctx, "worktree", "remove", "--force", "--force", folder); err != nil {
			os.RemoveAll(folder)
			r.git(ctx, "worktree", "prune")
		}
	}
	return filepath.Join(folder, r.inside), remove, nil
}

// Changes are looked for so many lines around a site and around its callers,
// and no more than mostChanges of them are told for a site.
const (
	nearSite    = 8
	nearCaller  = 2
	mostChanges = 12
)

// changes finds the lines near frames that changed since a commit.
type changes struct {
	repository *repository
	since      string
	files      map[string][]LineChange // by name in the repository
	names      map[string]string       // of files, as debug information has them
	tracked    []string
	renamed    map[string]string // what files were called then
}

func (r *repository) changesSince(commit string) *changes {
	return &changes{repository: r, since: commit, files: make(map[string][]LineChange), names: make(map[string]string)}
}

// near returns what changed near a site and its callers, in that order.
func (c *changes) near(ctx context.Context, site *Site) []LineChange {
	found := []LineChange{}
	seen := make(map[LineChange]bool)
	add := func(file string, line, distance int) {
		if file == "" || line == 0 {
			return
		}
		for _, change := range c.of(ctx, c.name(ctx, file)) {
			if change.Line >= line-distance && change.Line <= line+distance && !seen[change] && len(found) < mostChanges {
				seen[change] = true
				found = append(found, change)
			}
		}
	}
	add(site.File, site.Line, nearSite)
	for i := range site.Callers {
		add(site.Callers[i].File, site.Callers[i].Line, nearCaller)
	}
	return found
}

// name finds a file of debug information in the repository, also where it was
// built elsewhere; "" for none.
func (c *changes) name(ctx context.Context, file string) string {
	name, known := c.names[file]
	if known {
		return name
	}
	if c.tracked == nil {
		list, _ := c.repository.git(ctx, "ls-files", "-z")
		c.tracked = strings.Split(list, "\x00")
	}
	clean := filepath.ToSlash(filepath.Clean(file))
	if inside, err := filepath.Rel(c.repository.root, clean); err == nil && filepath.IsAbs(clean) && !strings.HasPrefix(inside, "../") {
		clean = inside
	}
	var matches []string
	best := 0
	for _, tracked := range c.tracked {
		n := commonEnd(clean, tracked)
		switch {
		case tracked == clean:
			c.names[file] = tracked
			return tracked
		case n == 0 || n < best:
		case n > best:
			best, matches = n, []string{tracked}
		default:
			matches = append(matches, tracked)
		}
	}
	if len(matches) == 1 {
		name = matches[0]
	}
	c.names[file] = name
	return name
}

// commonEnd counts the names that two paths have in common from the end on; 0
// unless the whole of the second one is there.
func commonEnd(path, tracked string) int {
	if path != tracked && !strings.HasSuffix(path, "/"+tracked) && !strings.HasSuffix(tracked, "/"+path) {
		return 0
	}
	return strings.Count(tracked, "/") + 1
}

// of returns all that changed in a file but for blanks: in a file that was
// indented anew what does allocate could not be seen.
func (c *changes) of(ctx context.Context, name string) []LineChange {
	if name == "" || c.since == "" {
		return nil
	}
	if known, read := c.files[name]; read {
		return known
	}
	diff := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--ignore-all-space", "-U0", c.since, "--", ":(top,literal)" + name}
	if was := c.was(ctx, name); was != "" {
		diff = append(diff, ":(top,literal)"+was)
	}
	text, err := c.repository.git(ctx, diff...)
	if err != nil {
		text = ""
	}
	c.files[name] = parseHunks(name, text)
	return c.files[name]
}

// was is what a file was called then, "" for the same.
func (c *changes) was(ctx context.Context, name string) string {
	if c.renamed == nil {
		c.renamed = make(map[string]string)
		list, err := c.repository.git(ctx, "diff", "--no-ext-diff", "--find-renames", "--diff-filter=R", "--name-status", "-z", c.since)
		if fields := strings.Split(list, "\x00"); err == nil {
			for i := 0; i+2 < len(fields); i += 3 { // how alike they are, the old name, the new one
				c.renamed[fields[i+2]] = fields[i+1]
			}
		}
	}
	return c.renamed[name]
}

// parseHunks reads a diff without context. What was replaced line by line is
// told as one change each.
func parseHunks(name, text string) (all []LineChange) {
	var old []string
	line, removedAt := 0, 0
	flush := func() {
		for _, removed := range old {
			all = append(all, LineChange{File: name, Line: removedAt, Old: removed})
		}
		old = nil
	}
	for row := range strings.Lines(text) {
		row = strings.TrimRight(row, "\r\n")
		switch {
		case strings.HasPrefix(row, "@@ "):
			flush()
			_, rest, _ := strings.Cut(row, " +")
			start, _, _ := strings.Cut(rest, " ")
			first, count, several := strings.Cut(start, ",")
			line, _ = strconv.Atoi(first)
			if several && count == "0" {
				line++ // git names the line before
			}
			removedAt = line
		case line == 0: // before the first hunk
		case strings.HasPrefix(row, "-"):
			old = append(old, row[1:])
		case strings.HasPrefix(row, "+"):
			change := LineChange{File: name, Line: line, New: row[1:]}
			if len(old) > 0 {
				change.Old, old = old[0], old[1:]
			}
			all = append(all, change)
			line++
			removedAt = line
		}
	}
	flush()
	return all
}

func (r *repository) timeOf(ctx context.Context, commit string) time.Time {
	seconds, err := r.git(ctx, "log", "-1", "--no-show-signature", "--format=%ct", commit)
	if err != nil {
		return time.Time{}
	}
	n, _ := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(n, 0).UTC()
}
