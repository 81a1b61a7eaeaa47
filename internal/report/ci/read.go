package ci

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"mallow/internal/gate"
	"mallow/internal/term"
)

// largestResult is more than any gate writes.
const largestResult = 64 << 20

// Read reads what mallow gate --json or mallow go gate --json has written,
// perhaps in another job, on behalf of somebody else.
func Read(from io.Reader) (*gate.Result, error) {
	content, err := io.ReadAll(io.LimitReader(from, largestResult+1))
	if err != nil {
		return nil, err
	}
	if len(content) > largestResult {
		return nil, fmt.Errorf("larger than %d MB: no result of a gate", largestResult>>20)
	}
	var f struct {
		Schema string   `json:"schema"`
		Checks []result `json:"checks"`
		Notes  []string `json:"notes"`
	}
	if err := json.Unmarshal(content, &f); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("no JSON: byte %d: %s", syntax.Offset, term.Safe(syntax.Error()))
		}
		var shape *json.UnmarshalTypeError
		if errors.As(err, &shape) {
			return nil, fmt.Errorf("no result of a gate: %s is %s", term.Safe(cmp.Or(embedded.Replace(shape.Field), "the whole")), kinds[strings.Fields(shape.Value)[0]])
		}
		return nil, fmt.Errorf("%s", term.Safe(err.Error()))
	}
	if f.Schema != gate.Schema {
		return nil, fmt.Errorf("its schema is %q, and not %q", short(f.Schema), gate.Schema)
	}
	r := &gate.Result{Schema: f.Schema, Notes: f.Notes}
	for i := range f.Checks {
		r.Checks = append(r.Checks, f.Checks[i].check())
	}
	return r, nil
}

// embedded are in the paths of fields, but in no JSON.
var embedded = strings.NewReplacer("Check.", "", "Site.", "", "Frame.", "")

// kinds are JSON's, as encoding/json calls them.
var kinds = map[string]string{"array": "an array", "object": "an object", "string": "a string", "number": "a number", "bool": "true or false"}

// result is a check as it is written by either gate: that of Go benchmarks has
// a package, parts of a call, and verdicts of its own.
type result struct {
	gate.Check
	Package string `json:"package"`
	Sites   []struct {
		gate.Site
		Callee string  `json:"callee"`
		Was    float64 `json:"was"`
		Now    float64 `json:"now"`
	} `json:"sites"`
}

var goVerdicts = map[gate.Verdict]gate.Verdict{
	"kept": gate.OK, "more": gate.Regression, "fewer": gate.Improvement,
}

func (f *result) check() gate.Check {
	c := f.Check
	c.Sites = nil
	if f.Package != "" {
		c.Benchmark = strings.TrimSuffix(f.Package, "/") + "." + c.Benchmark
		if c.Reference == "" && c.Was != nil {
			c.Reference = gate.Budget
		}
	}
	if verdict, known := goVerdicts[c.Verdict]; known {
		c.Verdict = verdict
	}
	for _, s := range f.Sites {
		site := s.Site
		site.Was, site.Now = whole(s.Was), whole(s.Now)
		if s.Callee != "" {
			site.Function += " calls " + s.Callee
		}
		if site.Status == "" {
			site.Status = "more"
		}
		c.Sites = append(c.Sites, site)
	}
	return c
}

// whole rounds to what can be counted.
func whole(v float64) uint64 {
	switch {
	case !(v > 0):
		return 0
	case v >= math.MaxUint64:
		return math.MaxUint64
	}
	return uint64(math.Round(v))
}
