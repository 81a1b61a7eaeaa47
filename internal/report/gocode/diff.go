package gocode

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gocode"
	"mallow/internal/term"
)

// WriteDifferences prints what newly goes to the heap and what no longer does,
// and the benchmarks.
func WriteDifferences(w io.Writer, d *gocode.Differences, o Options) error {
	out := bufio.NewWriter(w)
	var newly, noLonger uint64
	for _, c := range d.Escapes {
		if c.New {
			newly++
		} else {
			noLonger++
		}
	}
	fmt.Fprintf(out, "%s -> %s: %s newly to the heap, %s no longer %s\n", term.Safe(sideName(&d.Old, d)), term.Safe(sideName(&d.New, d)),
		goes(newly), figure.Count(noLonger), figure.Plural(noLonger, "does", "do"))
	for i := range d.Escapes {
		c := &d.Escapes[i]
		status := "new "
		if !c.New {
			status = "gone"
		}
		fmt.Fprintf(out, "%s  %s:%d  %s  %s%s\n", status, term.Safe(c.File), c.Line, term.Safe(functionOf(c)), term.Safe(c.Value), ofFunction(c))
		fmt.Fprintf(out, "        why: %s\n", term.Safe(c.Why))
		if o.Verbose {
			for _, step := range c.Flow {
				fmt.Fprintf(out, "             %s\n", term.Safe(step))
			}
		}
	}
	for _, note := range d.Notes {
		fmt.Fprintf(out, "no benchmarks: %s\n", term.Safe(note))
	}
	if len(d.Benchmarks)+len(d.Gone) > 0 {
		fmt.Fprintln(out)
	}
	names := namesOfChecks(d.Benchmarks)
	for i := range d.Gone {
		names.add(d.Gone[i].Package, d.Gone[i].Benchmark)
	}
	for i := range d.Benchmarks {
		writeChange(out, &d.Benchmarks[i], names)
	}
	for i := range d.Gone {
		e := &d.Gone[i]
		fmt.Fprintf(out, "gone   %s: %s allocations/op\n", names.of(e.Package, e.Benchmark), entryFigures(e)[0])
	}
	return out.Flush()
}

func goes(n uint64) string {
	if n == 1 {
		return "1 value goes"
	}
	return figure.Count(n) + " values go"
}

// sideName says the version of Go where the two have different ones.
func sideName(s *gocode.Side, d *gocode.Differences) string {
	if d.Old.Version == d.New.Version || s.Name == s.Version {
		return s.Name
	}
	return s.Name + " (" + s.Version + ")"
}

func functionOf(c *gocode.EscapeChange) string { return path.Base(c.Package) + "." + c.Function }

// ofFunction tells where the whole function is on one side alone.
func ofFunction(c *gocode.EscapeChange) string {
	switch {
	case c.Kept:
		return ""
	case c.New:
		return "  (the function is new)"
	}
	return "  (the function is gone)"
}

// writeChange prints one benchmark of both sides.
func writeChange(out *bufio.Writer, c *gocode.Check, names names) {
	name := names.of(c.Now.Package, c.Now.Benchmark)
	switch c.Verdict {
	case gocode.Unknown:
		fmt.Fprintf(out, "new    %s: %s allocations/op\n", name, entryFigures(&c.Now)[0])
	case gocode.Kept:
		fmt.Fprintf(out, "same   %s: %s allocations/op\n", name, entryFigures(&c.Now)[0])
	default:
		both := entryFigures(c.Was, &c.Now)
		fmt.Fprintf(out, "%-5s  %s: %s -> %s allocations/op\n", c.Verdict, name, both[0], both[1])
	}
	if c.Verdict == gocode.More {
		writeGrown(out, c.Grown)
	}
}

// DiffSchema names the keys of what WriteDifferencesJSON prints.
const DiffSchema = "mallow.go.diff/1"

type differences struct {
	Schema     string         `json:"schema"`
	Old        side           `json:"old"`
	New        side           `json:"new"`
	Escapes    []escapeChange `json:"escapes"`
	Benchmarks []check        `json:"benchmarks"`
	Gone       []goneKeys     `json:"gone"`  // benchmarks that only the old side has
	Notes      []string       `json:"notes"` // why there are no benchmarks
}

type goneKeys struct {
	Benchmark string  `json:"benchmark"`
	Package   string  `json:"package"`
	Was       float64 `json:"was"`
}

type side struct {
	Name    string  `json:"name"`
	Commit  *string `json:"commit"` // null for the files as they are
	Version string  `json:"go_version"`
}

type escapeChange struct {
	Status         string   `json:"status"`          // new or gone
	FunctionStatus string   `json:"function_status"` // kept where it is on both sides, otherwise as status
	Package        string   `json:"package"`
	Function       string   `json:"function"`
	Value          string   `json:"value"`
	File           string   `json:"file"`
	Line           int      `json:"line"`
	Why            string   `json:"why"`
	Flow           []string `json:"flow"`
}

// WriteDifferencesJSON prints them as one line of JSON.
func WriteDifferencesJSON(w io.Writer, d *gocode.Differences) error {
	all := differences{
		Schema: DiffSchema, Old: sideKeys(&d.Old), New: sideKeys(&d.New),
		Escapes: []escapeChange{}, Benchmarks: checksKeys(d.Benchmarks), Gone: []goneKeys{}, Notes: append([]string{}, d.Notes...),
	}
	for i := range d.Escapes {
		c := &d.Escapes[i]
		keys := escapeChange{
			Status: "gone", FunctionStatus: "kept", Package: c.Package, Function: c.Function, Value: c.Value,
			File: c.File, Line: c.Line, Why: c.Why, Flow: append([]string{}, c.Flow...),
		}
		if c.New {
			keys.Status = "new"
		}
		if !c.Kept {
			keys.FunctionStatus = keys.Status
		}
		for j := range keys.Flow {
			keys.Flow[j] = strings.TrimSpace(keys.Flow[j])
		}
		all.Escapes = append(all.Escapes, keys)
	}
	for _, e := range d.Gone {
		all.Gone = append(all.Gone, goneKeys{e.Benchmark, e.Package, floatOf(e.Most)})
	}
	return term.WriteJSON(w, all, "")
}

func sideKeys(s *gocode.Side) side { return side{s.Name, known(s.Commit), s.Version} }
