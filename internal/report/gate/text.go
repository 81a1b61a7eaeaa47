// Package gate writes what a gate found, for people and as JSON.
package gate

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gate"
	"mallow/internal/report/text"
	"mallow/internal/term"
)

// Options of the text.
type Options struct {
	Colour bool
	Folder string // that places are named from; "" for none
}

// Write writes the checks by benchmark: those that something is to be said of
// in full, with what grew, and the others in a line.
func Write(w io.Writer, r *gate.Result, o Options) error {
	p := &page{options: o, told: make(map[told]bool)}
	p.headline(r)
	for i := 0; i < len(r.Checks); {
		end := i
		for end < len(r.Checks) && r.Checks[end].Benchmark == r.Checks[i].Benchmark {
			end++
		}
		p.benchmark(r.Checks[i:end])
		i = end
	}
	for i, note := range r.Notes {
		if i == 0 {
			p.line("")
		}
		p.line("note: " + term.Safe(note))
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

type page struct {
	text    strings.Builder
	options Options
	told    map[told]bool
}

// told is a site whose callers and changed lines stand above.
type told struct {
	benchmark, function, file string
	line                      int
}

func (p *page) line(text string) { p.text.WriteString(strings.TrimRight(text, " ") + "\n") }

func (p *page) colour(code, text string) string {
	if !p.options.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// verdictColours are those that hardly anyone takes for each other.
var verdictColours = map[gate.Verdict]string{
	gate.Regression: "1;33", gate.Failed: "1;33", gate.Improvement: "94", gate.TargetReached: "94", gate.OK: "2",
}

func (p *page) headline(r *gate.Result) {
	count := make(map[gate.Verdict]uint64)
	benchmarks := make(map[string]bool)
	for i := range r.Checks {
		count[r.Checks[i].Verdict]++
		benchmarks[r.Checks[i].Benchmark] = true
	}
	var parts []string
	add := func(v gate.Verdict, one, many string) {
		if n := count[v]; n > 0 {
			parts = append(parts, p.colour(verdictColours[v], figure.Counted(n, one, many)))
		}
	}
	add(gate.Regression, "regression", "regressions")
	add(gate.Failed, "benchmark failed", "benchmarks failed")
	add(gate.Improvement, "improvement", "improvements")
	add(gate.TargetReached, "target reached", "targets reached")
	add(gate.OK, "figure kept", "figures kept")
	p.line(fmt.Sprintf("mallow: %s: %s", figure.Counted(uint64(len(benchmarks)), "benchmark", "benchmarks"), strings.Join(parts, ", ")))
}

const widestVerdict = len(gate.TargetReached)

func (p *page) benchmark(checks []gate.Check) {
	p.line("")
	p.line(p.colour("1", term.Safe(checks[0].Benchmark)))
	var kept []string
	for i := range checks {
		c := &checks[i]
		if c.Verdict == gate.OK && c.Reference != "" && !strings.Contains(c.Message, "; ") {
			kept = append(kept, fmt.Sprintf("%s %s (%s)", term.Safe(c.Metric), amount(c.Now, c.Unit), c.Class))
			continue
		}
		p.check(c)
	}
	if len(kept) > 0 {
		p.verdict(gate.OK, strings.Join(kept, ", "))
	}
}

func (p *page) verdict(v gate.Verdict, text string) {
	p.line("  " + p.colour(verdictColours[v], string(v)) + strings.Repeat(" ", max(0, widestVerdict-len(v))+2) + text)
}

func (p *page) check(c *gate.Check) {
	p.verdict(c.Verdict, term.Safe(c.Message))
	for i := range c.Sites {
		p.site(&c.Sites[i], c)
	}
}

// nameOf calls a function as reports do, or says what stands for one without a name.
func nameOf(function, otherwise string) string {
	if function == "" {
		return term.Safe(otherwise)
	}
	return text.ShortName(function)
}

// site has what grew by how much, and below it, once, who calls and what
// changed.
func (p *page) site(s *gate.Site, c *gate.Check) {
	write := figure.Count
	if strings.HasPrefix(c.Unit, "bytes") {
		write = figure.Size
	}
	growth := fmt.Sprintf("%10s  %s -> %s", "+"+write(max(s.Now, s.Was)-s.Was), write(s.Was), write(s.Now))
	if s.Was == 0 {
		growth = fmt.Sprintf("%10s", "+"+write(s.Now))
	}
	name := p.colour("1", nameOf(s.Function, cmp.Or(s.Module, "(no stack)")))
	p.line(fmt.Sprintf("  %s  %s  %s  %s", growth, term.Safe(s.Status), name, p.place(s.File, s.Line, s.Module)))
	told := told{c.Benchmark, s.Function, s.File, s.Line}
	if p.told[told] {
		return
	}
	p.told[told] = true
	var callers []string
	for i := range s.Callers {
		f := &s.Callers[i]
		callers = append(callers, strings.TrimSpace(nameOf(f.Function, f.Module)+" "+p.place(f.File, f.Line, "")))
	}
	const shown = 4
	if more := len(callers) - shown; more > 0 {
		callers = append(callers[:shown:shown], fmt.Sprintf("... %d more", more))
	}
	indent := strings.Repeat(" ", 14)
	if len(callers) > 0 {
		p.line(indent + "<- " + strings.Join(callers, " <- "))
	}
	file := ""
	for i := range s.Changed {
		l := &s.Changed[i]
		if l.File != file {
			file = l.File
			p.line(indent + p.colour("2", "changed in "+term.Safe(file)+":"))
		}
		if l.Old != "" {
			p.line(fmt.Sprintf("%s%6d - %s", indent, l.Line, plain(l.Old)))
		}
		if l.New != "" {
			p.line(fmt.Sprintf("%s%6d + %s", indent, l.Line, plain(l.New)))
		}
	}
}

// plain writes a line of source.
func plain(text string) string { return term.Safe(strings.ReplaceAll(text, "\t", "    ")) }

func (p *page) place(file string, line int, module string) string {
	if file == "" {
		if module == "" {
			return ""
		}
		return "in " + term.Safe(filepath.Base(module))
	}
	if inside, err := filepath.Rel(p.options.Folder, file); p.options.Folder != "" && err == nil && !strings.HasPrefix(inside, "../") {
		file = inside
	}
	if line == 0 {
		return term.Safe(file)
	}
	return fmt.Sprintf("%s:%d", term.Safe(file), line)
}

// amount writes a figure with its unit.
func amount(value *float64, unit string) string {
	if value == nil {
		return "-"
	}
	of, per, divided := strings.Cut(unit, "/")
	text := figure.Count(uint64(max(0, *value)))
	whole := *value == float64(uint64(max(0, *value)))
	switch {
	case of == "s":
		text = figure.Rough(*value, 3) + " s"
	case of == "bytes" && whole:
		text = figure.Size(uint64(*value))
	case !whole:
		text = fmt.Sprintf("%.6g", *value)
	}
	if divided {
		text += " per " + term.Safe(per)
	}
	return text
}

// WriteJSON writes the result as it is: schema "mallow.gate/1".
func WriteJSON(w io.Writer, r *gate.Result) error {
	return term.WriteJSON(w, r, "  ")
}
