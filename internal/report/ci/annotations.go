package ci

import (
	"fmt"
	"io"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gate"
	"mallow/internal/term"
)

// mostAnnotations of a kind are shown of a step by GitHub; what comes later is
// dropped without a word.
const mostAnnotations = 10

// annotation is a remark at a line of the change, or at none.
type annotation struct {
	kind          string // error, warning or notice
	file          string // from the root of the source tree on
	line          int
	title, remark string
}

// Annotations writes commands to GitHub's runner, which shows them at the lines
// in question: what fails the gate as errors, other changes as notices. A line
// of them begins with "::", and nothing else does.
func Annotations(w io.Writer, r *gate.Result, o Options) error {
	var b strings.Builder
	written := make(map[string]int)
	dropped := make(map[string]int)
	all := o.annotations(r)
	total := make(map[string]int)
	for _, a := range all {
		total[a.kind]++
	}
	for _, a := range all {
		room := mostAnnotations
		if total[a.kind] > mostAnnotations {
			room-- // the last one tells of the others
		}
		if written[a.kind] == room {
			dropped[a.kind]++
			continue
		}
		written[a.kind]++
		b.WriteString(a.command())
	}
	for _, kind := range []string{"error", "notice"} {
		if n := dropped[kind]; n > 0 {
			rest := annotation{kind: kind, title: "mallow gate", remark: fmt.Sprintf("and %d more: see the summary", n)}
			b.WriteString(rest.command())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *annotation) command() string {
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+commandProperty(term.Safe(a.file)))
		if a.line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", a.line))
		}
	}
	properties = append(properties, "title="+commandProperty(a.title))
	return fmt.Sprintf("::%s %s::%s\n", a.kind, strings.Join(properties, ","), commandData(a.remark))
}

// annotations are one for each guilty site, the most guilty of each check
// first; where no line of it is known, one for the check.
func (o *Options) annotations(r *gate.Result) []annotation {
	var all []annotation
	told := make(map[string]bool)
	for _, c := range sorted(r) {
		if c.Verdict == gate.OK {
			continue
		}
		kind := "notice"
		if o.bad(c) {
			kind = "error"
		}
		about := annotation{kind: kind, title: "mallow gate: " + title(c)}
		placed := false
		for i := range c.Sites {
			s := &c.Sites[i]
			about.file, about.line = o.line(s)
			if about.file == "" {
				continue
			}
			placed = true
			// The same line may be guilty before several references.
			if key := fmt.Sprint(kind, about.title, about.file, about.line); !told[key] {
				told[key] = true
				about.remark = o.remark(c, s)
				all = append(all, about)
			}
		}
		if !placed {
			about.file, about.line, about.remark = "", 0, explained(c)
			all = append(all, about)
		}
	}
	return all
}

// line is where a site is in the source tree: its own line, or that of the
// first caller that is in it. "" where none is.
func (o *Options) line(s *gate.Site) (file string, line int) {
	if inside := o.below(s.File); inside != "" && s.Line > 0 {
		return inside, s.Line
	}
	for _, c := range s.Callers {
		if inside := o.below(c.File); inside != "" && c.Line > 0 {
			return inside, c.Line
		}
	}
	return "", 0
}

// remark says what a site has to do with a check.
func (o *Options) remark(c *gate.Check, s *gate.Site) string {
	text := o.guilt(s)
	for i, caller := range s.Callers {
		if i == 3 {
			text += "\n  <- ..."
			break
		}
		text += "\n  <- " + o.place(caller.Function, caller.File, caller.Line, caller.Module)
	}
	return text + "\n" + explained(c)
}

// guilt says by how much a site grew.
func (o *Options) guilt(s *gate.Site) string {
	return fmt.Sprintf("%s: %s (%s), %s -> %s", o.place(s.Function, s.File, s.Line, s.Module), growth(s), short(s.Status),
		figure.Count(s.Was), figure.Count(s.Now))
}

// explained says what a check found, and why.
func explained(c *gate.Check) string {
	text := title(c) + ": " + finding(c)
	if c.Message != "" {
		text += "\n" + term.Safe(cut(c.Message))
	}
	return text
}
