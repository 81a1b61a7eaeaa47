package gocode

import (
	"bufio"
	"fmt"
	"io"
	"math/big"

	"mallow/internal/gocode"
	"mallow/internal/term"
)

// WriteChecks prints a line for each benchmark, and what grew below it.
func WriteChecks(w io.Writer, checks []gocode.Check) error {
	out := bufio.NewWriter(w)
	for i := range checks {
		c := &checks[i]
		name := term.Safe("Benchmark" + c.Now.Benchmark)
		now := entryFigure(&c.Now)
		switch c.Verdict {
		case gocode.Unknown:
			fmt.Fprintf(out, "new    %s: %s allocations/op, which no budget knows\n", name, now)
		case gocode.Kept:
			fmt.Fprintf(out, "kept   %s: %s allocations/op\n", name, now)
		default:
			fmt.Fprintf(out, "%-5s  %s: %s allocations/op, the budget has %s\n", c.Verdict, name, now, entryFigure(c.Was))
		}
		if c.Verdict != gocode.More {
			continue
		}
		for _, g := range c.Grown {
			callee := ""
			if g.Callee != "" {
				callee = " calls " + gocode.ShortFunction(g.Callee)
			}
			fmt.Fprintf(out, "         %s -> %s  %s\n", figureOf(g.Was), figureOf(g.Now), term.Safe(gocode.ShortFunction(g.Function)+callee))
		}
	}
	return out.Flush()
}

func entryFigure(e *gocode.BudgetEntry) string {
	if e.Least.Cmp(e.Most) == 0 {
		return figureOf(e.Least)
	}
	return figureOf(e.Least) + " to " + figureOf(e.Most)
}

func figureOf(n *big.Rat) string {
	value, _ := n.Float64()
	return perOp(value)
}

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
	Was      float64 `json:"was"`
	Now      float64 `json:"now"`
}

// WriteChecksJSON prints the checks as one line of JSON.
func WriteChecksJSON(w io.Writer, checks []gocode.Check) error {
	all := struct {
		Schema string  `json:"schema"`
		Checks []check `json:"checks"`
	}{GateSchema, []check{}}
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
		for _, g := range c.Grown {
			keys.Sites = append(keys.Sites, gateSite{g.Function, known(g.Callee), floatOf(g.Was), floatOf(g.Now)})
		}
		all.Checks = append(all.Checks, keys)
	}
	return encode(w, all)
}

func floatOf(n *big.Rat) float64 {
	value, _ := n.Float64()
	return value
}
