package compare

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"mallow/internal/launch"
	"mallow/internal/measure"
)

// printed is what a run left behind, for comparing others with it.
type printed struct {
	exit           int
	hash           [32]byte
	stdout, stderr []byte
}

func (s *session) printedBy(run *measure.Run) *printed {
	p := &printed{run.Exit, run.Output, run.Stdout, run.Stderr}
	if s.o.Metric != nil && !run.Cut {
		// What it says of its speed may differ.
		p.stdout = s.o.Metric.ReplaceAll(p.stdout, nil)
		p.stderr = s.o.Metric.ReplaceAll(p.stderr, nil)
		out, problems := sha256.Sum256(p.stdout), sha256.Sum256(p.stderr)
		p.hash = sha256.Sum256(append(out[:], problems[:]...))
	}
	return p
}

// check demands that the command works, and that all runs of all sides print
// the same and end with the same status.
func (s *session) check(side *side, run *measure.Run) error {
	name := side.name()
	if run.Signal != 0 || run.Exit != 0 && !s.o.IgnoreOutput {
		return fmt.Errorf("%s fails: %s%s", name, run.Ending(), lastWords(run.Stderr))
	}
	got := s.printedBy(run)
	if s.wanted == nil {
		s.wanted = got
		return nil
	}
	itself := side == s.base()
	switch {
	case got.exit != s.wanted.exit && itself:
		return fmt.Errorf("%s ends differently in each run: exit status %d, then %d", name, s.wanted.exit, got.exit)
	case got.exit != s.wanted.exit:
		return fmt.Errorf("%s ends with another exit status: %d, not %d", name, got.exit, s.wanted.exit)
	case s.o.IgnoreOutput || got.hash == s.wanted.hash:
		return nil
	case itself:
		return fmt.Errorf("%s prints differently in each run: %s (--ignore-output waives it)", name, firstDifference(s.wanted, got))
	}
	return fmt.Errorf("%s prints something else: %s (--ignore-output waives it)", name, firstDifference(s.wanted, got))
}

// name is how sentences speak of the side.
func (s *side) name() string {
	if s.allocator != nil {
		return s.command.String() + " under " + s.allocator.Name
	}
	return s.command.String()
}

// lastWords is the last line that a command wrote about its problem.
func lastWords(stderr []byte) string {
	lines := strings.Split(strings.TrimSpace(string(stderr)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ": " + launch.Quote(clipped(last))
	}
	return ""
}

func firstDifference(wanted, got *printed) string {
	for _, stream := range []struct {
		name        string
		wanted, got []byte
	}{{"stdout", wanted.stdout, got.stdout}, {"stderr", wanted.stderr, got.stderr}} {
		if bytes.Equal(stream.wanted, stream.got) {
			continue
		}
		before, after := bytes.Split(stream.wanted, []byte("\n")), bytes.Split(stream.got, []byte("\n"))
		for i := range max(len(before), len(after)) {
			if a, b := lineOf(before, i), lineOf(after, i); a != b {
				return fmt.Sprintf("line %d of %s is %s, then %s", i+1, stream.name, a, b)
			}
		}
	}
	return "in what is more than a megabyte before its end"
}

func lineOf(lines [][]byte, i int) string {
	if i >= len(lines) {
		return "missing"
	}
	return fmt.Sprintf("%q", clipped(string(lines[i])))
}

// clipped keeps a sentence a sentence.
func clipped(line string) string {
	const most = 80
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return line
}
