package gocode

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"

	"mallow/internal/gocode"
	"mallow/internal/term"
)

// WriteChecks prints a line for each benchmark, and what grew below it; then
// what the checks must be read with.
func WriteChecks(w io.Writer, checks []gocode.Check, notes []string) error {
	out := bufio.NewWriter(w)
	names := namesOfChecks(checks)
	for i := range checks {
		c := &checks[i]
		name := names.of(c.Now.Package, c.Now.Benchmark)
		switch c.Verdict {
		case gocode.Unknown:
			fmt.Fprintf(out, "new    %s: %s allocations/op, which no budget knows\n", name, entryFigures(&c.Now)[0])
		case gocode.Kept:
			fmt.Fprintf(out, "kept   %s: %s allocations/op\n", name, entryFigures(&c.Now)[0])
		default:
			both := entryFigures(&c.Now, c.Was)
			fmt.Fprintf(out, "%-5s  %s: %s allocations/op, the budget has %s\n", c.Verdict, name, both[0], both[1])
		}
		if c.Verdict != gocode.More {
			continue
		}
		writeGrown(out, c.Grown)
	}
	for _, note := range notes {
		fmt.Fprintf(out, "note: %s\n", term.Safe(note))
	}
	return out.Flush()
}

// callersShown of a line that grew are named.
const callersShown = 6

// writeGrown prints what makes more, the line where it makes most of it, and
// whose call most of that is.
func writeGrown(out *bufio.Writer, grown []gocode.Growth) {
	for _, g := range grown {
		callee := ""
		if g.Callee != "" {
			callee = " calls " + gocode.ShortFunction(g.Callee)
		}
		fmt.Fprintf(out, "         %s -> %s  %s\n", figureOf(g.Was), figureOf(g.Now), term.Safe(gocode.ShortFunction(g.Function)+callee))
		if g.Line == nil {
			continue
		}
		for i, f := range callers(g.Line) {
			word := "in"
			if i > 0 {
				word = "from"
			}
			fmt.Fprintf(out, "              %-4s %s  %s\n", word, term.Safe(shortFile(f.File, "")+":"+strconv.Itoa(f.Line)), term.Safe(gocode.ShortFunction(f.Function)))
		}
	}
}

// callers are the line and, outwards, who calls it most often; of the Go
// installation only what stands between.
func callers(l *gocode.Line) []gocode.Frame {
	all := []gocode.Frame{l.Frame}
	if len(l.Stacks) == 0 {
		return all
	}
	frames := l.Stacks[0].Frames
	at := slices.Index(frames, l.Frame)
	if at < 0 {
		return all
	}
	all = frames[at:]
	for len(all) > 1 && all[len(all)-1].Origin == gocode.OriginStandard {
		all = all[:len(all)-1]
	}
	return all[:min(len(all), callersShown)]
}

// usualDigits of a fraction are shown, up to mostDigits where fewer hide that
// figures differ: a thousand operations are counted as a rule.
const (
	usualDigits = 2
	mostDigits  = 6
)

// entryFigures are the figures of entries, told apart where they differ.
func entryFigures(entries ...*gocode.BudgetEntry) []string {
	var values []float64
	for _, e := range entries {
		values = append(values, floatOf(e.Least), floatOf(e.Most))
	}
	digits := digitsApart(values)
	var all []string
	for _, e := range entries {
		text := perOpDigits(floatOf(e.Least), digits)
		if e.Least.Cmp(e.Most) != 0 {
			text += " to " + perOpDigits(floatOf(e.Most), digits)
		}
		all = append(all, text)
	}
	return all
}

// digitsApart is how many digits it takes until no two different figures look
// alike. It sorts them.
func digitsApart(values []float64) int {
	slices.Sort(values)
	values = slices.Compact(values)
	for digits := usualDigits; digits < mostDigits; digits++ {
		var texts []string
		for _, v := range values {
			texts = append(texts, perOpDigits(v, digits))
		}
		if len(slices.Compact(texts)) == len(values) {
			return digits
		}
	}
	return mostDigits
}

func figureOf(n *big.Rat) string { return perOp(floatOf(n)) }

// GateSchema names the keys of a gate's report.
const GateSchema = "mallow.gate/1"

type check struct {
	Benchmark string     `json:"benchmark"`
	Package   string     `json:"package"`
	Metric    string     `json:"metric"`
	Class     string     `json:"class"` // exact, or bounded where runs differ
	Was       *float64   `json:"was"`
	Now       float64    `json:"now"`
	Verdict   string     `json:"verdict"`
	Sites     []gateSite `json:"sites"`
}

type gateSite struct {
	Function string  `json:"function"`
	Callee   *string `json:"callee"`
	File     *string `json:"file"` // of the line that makes most of it
	Line     *int    `json:"line"`
	Was      float64 `json:"was"`
	Now      float64 `json:"now"`
	Callers  []frame `json:"callers"` // of the line, outwards
}

// WriteChecksJSON prints the checks as one line of JSON.
func WriteChecksJSON(w io.Writer, checks []gocode.Check, notes []string) error {
	all := struct {
		Schema string   `json:"schema"`
		Checks []check  `json:"checks"`
		Notes  []string `json:"notes"`
	}{GateSchema, checksKeys(checks), append([]string{}, notes...)}
	return term.WriteJSON(w, all, "")
}

func checksKeys(checks []gocode.Check) []check {
	all := []check{}
	for i := range checks {
		c := &checks[i]
		keys := check{
			Benchmark: c.Now.Benchmark, Package: c.Now.Package, Metric: "allocs/op", Class: "exact",
			Now: floatOf(c.Now.Least), Verdict: string(c.Verdict), Sites: []gateSite{},
		}
		if c.Now.Least.Cmp(c.Now.Most) != 0 {
			keys.Class = "bounded"
		}
		if c.Was != nil {
			was := floatOf(c.Was.Most)
			keys.Was = &was
		}
		for i := range c.Grown {
			keys.Sites = append(keys.Sites, siteKeys(&c.Grown[i]))
		}
		all = append(all, keys)
	}
	return all
}

func siteKeys(g *gocode.Growth) gateSite {
	keys := gateSite{Function: g.Function, Callee: known(g.Callee), Was: floatOf(g.Was), Now: floatOf(g.Now), Callers: []frame{}}
	if g.Line == nil {
		return keys
	}
	at := frameKeys(&g.Line.Frame)
	keys.File, keys.Line = at.File, at.Line
	for _, f := range callers(g.Line)[1:] {
		keys.Callers = append(keys.Callers, frameKeys(&f))
	}
	return keys
}

func floatOf(n *big.Rat) float64 {
	value, _ := n.Float64()
	return value
}
