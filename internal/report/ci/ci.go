// Package ci writes what a gate found for those who review a change: as a
// summary in markdown, as annotations of lines, as JUnit's XML, as GitLab's
// code quality and as OpenMetrics.
//
// Names of functions, files and benchmarks are chosen by whoever wrote the
// change, and they land on pages that others trust: every form writes them so
// that they are read as names, and makes visible what is not.
package ci

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gate"
)

// Options say where a gate ran.
type Options struct {
	// Root is the folder of the source tree: files are named from there. Those
	// outside it are no lines of the change and get no links or annotations.
	Root string
	// Source returns the address of a line of a file below Root, "" where there
	// is none. It may be nil.
	Source func(file string, line int) string
	// Commit and Run say what was measured, and the address of the log. Either
	// may be "".
	Commit, Run string
	// Strict gates fail at improvements that the budget does not have yet.
	Strict bool
}

// standing sorts verdicts, what needs somebody first.
var standing = map[gate.Verdict]int{gate.Failed: 0, gate.Regression: 1, gate.Improvement: 2, gate.TargetReached: 3, gate.OK: 5}

func rank(verdict gate.Verdict) int {
	if r, known := standing[verdict]; known {
		return r
	}
	return standing[gate.OK] - 1
}

// bad tells whether a check makes its gate fail.
func (o *Options) bad(c *gate.Check) bool {
	return c.Verdict == gate.Failed || c.Verdict == gate.Regression || o.Strict && c.Verdict == gate.Improvement
}

// sorted are the checks with those first that need somebody.
func sorted(r *gate.Result) []*gate.Check {
	checks := make([]*gate.Check, len(r.Checks))
	for i := range r.Checks {
		checks[i] = &r.Checks[i]
	}
	slices.SortStableFunc(checks, func(a, b *gate.Check) int { return cmp.Compare(rank(a.Verdict), rank(b.Verdict)) })
	return checks
}

// Headline says in a few words what a gate found.
func Headline(r *gate.Result) string {
	count := make(map[gate.Verdict]uint64)
	others := uint64(len(r.Checks))
	for _, c := range r.Checks {
		count[c.Verdict]++
		if _, known := standing[c.Verdict]; known {
			others--
		}
	}
	var parts []string
	add := func(n uint64, one, many string) {
		if n > 0 {
			parts = append(parts, figure.Counted(n, one, many))
		}
	}
	add(count[gate.Failed], "check failed", "checks failed")
	add(count[gate.Regression], "regression", "regressions")
	add(count[gate.Improvement], "improvement", "improvements")
	add(count[gate.TargetReached], "target reached", "targets reached")
	add(others, "check undecided", "checks undecided")
	if n := count[gate.OK]; n > 0 {
		parts = append(parts, figure.Count(n)+" kept")
	}
	if len(parts) == 0 {
		return "nothing to check"
	}
	return strings.Join(parts, ", ")
}

// Quiet tells whether there is nothing that a reviewer should look at. A target
// that was reached stays reached.
func Quiet(r *gate.Result) bool {
	return !slices.ContainsFunc(r.Checks, func(c gate.Check) bool { return c.Verdict != gate.OK && c.Verdict != gate.TargetReached })
}

// value writes a figure of a metric. Counts and bytes are exact: they are
// compared to the unit.
func value(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	of, per, divided := strings.Cut(unit, "/")
	text := number(*v)
	switch of {
	case "":
	case "bytes":
		text += " B"
	case "s":
		text = seconds(*v)
	default:
		text += " " + short(of)
	}
	if divided {
		text += " per " + short(per)
	}
	return text
}

func number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case v < 0:
		return "-" + number(-v)
	case v == math.Trunc(v) && v < 1<<53:
		return figure.Count(uint64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func seconds(v float64) string {
	switch {
	case math.Abs(v) >= 1 || v == 0:
		return number(math.Round(v*1000)/1000) + " s"
	case math.Abs(v) >= 1e-3:
		return number(math.Round(v*1e6)/1e3) + " ms"
	}
	return number(math.Round(v*1e9)/1e3) + " µs"
}

// change writes by how much a figure grew, and that as a share.
func change(c *gate.Check) string {
	if c.Was == nil || c.Now == nil {
		return ""
	}
	by := *c.Now - *c.Was
	if by == 0 || math.IsNaN(by) || math.IsInf(by, 0) {
		return ""
	}
	text := value(&by, c.Unit)
	if by > 0 {
		text = "+" + text
	}
	if *c.Was == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, share(by / *c.Was))
}

// share writes a part, with its sign; something is never rounded to nothing.
func share(part float64) string {
	percent := 100 * part
	switch a := math.Abs(percent); {
	case a >= 1000:
		return fmt.Sprintf("%+.0f %%", percent)
	case a < 0.0005:
		if part < 0 {
			return "less than -0.001 %"
		}
		return "less than +0.001 %"
	}
	return fmt.Sprintf("%+.3g %%", percent)
}

// growth writes by how much a site changed.
func growth(s *gate.Site) string {
	if s.Now >= s.Was {
		return "+" + figure.Count(s.Now-s.Was)
	}
	return "-" + figure.Count(s.Was-s.Now)
}

// title names a check in plain text: "insert: allocations".
func title(c *gate.Check) string {
	if c.Metric == "" {
		return short(c.Benchmark)
	}
	return short(c.Benchmark) + ": " + short(c.Metric)
}

// finding says in plain text what a check found.
func finding(c *gate.Check) string {
	var b strings.Builder
	b.WriteString(short(string(c.Verdict)))
	if c.Was != nil || c.Now != nil {
		fmt.Fprintf(&b, ", %s -> %s", value(c.Was, c.Unit), value(c.Now, c.Unit))
	}
	if by := change(c); by != "" {
		fmt.Fprintf(&b, ", %s", by)
	}
	if c.Reference != "" {
		fmt.Fprintf(&b, ", against the %s", short(string(c.Reference)))
	}
	return b.String()
}

// place writes in plain text where a site is: "make_row src/row.c:118".
func (o *Options) place(function, file string, line int, module string) string {
	name := short(function)
	if name == "" {
		name = "?"
	}
	switch at := o.shown(file); {
	case at != "" && line > 0:
		return fmt.Sprintf("%s %s:%d", name, at, line)
	case at != "":
		return name + " " + at
	case module != "":
		return name + " in " + short(path.Base(module))
	}
	return name
}

// shown is the name of a file as it is written: from Root on where it is below
// that.
func (o *Options) shown(file string) string {
	if inside := o.below(file); inside != "" {
		return short(inside)
	}
	return short(file)
}

// below returns the name of a file from Root on, "" for one that is not below
// it.
func (o *Options) below(file string) string {
	if file == "" {
		return ""
	}
	if filepath.IsAbs(file) {
		inside, err := filepath.Rel(o.Root, file)
		if o.Root == "" || err != nil {
			return ""
		}
		file = inside
	}
	if file = filepath.Clean(file); !filepath.IsLocal(file) || file == "." {
		return ""
	}
	return filepath.ToSlash(file)
}
