package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/doctor"
	"mallow/internal/launch"
	"mallow/internal/measure"
)

// side is a command under a malloc.
type side struct {
	row       *Row
	allocator *Allocator // nil for the malloc that it has anyway
	command   measure.Command
}

// newSides makes the sides, the base first.
func (s *session) newSides() error {
	base := measure.Command{Args: s.o.Args, Stdin: s.o.Stdin, Limit: s.o.Timeout, Silent: s.o.IgnoreOutput && s.o.Metric == nil}
	if s.o.Versus != "" {
		other := base
		if err := s.setVersus(&base, &other); err != nil {
			return err
		}
		names := [2]string{measure.Command{Args: s.o.Args}.String(), s.o.Versus}
		if names[0] == names[1] {
			names[1] += " (again)"
		}
		s.sides = []*side{{row: &Row{Name: names[0]}, command: base}, {row: &Row{Name: names[1]}, command: other}}
		return nil
	}
	program, err := launch.Lookup(s.o.Args[0], s.o.Args[1:])
	if err != nil {
		return err
	}
	if refusal := doctor.Refuses(program.Path); refusal != nil {
		return refusal
	}
	s.noteOtherHeaps(program.Path)
	s.sides = []*side{{row: &Row{Name: "as it is"}, command: base}}
	if library := libcLibrary(); library != "" {
		s.o.Allocators = slices.Insert(s.o.Allocators, 0, Allocator{Name: libc, Library: library})
	}
	for i := range s.o.Allocators {
		a := &s.o.Allocators[i]
		s.sides = append(s.sides, &side{row: &Row{Name: a.Name, Library: a.Library}, allocator: a, command: base})
	}
	return s.setEnvironments()
}

// noteOtherHeaps tells what of the program's memory no malloc can serve.
func (s *session) noteOtherHeaps(path string) {
	program, err := doctor.Inspect(path)
	if err != nil {
		return // it may be executed and not read
	}
	for _, heap := range program.HeapsIn(os.Environ()) {
		s.note("what %s allocates by its own %s is the same on every side", launch.Quote(program.Path), heap.Name)
	}
	if program.GoVersion != "" {
		s.note("%s is a Go program with C: Go's own heap is the same on every side", launch.Quote(program.Path))
	}
}

// setVersus makes a command of the string. When that takes a shell, both sides
// are started by one, so that they differ by nothing else.
func (s *session) setVersus(base, other *measure.Command) error {
	words, ok, err := splitWords(s.o.Versus)
	switch {
	case err != nil:
		return fmt.Errorf("--vs %s: %w", launch.Quote(s.o.Versus), err)
	case ok && len(words) == 0:
		return errors.New("--vs: the other command is empty")
	case ok:
		other.Args = words
	default:
		if _, err := launch.Lookup(base.Args[0], nil); err != nil {
			return err // the shell would only say that it fails
		}
		other.Args = []string{"/bin/sh", "-c", s.o.Versus}
		base.Args = append([]string{"/bin/sh", "-c", `"$@"`, "sh"}, base.Args...)
	}
	return nil
}

// setEnvironments gives every side its malloc, in environments of one size:
// where the stack of a program begins depends on that, and with it its speed.
func (s *session) setEnvironments() error {
	preloads := make([]string, len(s.sides))
	longest := 0
	for i, side := range s.sides {
		preloads[i] = "LD_PRELOAD=" + os.Getenv("LD_PRELOAD")
		if side.allocator != nil {
			library, err := s.loadable(side.allocator.Library)
			if err != nil {
				return err
			}
			preloads[i] = launch.Preload(os.Environ(), library)
		}
		longest = max(longest, len(preloads[i]))
	}
	for i, side := range s.sides {
		side.command.Env = launch.Command{Env: os.Environ()}.With(preloads[i], "MALLOW_PADDING="+strings.Repeat("x", longest-len(preloads[i]))).Env
	}
	return nil
}

// loadable returns a name of the library that LD_PRELOAD can hold: there,
// blanks and colons separate, and a dollar begins a token.
func (s *session) loadable(library string) (string, error) {
	if !strings.ContainsAny(library, " :$\t\n") {
		return library, nil
	}
	link := filepath.Join(s.folder, fmt.Sprintf("library-%d.so", s.links))
	s.links++
	return link, os.Symlink(library, link)
}
