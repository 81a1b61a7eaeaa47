package gocode

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Budget are the allocations that an operation of each benchmark may make. It
// is a text file that reads well in a diff:
//
//	BenchmarkWord example.org/digest: 2031 over 1000
//		2000 example.org/digest.Word calls strconv.Itoa
//
// The figure is exact: a whole number or a fraction, with the number of
// operations that it is the mean of. Where runs differ it has two, the least
// and the most that was seen. The lines below name what makes it, by
// function and not by line, so that edits elsewhere do not show.
type Budget struct {
	Entries []BudgetEntry // by package and benchmark
}

// BudgetEntry is the budget of one benchmark.
type BudgetEntry struct {
	Package, Benchmark string
	Operations         uint64
	Least, Most        *big.Rat // allocations per operation
	Lines              []BudgetLine
}

// BudgetLine are the allocations of a function, per operation.
type BudgetLine struct {
	Function, Callee string
	Allocs           *big.Rat
	// Lines make them, the one with the most first; none where the budget is
	// read from a file.
	Lines []*Line
}

// mostBudgetLines of a benchmark are named, those with the most allocations.
const mostBudgetLines = 50

// leastBudgetAllocs of an operation are named.
const leastBudgetAllocs = 0.01

// NewEntry makes the budget of a benchmark from some runs of it, all with as
// many operations.
func NewEntry(runs []*Benchmark) BudgetEntry {
	first := runs[0]
	e := BudgetEntry{Package: first.Package, Benchmark: first.Name, Operations: first.Operations}
	var least *Benchmark
	for _, b := range runs {
		n := rational(b.AllocsPerOp, b.Operations)
		if e.Least == nil || n.Cmp(e.Least) < 0 {
			e.Least, least = n, b
		}
		if e.Most == nil || n.Cmp(e.Most) > 0 {
			e.Most = n
		}
	}
	byFunction := make(map[[2]string]*BudgetLine)
	for _, l := range least.Lines { // the one with the most first
		if l.C {
			continue
		}
		key := [2]string{l.Function, l.Callee}
		if byFunction[key] == nil {
			byFunction[key] = &BudgetLine{l.Function, l.Callee, new(big.Rat), nil}
		}
		byFunction[key].Lines = append(byFunction[key].Lines, l)
		byFunction[key].Allocs.Add(byFunction[key].Allocs, rational(l.Allocs, least.Operations))
	}
	for _, l := range byFunction {
		if allocs, _ := l.Allocs.Float64(); allocs >= leastBudgetAllocs {
			e.Lines = append(e.Lines, *l)
		}
	}
	slices.SortFunc(e.Lines, func(a, b BudgetLine) int {
		return cmp.Or(b.Allocs.Cmp(a.Allocs), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Callee, b.Callee))
	})
	e.Lines = e.Lines[:min(len(e.Lines), mostBudgetLines)]
	return e
}

// rational returns the exact number of allocations of an operation, of which
// perOp is the nearest floating-point number.
func rational(perOp float64, operations uint64) *big.Rat {
	return big.NewRat(int64(math.Round(perOp*float64(operations))), int64(max(1, operations)))
}

