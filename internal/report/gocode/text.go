// Package gocode writes what Go programs allocate: as text of one screen, and
// as JSON, schema "mallow.go/1".
package gocode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"mallow/internal/figure"
	"mallow/internal/gocode"
	"mallow/internal/term"
)

// Options of the reports.
type Options struct {
	Top     int    // lines of each benchmark; 0: all
	Verbose bool   // with the compiler's own words
	Folder  string // files below it are named from there
}

// hidden are lines that make less than this part of a benchmark's allocations
// and less than one in a hundred operations.
const hidden = 0.01

// worthSaying are allocations of the runtime and of package testing in an
// operation that makes no others: fewer are those of a thread or a collection.
const worthSaying = 0.5

// WriteBenchmarks prints a table of lines for each benchmark, and what is
// unsound in their code.
func WriteBenchmarks(w io.Writer, all []*gocode.Benchmark, unsound []gocode.Unsound, o Options) error {
	out := bufio.NewWriter(w)
	names := namesOfBenchmarks(all)
	for i, b := range all {
		if i > 0 && (len(b.Lines) > 0 || len(all[i-1].Lines) > 0) {
			fmt.Fprintln(out)
		}
		writeBenchmark(out, b, names.of(b.Package, b.Name), o)
	}
	writeNoCPU(out, all)
	writeUnsound(out, unsound, o)
	return out.Flush()
}

// writeNoCPU says, once for a package, why nothing is said of the CPU time.
func writeNoCPU(out *bufio.Writer, all []*gocode.Benchmark) {
	said := ""
	for _, b := range all {
		if b.NoCPU != "" && b.Package != said {
			said = b.Package
			fmt.Fprintf(out, "\n%s: nobody looked where the CPU time goes: %s\n", term.Safe(b.Package), term.Safe(b.NoCPU))
		}
	}
}

func writeBenchmark(out *bufio.Writer, b *gocode.Benchmark, name string, o Options) {
	if b.Uncounted != "" {
		fmt.Fprintf(out, "%s  NOT COUNTED, %s/op\n        %s\n", name, duration(b.NsPerOp), term.Safe(b.Uncounted))
		return
	}
	fmt.Fprintf(out, "%s  %s allocations/op, %s/op, %s/op, %s collections/op\n", name,
		perOp(b.AllocsPerOp), figure.Size(uint64(max(0, b.BytesPerOp+0.5))), duration(b.NsPerOp), perOp(b.GCPerOp))
	if b.AllocsPerOp <= 0 && len(b.Lines) == 0 && b.Checked && b.C == nil && b.RuntimePerOp < worthSaying && b.UntimedPerOp == 0 {
		return
	}
	fmt.Fprintf(out, "        %s\n", term.Safe(trust(b)))
	if b.C != nil {
		fmt.Fprintf(out, "        in C: %s allocations/op, %s/op\n", perOp(b.C.Allocs), figure.Size(uint64(max(0, b.C.Bytes+0.5))))
	}
	if len(b.Lines) > 0 {
		fmt.Fprintf(out, "%14s %10s %s line\n", "allocs/op", "bytes/op", cpuColumn(b.CPU, "CPU"))
	}
	shown := 0
	var restAllocs float64
	restLines := 0
	for _, l := range b.Lines {
		if o.Top > 0 && shown >= o.Top || l.Allocs < hidden && l.Allocs < hidden*b.AllocsPerOp {
			restLines++
			restAllocs += l.Allocs
			continue
		}
		shown++
		fmt.Fprintf(out, "%14s %10s %s %s\n", perOp(l.Allocs), figure.Size(uint64(max(0, l.Bytes+0.5))), cpuColumn(b.CPU, percent(b.CPU.Line(l))), lineName(l, o))
		writeReason(out, l, strings.Repeat(" ", 27+len(cpuColumn(b.CPU, ""))), o)
	}
	if restLines > 0 {
		fmt.Fprintf(out, "%14s %10s %s %s\n", perOp(restAllocs), "", cpuColumn(b.CPU, ""), figure.Counted(uint64(restLines), "more line", "more lines"))
	}
	if b.CPU != nil {
		writeCPU(out, b.CPU, ofTimedRun, o)
	}
}

