package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

func tidy(r *runner) (counts, error) {
	var c counts
	output, err := r.output("go", "run", "-buildvcs=false", "./tools/tidy")
	if err != nil {
		c.fail("make tidy", output)
	} else {
		c.passed++
	}
	for line := range strings.Lines(output) {
		if what, found := strings.CutPrefix(line, "not checked: "); found {
			c.skipped++
			c.skips = append(c.skips, "make tidy: "+strings.TrimSpace(what))
		}
	}
	return c, nil
}

// goTests runs the Go tests, those of test/ among them, which need the test
// programs that CMake builds. Never from Go's cache: it does not know that
// tests execute what was built, and what is installed.
func goTests(r *runner) (counts, error) {
	if err := buildRelease(r); err != nil {
		return counts{}, err
	}
	// As mallow is built: then most of what the tests need is compiled already. Nobody debugs their programs: no DWARF. And
	// one package more than there are jobs at once: many a test waits for what it has started.
	c := exec.Command("go", "test", "-buildvcs=false", "-trimpath", "-tags=netgo,osusergo", "-ldflags=-w",
		"-p="+strconv.Itoa(r.jobs+1), "-count=1", "-json", "-timeout=15m", "./...")
	c.Dir, c.Env = r.root, environment()
	c.Stderr = r.log
	pipe, err := c.StdoutPipe()
	if err != nil {
		return counts{}, err
	}
	if err := c.Start(); err != nil {
		return counts{}, err
	}
	tests, err := readEvents(io.TeeReader(pipe, r.log))
	if err != nil {
		return counts{}, err
	}
	if err := c.Wait(); err != nil && tests.failed == 0 {
		return tests, fmt.Errorf("go test: %w", err)
	}
	return tests, nil
}

// event is one line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// parents names the tests that the event's test is a part of. The name of a
// subtest may contain slashes of its own, which does no harm: what no test
// bears is never asked for.
func (e event) parents() []string {
	var all []string
	for i, c := range e.Test {
		if c == '/' {
			all = append(all, e.Package+" "+e.Test[:i])
		}
	}
	return all
}

// readEvents counts the tests that have no subtests, and packages that failed
// outside of any test.
func readEvents(stream io.Reader) (counts, error) {
	var c counts
	outputs := make(map[string]*strings.Builder)
	parents := make(map[string]bool)
	failedIn := make(map[string]bool)
	decoder := json.NewDecoder(stream)
	for {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			return c, nil
		} else if err != nil {
			return c, err
		}
		name := strings.TrimSuffix(e.Package+e.ImportPath+" "+e.Test, " ")
		for _, parent := range e.parents() {
			parents[parent] = true
		}
		switch e.Action {
		case "output", "build-output":
			if outputs[name] == nil {
				outputs[name] = new(strings.Builder)
			}
			outputs[name].WriteString(e.Output)
		case "pass":
			if e.Test != "" && !parents[name] {
				c.passed++
			}
			delete(outputs, name)
		case "skip":
			if e.Test != "" {
				c.skipped++
				c.skips = append(c.skips, name+": "+reason(outputs[name]))
			}
		case "fail":
			// A parent, or a package, fails with the test in it that failed.
			if e.Test == "" && failedIn[e.Package] || parents[name] && failedIn[name] {
				continue
			}
			c.fail(name, text(outputs[name]))
			failedIn[e.Package] = true
			for _, parent := range e.parents() {
				failedIn[parent] = true
			}
		}
	}
}

func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}

// reason is the line in which a skipped test says why.
func reason(b *strings.Builder) string {
	for line := range strings.Lines(text(b)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}
