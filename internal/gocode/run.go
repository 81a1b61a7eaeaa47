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
	Name      string
	Processes []Process // the first process first
	Unsound   []Unsound
}

// Process is what one process of a run allocated.
type Process struct {
	*Counts
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
	r := &Run{Name: filepath.Base(executable)}
	if r.Result, err = process.Wait(); err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", launch.Quote(executable), err)
	}
	counts, err := readFolder(folder, process.Pid)
	if err != nil {
		return r, err
	}
	n, err := newNamer(executable, origins)
	if err != nil {
		return r, err
	}
	defer n.close()
	sources, escapes := b.understand(packages, []string{"build"})
	r.Unsound = sources.unsound()
	for _, c := range counts {
		p := Process{Counts: c}
		for i := range c.Records {
			p.Allocs += c.Records[i].Allocs
			p.Bytes += c.Records[i].Bytes
		}
		p.Lines = lines(n.stacks(c))
		explain(p.Lines, sources, escapes)
		r.Processes = append(r.Processes, p)
	}
	return r, nil
}