// cpuColumn is a column of its own where something is known of the CPU time.
func cpuColumn(c *gocode.CPU, text string) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%6s ", text)
}

// trust says what the figures stand on.
func trust(b *gocode.Benchmark) string {
	if b.Uncounted != "" {
		return "not counted: " + b.Uncounted
	}
	text := "the difference of two runs that are " + figure.Counted(b.Operations, "operation", "operations") + " apart; "
	if b.Stock != nil {
		text += "of the runtime's own profile, which misses tiny objects (" + b.Stock.Error() + ")"
	} else if b.Checked {
		text += "every allocation is in it: the longer one made " + figure.Count(b.Mallocs) + ", as runtime.MemStats counts them"
	} else {
		text += "whether every allocation is in it could not be checked"
	}
	if b.RuntimePerOp > 0 {
		text += "; beside them " + perOp(b.RuntimePerOp) + "/op of the runtime and of package testing"
	}
	if b.UntimedPerOp > 0 {
		text += "; beside them " + perOp(b.UntimedPerOp) + "/op that the timer of the benchmark leaves out"
	}
	return text
}

// WriteRun prints what each process of a run allocated.
func WriteRun(w io.Writer, r *gocode.Run, o Options) error {
	out := bufio.NewWriter(w)
	for i := range r.Processes {
		p := &r.Processes[i]
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "mallow: %s %d: %s, %s, %s of the collector\n", term.Safe(p.Name), p.PID,
			figure.Counted(p.Allocs, "allocation", "allocations"), figure.Size(p.Bytes),
			figure.Counted(p.Collections, "cycle", "cycles"))
		fmt.Fprintf(out, "        %s\n", trustRun(p))
		if c := p.C; c != nil {
			fmt.Fprintf(out, "        in C: %s, %s, %s never freed; %s of them of C's start and of threads\n",
				figure.Counted(c.Allocs, "allocation", "allocations"), figure.Size(c.Bytes), figure.Count(c.Live), figure.Count(c.RuntimeAllocs))
		}
		if r.NoC != nil {
			fmt.Fprintf(out, "        what C allocates is not known: %s\n", term.Safe(r.NoC.Error()))
		}
		if len(p.Lines) == 0 {
			continue
		}
		whole := p.All()
		fmt.Fprintf(out, "%14s %6s %10s %s line\n", "allocations", "share", "bytes", cpuColumn(p.CPU, "CPU"))
		for j, l := range p.Lines {
			if o.Top > 0 && j == o.Top {
				var rest uint64
				for _, m := range p.Lines[j:] {
					rest += uint64(m.Allocs)
				}
				fmt.Fprintf(out, "%14s %6s %10s %s %s\n", figure.Count(rest), figure.Percent(rest, whole), "", cpuColumn(p.CPU, ""),
					figure.Counted(uint64(len(p.Lines)-j), "more line", "more lines"))
				break
			}
			fmt.Fprintf(out, "%14s %6s %10s %s %s\n", figure.Count(uint64(l.Allocs)), figure.Percent(uint64(l.Allocs), whole),
				figure.Size(uint64(l.Bytes)), cpuColumn(p.CPU, percent(p.CPU.Line(l))), lineName(l, o))
			writeReason(out, l, strings.Repeat(" ", 34+len(cpuColumn(p.CPU, ""))), o)
		}
		if p.CPU != nil {
			writeCPU(out, p.CPU, ofCountedRun(p.CPU), o)
		}
	}
	writeUnsound(out, r.Unsound, o)
	return out.Flush()
}

