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
}

// Process is what one process of a run allocated.
type Process struct {
	*Counts
	Name          string
	Allocs, Bytes uint64
	Lines         []*Line // nil of a process that executes another program
}

// Run runs an executable that Program built, with its own input, output,
// signals and exit status, and counts. The error is a *launch.Error when it
// was not started.
func (b *Builder) Run(executable string, args, packages []string) (*Run, error) {
	origins, err := listOrigins(b.GoFlags, packages)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mallow-go-*")
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
	if err := process.Release(countsVariable + "=" + folder); err != nil {
		return nil, err
	}
	guard.Forward(process)
	r := new(Run)
	if r.Result, err = process.Wait(); err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", launch.Quote(executable), err)
	}
	sources, escapes := b.understand(packages, []string{"build"})
	r.Unsound = sources.unsound()
	r.Processes, err = processes(folder, process.Pid, executable, origins, sources, escapes)
	return r, err
}

// processes reads what those of a folder counted, the first process first.
func processes(folder string, first int, executable string, o origins, s *sources, e escapes) ([]Process, error) {
	counts, err := readFolder(folder, first)
	if err != nil {
		return nil, err
	}
	n, err := newNamer(executable, o)
	if err != nil {
		return nil, err
	}
	defer n.close()
	var all []Process
	for _, c := range counts {
		p := Process{Name: filepath.Base(executable), Counts: c}
		for i := range c.Records {
			p.Allocs += c.Records[i].Allocs
			p.Bytes += c.Records[i].Bytes
		}
		if n.names(c) {
			p.Lines = lines(n.stacks(c))
			explain(p.Lines, s, e)
		} else {
			p.Name = "another program"
		}
		all = append(all, p)
	}
	return all, nil
}

// Run runs the tests once, counting.
func (t *Tests) Run() ([]Process, error) {
	folder, err := os.MkdirTemp("", "mallow-go-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if _, err := t.run(t.counting, []string{countsVariable + "=" + folder}, nil); err != nil {
		return nil, err
	}
	all, err := processes(folder, 0, t.counting, t.origins, t.sources, t.escapes)
	for i := range all {
		all[i].Name = "tests of " + t.Package
	}
	return all, err
}
