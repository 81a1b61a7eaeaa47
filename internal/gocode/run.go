package gocode

import (
	"fmt"
	"os"
	"path/filepath"

	"mallow/internal/launch"
)

// Run is a run of a program that counts.
type Run struct {
	launch.Result
	Processes []Process // the first process first
	Unsound   []Unsound
	NoC       error  // why C's allocations are not known, nil where they are or there is no C
	Notes     []Note // of the compiler
}

// Process is what one process of a run allocated.
type Process struct {
	*Counts
	Name          string
	Allocs, Bytes uint64
	Lines         []*Line // nil of a process that executes another program
	C             *CSide  // nil where there is no C
	// CPU is of the same process, without the counting; nil where it was short.
	CPU *CPU
}

// All are the allocations of Go and of C.
func (p *Process) All() uint64 {
	if p.C == nil {
		return p.Allocs
	}
	return p.Allocs + p.C.Allocs
}

// Run runs an executable that Program built, with its own input, output,
// signals and exit status, and counts. The error is a *launch.Error when it
// was not started.
func (b *Builder) Run(executable string, args, packages []string) (*Run, error) {
	origins, callsC, err := listOrigins(b.GoFlags, packages)
	if err != nil {
		return nil, err
	}
	folder, err := launch.Scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	command, err := launch.Lookup(executable, args)
	if err != nil {
		return nil, err
	}
	guard := launch.NewGuard()
	defer guard.Stop()
	process, err := launch.Prepare(command)
	if err != nil {
		return nil, err
	}
	r := new(Run)
	settings := []string{countsVariable + "=" + folder, cpuVariable + "=on"}
	if callsC && !sanitized(b.GoFlags) {
		inC, err := recordC(cFolder(folder))
		if r.NoC = err; err == nil {
			settings = append(settings, inC...)
		}
	}
	if err := process.Release(settings...); err != nil {
		return nil, err
	}
	guard.Forward(process)
	if r.Result, err = process.Wait(); err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", launch.Quote(executable), err)
	}
	sources, escapes := b.understand(packages, false)
	r.Unsound, r.Notes = sources.unsound(), escapes.notes()
	n, err := newNamer(executable, origins)
	if err != nil {
		return r, err
	}
	defer n.close()
	r.Processes, err = processes(folder, process.Pid, n, sources, escapes)
	return r, err
}

// cFolder is the recording of C's allocations.
func cFolder(folder string) string { return filepath.Join(folder, "c.mallow") }

// processes reads what those of a folder counted, the first process first.
func processes(folder string, first int, n *namer, s *sources, e escapes) ([]Process, error) {
	counts, err := readFolder(folder, first)
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, c := range counts {
		p := Process{Name: filepath.Base(n.module.Path), Counts: c}
		for i := range c.Records {
			p.Allocs += c.Records[i].Allocs
			p.Bytes += c.Records[i].Bytes
		}
		if n.names(c) {
			p.Lines = lines(n.stacks(c))
			explain(p.Lines, s, e)
			announce(p.Lines, s, leastOfRun(float64(p.Allocs)))
			if side, err := n.cSide(cFolder(folder), c); err == nil {
				inC := lines(side.stacks)
				explainC(inC)
				p.C, p.Lines = side, merged(p.Lines, inC)
			}
			if taken, err := readSamples(filepath.Join(folder, fmt.Sprintf("%d.cpu", c.PID))); err == nil {
				p.CPU = n.cpu(taken)
				p.CPU.rank(p.Lines)
			}
		} else {
			p.Name = "another program"
		}
		all = append(all, p)
	}
	return all, nil
}

// Run runs the tests once, counting.
func (t *Tests) Run() ([]Process, error) {
	if t.why != nil {
		return nil, t.why
	}
	folder, err := launch.Scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	_, pid, err := t.run(t.counting, []string{countsVariable + "=" + folder, cpuVariable + "=on"}, nil)
	if err != nil {
		return nil, err
	}
	all, err := processes(folder, pid, t.names, t.sources, t.escapes)
	for i := range all {
		all[i].Name = "tests of " + t.Package
	}
	return all, err
}