func trustRun(p *gocode.Process) string {
	switch {
	case p.Lost > 0:
		return figure.Counted(p.Lost, "further allocation", "further allocations") + " found no room"
	case p.Agrees():
		return "every allocation since main was about to start, as runtime.MemStats counts them; before it the runtime made " + figure.Count(p.Before)
	case p.Checked:
		return fmt.Sprintf("runtime.MemStats counts %s", figure.Counted(p.Mallocs-p.Before, "allocation", "allocations"))
	}
	return "every allocation up to the end, which came too suddenly to compare with runtime.MemStats"
}

// writeUnsound prints lines that allocate little and are wrong, and those that
// look as if they did.
func writeUnsound(out *bufio.Writer, all []gocode.Unsound, o Options) {
	if len(all) > 0 {
		fmt.Fprintln(out)
	}
	for _, u := range all {
		word := "unsound"
		if u.Wasteful {
			word = "wasteful"
		}
		fmt.Fprintf(out, "%s: %s\n", word, term.Safe(fmt.Sprintf("%s:%d: %s (%s)", shortFile(u.File, o.Folder), u.Line, u.Message, u.Rule)))
	}
}

// writeReason prints why a line allocates and what to do about it.
func writeReason(out *bufio.Writer, l *gocode.Line, indent string, o Options) {
	if l.Why != "" {
		fmt.Fprintf(out, "%swhy: %s\n", indent, term.Safe(l.Why))
	}
	if l.Remedy != "" {
		fmt.Fprintf(out, "%sdo:  %s (%s)\n", indent, term.Safe(l.Remedy), l.Rule)
	}
	if l.Fix != "" {
		fmt.Fprintf(out, "%sfix: mallow go fix can try: %s\n", indent, term.Safe(l.Fix))
	}
	if o.Verbose {
		for _, step := range l.Flow {
			fmt.Fprintf(out, "%s     %s\n", indent, term.Safe(step))
		}
	}
}

// lineName says where a line is, in what function, what it calls and what
// that makes.
func lineName(l *gocode.Line, o Options) string {
	where := "(nowhere)"
	if l.File != "" {
		where = shortFile(l.File, o.Folder) + ":" + strconv.Itoa(l.Line)
	}
	text := where + "  " + gocode.ShortFunction(l.Function)
	if l.Callee != "" {
		text += "  calls " + gocode.ShortFunction(l.Callee)
	}
	if l.Type != "" {
		text += "  makes " + gocode.WithoutShapes(l.Type)
	}
	if l.C {
		if f := l.Caller(); f != nil {
			text += "  from " + gocode.ShortFunction(f.Function) + " " + filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		text += "  in C"
		if l.Live > 0 {
			text += ", " + perOp(l.Live) + " never freed"
		}
	}
	return term.Safe(text)
}

func shortFile(file, folder string) string {
	if inside, err := filepath.Rel(folder, file); err == nil && folder != "" && filepath.IsLocal(inside) {
		return inside
	}
	return filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
}

// perOp writes a figure of one operation with two digits after the point,
// none where it is a whole number.
func perOp(n float64) string { return perOpDigits(n, usualDigits) }

func perOpDigits(n float64, digits int) string {
	least := math.Pow10(-digits)
	if n < 0 && n > -least/2 { // the shorter of two runs made one object more
		return "0"
	}
	if n < 0 {
		return "-" + perOpDigits(-n, digits)
	}
	if n != 0 && n < least/2 {
		return "<" + strconv.FormatFloat(least, 'f', digits, 64)
	}
	text := strconv.FormatFloat(n, 'f', digits, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	number, err := strconv.ParseUint(whole, 10, 64)
	if err != nil {
		return text
	}
	if strings.Trim(fraction, "0") == "" {
		return figure.Count(number)
	}
	return figure.Count(number) + "." + fraction
}

func duration(ns float64) string {
	if ns >= 1e12 {
		return figure.Count(uint64(ns/1e9)) + " s"
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			return figure.Rough(ns/u.ns, 3) + " " + u.name
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
