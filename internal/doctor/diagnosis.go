package doctor

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/launch"
)

// Diagnosis is what mallow tells a user about a program.
type Diagnosis struct {
	Program *Program
	Refusal *Refusal // nil when it can be recorded
}

// Diagnose looks at the program in the file path.
func Diagnose(path string) (*Diagnosis, error) {
	p, err := Inspect(path)
	if err != nil {
		return nil, err
	}
	return &Diagnosis{Program: p, Refusal: p.Refusal()}, nil
}

type line struct{ subject, said string }

// Write writes the diagnosis, one subject a line.
func (d *Diagnosis) Write(w io.Writer) error {
	p := d.Program
	if _, err := fmt.Fprintln(w, launch.Quote(p.Path)); err != nil {
		return err
	}
	lines := []line{
		{"script", d.script()},
		{"recorded", d.recorded()},
	}
	if d.Refusal == nil {
		lines = append(lines, []line{
			{"malloc", p.mallocLine()},
			{"go", p.goLine()},
			{"stacks", p.stacksLine()},
			{"functions", p.functionsLine()},
			{"lines", p.linesLine()},
			{"build id", p.BuildID},
		}...)
	}
	for _, l := range lines {
		if l.said == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "  %-10s %s\n", l.subject, l.said); err != nil {
			return err
		}
	}
	return nil
}

func (d *Diagnosis) script() string {
	if len(d.Program.Scripts) == 0 {
		return ""
	}
	return launch.Quote(d.Program.Scripts[0]) + " is a script; this is about the program that interprets it"
}

func (d *Diagnosis) recorded() string {
	if d.Refusal != nil {
		return "no: it " + d.Refusal.Reason + "; " + d.Refusal.Remedy
	}
	return "yes, with the processes that it starts, unless they are static, 32-bit, for another libc or gain privileges"
}

func (p *Program) mallocLine() string {
	if p.Recorder {
		return "libmallow, which is linked into it and records"
	}
	from := "glibc's"
	for _, library := range p.Needed {
		if isAllocator(library) {
			from = "that of " + library
		}
	}
	line := from + ", replaced by libmallow while it is recorded"
	for _, heap := range p.OwnHeaps {
		line += "; but what it allocates by its own " + heap.Name + " is not seen"
		if remedy := heap.remedy(); remedy != "" {
			line += " (" + remedy + ")"
		}
	}
	return line
}

// isAllocator knows the shared libraries that replace malloc.
func isAllocator(library string) bool {
	for _, stem := range []string{
		"libmallow", "libjemalloc", "libtcmalloc", "libmimalloc", "libsnmalloc", "librpmalloc", "libhardened_malloc", "libtbbmalloc_proxy",
		"libscudo", "libclang_rt.scudo", "libhoard",
	} {
		if strings.HasPrefix(filepath.Base(library), stem) {
			return true
		}
	}
	return false
}

func (p *Program) goLine() string {
	if p.GoVersion == "" {
		return ""
	}
	return p.GoVersion + " with C: what C allocates is seen, Go's own heap is not (mallow go shows that)"
}

func (p *Program) stacksLine() string {
	switch {
	case p.UnwindTables:
		return "whole: unwind tables are there"
	case p.GoVersion != "":
		return "cut at Go's functions, which have no unwind tables"
	case slices.Contains(p.OwnHeaps, haskell):
		return "cut at Haskell's functions, which have no unwind tables"
	}
	return "cut at this program's own functions: no unwind tables (build without -fno-asynchronous-unwind-tables)"
}

func (p *Program) functionsLine() string {
	switch {
	case p.Symbols:
		return "named, from the symbol table"
	case p.DebugFile != "":
		return "named, from the separate debug file"
	}
	return "those of the program itself by address only (it is stripped), those that libraries export by name"
}

func (p *Program) linesLine() string {
	switch {
	case p.Lines:
		return "named, and inlined functions with them, of what was built with -g"
	case p.DebugFile != "":
		return "named, from " + launch.Quote(p.DebugFile)
	}
	return "not named: built without -g, and no separate debug file is installed (a package NAME-dbgsym or NAME-debuginfo)"
}
