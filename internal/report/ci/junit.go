package ci

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"mallow/internal/gate"
)

// The elements of JUnit's XML that every reader of it knows.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
)

// JUnit writes a result as test cases: a suite for each benchmark, a case for
// each metric and what it was compared with. Regressions are failures, a
// benchmark that did not run to its end is an error.
func JUnit(w io.Writer, r *gate.Result, o Options) error {
	all := junitSuites{Name: "mallow gate"}
	at := make(map[string]int)
	for i := range r.Checks {
		c := &r.Checks[i]
		place, known := at[c.Benchmark]
		if !known {
			place = len(all.Suites)
			at[c.Benchmark] = place
			all.Suites = append(all.Suites, junitSuite{Name: short(c.Benchmark)})
		}
		suite := &all.Suites[place]
		suite.add(o.junitCase(c))
	}
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
}

func (o *Options) junitCase(c *gate.Check) junitCase {
	test := junitCase{Class: "mallow." + short(c.Benchmark), Name: short(c.Metric)}
	if test.Name == "" {
		test.Name = "run"
	}
	if c.Reference != "" {
		test.Name += " (" + short(string(c.Reference)) + ")"
	}
	problem := &junitProblem{Message: finding(c), Type: short(string(c.Verdict)), Text: o.inFull(c)}
	switch {
	case c.Verdict == gate.Failed:
		test.Error = problem
	case o.bad(c):
		test.Failure = problem
		for i := range c.Sites {
			if file, line := o.line(&c.Sites[i]); file != "" {
				test.File, test.Line = short(file), line
				break
			}
		}
	default:
		test.Output = finding(c)
	}
	return test
}

// inFull writes a check and its stacks in plain text, a line each.
func (o *Options) inFull(c *gate.Check) string {
	var b strings.Builder
	b.WriteString(explained(c))
	b.WriteByte('\n')
	for i := range c.Sites {
		s := &c.Sites[i]
		fmt.Fprintf(&b, "%12s  %s  %s\n", growth(s), short(s.Status), o.place(s.Function, s.File, s.Line, s.Module))
		for _, caller := range s.Callers {
			fmt.Fprintf(&b, "%12s    <- %s\n", "", o.place(caller.Function, caller.File, caller.Line, caller.Module))
		}
		for _, l := range s.Changed {
			for _, line := range []struct{ sign, text string }{{"-", l.Old}, {"+", l.New}} {
				if line.text != "" {
					fmt.Fprintf(&b, "%12s    %s %s:%d: %s\n", "", line.sign, o.shown(l.File), l.Line, strings.TrimSpace(codeLine(line.text)))
				}
			}
		}
	}
	return b.String()
}