// Format writes the budget.
func (b *Budget) Format() []byte {
	var out bytes.Buffer
	out.WriteString("# Allocations of one operation of each benchmark. mallow go gate compares with it, --update writes it.\n")
	for i := range b.Entries {
		e := &b.Entries[i]
		fmt.Fprintf(&out, "\nBenchmark%s %s: %s over %d\n", e.Benchmark, e.Package, e.figure(), e.Operations)
		for _, l := range e.Lines {
			fmt.Fprintf(&out, "\t%s %s", l.Allocs.RatString(), l.Function)
			if l.Callee != "" {
				fmt.Fprintf(&out, " calls %s", l.Callee)
			}
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

func (e *BudgetEntry) figure() string {
	if e.Least.Cmp(e.Most) == 0 {
		return e.Least.RatString()
	}
	return e.Least.RatString() + " to " + e.Most.RatString()
}

// ParseBudget reads a budget; an error names the line.
func ParseBudget(content []byte) (*Budget, error) {
	var b Budget
	lines := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; lines.Scan(); number++ {
		text := lines.Text()
		switch {
		case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#"):
		case strings.HasPrefix(text, "Benchmark"):
			e, err := parseEntry(text)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if b.Entry(e.Package, e.Benchmark) != nil { // as a merge leaves them
				return nil, fmt.Errorf("line %d: Benchmark%s of %s has a budget above already: take out the one that does not hold", number, e.Benchmark, e.Package)
			}
			b.Entries = append(b.Entries, e)
		case strings.HasPrefix(text, "\t") && len(b.Entries) > 0:
			figure, rest, ok := strings.Cut(strings.TrimSpace(text), " ")
			n, valid := parseRat(figure)
			if !ok || !valid {
				return nil, fmt.Errorf("line %d: expected a number of allocations and a function", number)
			}
			function, callee, _ := strings.Cut(rest, " calls ")
			e := &b.Entries[len(b.Entries)-1]
			e.Lines = append(e.Lines, BudgetLine{function, callee, n, nil})
		default:
			return nil, fmt.Errorf("line %d: expected \"BenchmarkNAME PACKAGE: FIGURE over OPERATIONS\"", number)
		}
	}
	return &b, lines.Err()
}

func parseEntry(text string) (BudgetEntry, error) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(text, "Benchmark"), " ")
	path, figures, found := strings.Cut(rest, ": ")
	figure, operations, over := strings.Cut(figures, " over ")
	least, most, several := strings.Cut(figure, " to ")
	if !several {
		most = least
	}
	e := BudgetEntry{Package: path, Benchmark: name}
	var lowValid, highValid bool
	e.Least, lowValid = parseRat(least)
	e.Most, highValid = parseRat(most)
	count, err := strconv.ParseUint(operations, 10, 32)
	if !ok || !found || !over || !lowValid || !highValid || err != nil || count == 0 || count > mostOperations {
		return e, fmt.Errorf("expected \"BenchmarkNAME PACKAGE: FIGURE over OPERATIONS\", with at most %d operations", mostOperations)
	}
	if e.Least.Cmp(e.Most) > 0 {
		return e, fmt.Errorf("the least, %s, is more than the most, %s", least, most)
	}
	e.Operations = count
	return e, nil
}

// parseRat takes whole numbers and fractions of numbers that fit into 64 bits.
func parseRat(text string) (*big.Rat, bool) {
	numerator, denominator, fraction := strings.Cut(text, "/")
	n, err := strconv.ParseInt(numerator, 10, 64)
	if err != nil || n < 0 {
		return nil, false
	}
	d := int64(1)
	if fraction {
		if d, err = strconv.ParseInt(denominator, 10, 64); err != nil || d <= 0 {
			return nil, false
		}
	}
	return big.NewRat(n, d), true
}

// Entry returns the budget of a benchmark, nil where it has none.
func (b *Budget) Entry(importPath, benchmark string) *BudgetEntry {
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Package == importPath && e.Benchmark == benchmark {
			return e
		}
	}
	return nil
}

// Set replaces the budget of a benchmark, or adds it.
func (b *Budget) Set(e BudgetEntry) {
	if old := b.Entry(e.Package, e.Benchmark); old != nil {
		*old = e
		return
	}
	b.Entries = append(b.Entries, e)
	slices.SortFunc(b.Entries, func(a, c BudgetEntry) int {
		return cmp.Or(cmp.Compare(a.Package, c.Package), cmp.Compare(a.Benchmark, c.Benchmark))
	})
}

// Unmeasured are the entries that none of the checks is of.
func (b *Budget) Unmeasured(checks []Check) (all []BudgetEntry) {
	for _, e := range b.Entries {
		isOf := func(c Check) bool { return c.Now.Package == e.Package && c.Now.Benchmark == e.Benchmark }
		if !slices.ContainsFunc(checks, isOf) {
			all = append(all, e)
		}
	}
	return all
}

// Verdict is what became of a benchmark against its budget.
type Verdict string

const (
	Kept    Verdict = "kept"
	More    Verdict = "more"
	Fewer   Verdict = "fewer"
	Unknown Verdict = "new" // it has no budget
)

// Check compares a benchmark with its budget. More is what not even the least
// run keeps; fewer, where not even the most run needs it.
type Check struct {
	Was *BudgetEntry // nil where there is none
	Now BudgetEntry
	Verdict
	Grown []Growth // the most first
}

// grown returns the line of a function that makes most of what makes more than
// it did. Lines may have moved, but the types of what they make have not.
func grown(was, now []*Line) *Line {
	if len(now) == 0 {
		return nil
	}
	line := now[0]
	if len(was) == 0 { // nobody knows
		return line
	}
	more := make(map[string]float64)
	for _, l := range now {
		more[l.Type] += l.Allocs
	}
	for _, l := range was {
		more[l.Type] -= l.Allocs
	}
	for _, l := range now {
		if more[l.Type] > more[line.Type] {
			line = l
		}
	}
	return line
}

// fewMissing allocations of a whole run, fewer than a whole number for each
// operation, are rather of what the shorter run began with than of some operations.
const fewMissing = 10

// missesFew tells whether even the most of the runs has a few allocations less
// than a whole number for each operation.
func (e *BudgetEntry) missesFew() bool {
	perOp, _ := e.Most.Float64()
	missing := (math.Ceil(perOp) - perOp) * float64(e.Operations)
	return e.Operations > 2*fewMissing && 0.5 < missing && missing < fewMissing+0.5
}

// MayBeChance tells whether further runs may show something else: the benchmark
// has not kept its budget, but by less than an allocation of each operation; or it
// has none, and would get one that is too low, since a sync.Pool without New
// happened to miss more often in the shorter run of each.
func (c *Check) MayBeChance() bool {
	var apart *big.Rat
	switch c.Verdict {
	case Unknown:
		return c.Now.missesFew()
	case More:
		apart = new(big.Rat).Sub(c.Now.Least, c.Was.Most)
	case Fewer:
		apart = new(big.Rat).Sub(c.Was.Least, c.Now.Most)
	default:
		return false
	}
	return apart.Cmp(big.NewRat(1, 1)) < 0
}

// Growth are further allocations of a function.
type Growth struct {
	Function, Callee string
	Was, Now         *big.Rat
	Line             *Line // that makes most of it now, of the type that grew most where that is known
}

// Compare returns the check of a benchmark.
func Compare(was *BudgetEntry, now BudgetEntry) Check {
	c := Check{Was: was, Now: now, Verdict: Kept}
	switch {
	case was == nil:
		c.Verdict = Unknown
		return c
	case now.Least.Cmp(was.Most) > 0:
		c.Verdict = More
	case now.Most.Cmp(was.Least) < 0:
		c.Verdict = Fewer
	}
	before := make(map[[2]string]BudgetLine)
	for _, l := range was.Lines {
		before[[2]string{l.Function, l.Callee}] = l
	}
	for _, l := range now.Lines {
		old, known := before[[2]string{l.Function, l.Callee}]
		if !known {
			old.Allocs = new(big.Rat)
		}
		if l.Allocs.Cmp(old.Allocs) > 0 {
			c.Grown = append(c.Grown, Growth{l.Function, l.Callee, old.Allocs, l.Allocs, grown(old.Lines, l.Lines)})
		}
	}
	slices.SortStableFunc(c.Grown, func(a, b Growth) int {
		return new(big.Rat).Sub(b.Now, b.Was).Cmp(new(big.Rat).Sub(a.Now, a.Was))
	})
	return c
}
