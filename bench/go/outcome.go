package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outcome is what mallow go found and did.
type outcome struct {
	Go         string  `json:"go"`
	Date       string  `json:"date"`
	Benchmark  string  `json:"benchmark"`
	Allocs     float64 `json:"allocs_per_op"`
	Bytes      float64 `json:"bytes_per_op"`
	Ns         float64 `json:"ns_per_op"`
	Operations uint64  `json:"operations"`
	Checked    bool    `json:"checked"`
	// Added is by how much CPU time mallow go test exceeds go test -bench on the
	// same benchmarks, both with what they build in the cache. Seconds.
	Added    float64    `json:"added_cpu_s"`
	Lines    []line     `json:"lines"`
	Ladder   []rung     `json:"ladder"`
	Rejected []rejected `json:"rejected"`
	Refused  string     `json:"refused,omitempty"` // why nothing could be fixed at all
}

type line struct {
	File     string  `json:"file"` // within the module
	Line     int     `json:"line"`
	Function string  `json:"function"`
	Callee   string  `json:"callee"`
	Allocs   float64 `json:"allocs_per_op"`
	Why      string  `json:"why"`
	Remedy   string  `json:"remedy"`
	Rule     string  `json:"rule"`
}

type rung struct {
	Step     string  `json:"step"`
	Rule     string  `json:"rule"`
	Allocs   float64 `json:"allocs_per_op"`
	Ns       float64 `json:"ns_per_op"`
	ProvenBy string  `json:"proven_by"`
	Patch    string  `json:"patch"`
}

type rejected struct {
	Step   string `json:"step"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// report is of mallow go what is needed here.
type report struct {
	Version    string `json:"go_version"`
	Benchmarks []struct {
		Name        string  `json:"name"`
		AllocsPerOp float64 `json:"allocs_per_op"`
		BytesPerOp  float64 `json:"bytes_per_op"`
		NsPerOp     float64 `json:"ns_per_op"`
		Operations  uint64  `json:"operations"`
		Checked     bool    `json:"checked"`
	} `json:"benchmarks"`
	Lines    []line     `json:"lines"`
	Ladder   []rung     `json:"ladder"`
	Rejected []rejected `json:"rejected"`
}

const (
	linesKept = 3
	benchtime = "100ms"
)

// try counts and fixes the benchmark, on a copy of the module.
func (m module) try() (*outcome, error) {
	folder, err := m.fetch()
	if err != nil {
		return nil, err
	}
	mallow, err := filepath.Abs(executed)
	if err != nil {
		return nil, err
	}
	stock := command(folder, "go", "test", "-run", "^$", "-bench", m.benchmark, "-benchtime", benchtime, m.pkg)
	counted := command(folder, mallow, "go", "test", "--json", "--bench", m.benchmark, "--benchtime", benchtime, m.pkg)
	var out report
	for _, warm := range []bool{false, true} {
		one, other := *stock, *counted
		if err := run(&one, nil); err != nil {
			return nil, err
		}
		out = report{} // what is null would leave what was there
		if err := run(&other, &out); err != nil {
			return nil, err
		}
		if warm {
			stock, counted = &one, &other
		}
	}
	if len(out.Benchmarks) == 0 {
		return nil, errors.New("no benchmark matches")
	}
	b := out.Benchmarks[0]
	o := &outcome{
		Go: out.Version, Date: time.Now().UTC().Format(time.DateOnly), Benchmark: b.Name, Allocs: b.AllocsPerOp, Bytes: b.BytesPerOp,
		Ns: b.NsPerOp, Operations: b.Operations, Checked: b.Checked, Added: cpu(counted) - cpu(stock),
	}
	for _, l := range out.Lines[:min(linesKept, len(out.Lines))] {
		l.File = strings.TrimPrefix(l.File, folder+"/")
		o.Lines = append(o.Lines, l)
	}
	var fixed report
	if err := run(command(folder, mallow, "go", "fix", "--json", "--bench", m.benchmark, "--benchtime", benchtime, m.pkg), &fixed); err != nil {
		o.Refused = err.Error()
		if at := strings.LastIndex(o.Refused, "mallow: "); at >= 0 { // no paths of this machine
			o.Refused = o.Refused[at:]
		}
	}
	o.Ladder, o.Rejected = fixed.Ladder, fixed.Rejected
	for i := range o.Ladder { // files as they are named in the module
		o.Ladder[i].Patch = strings.ReplaceAll(o.Ladder[i].Patch, "/"+filepath.Join(trees, m.name)+"/", "/")
	}
	return o, nil
}

// run runs a command and reads the JSON that it prints, if it should.
func run(c *exec.Cmd, into any) error {
	var problems strings.Builder
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", c, err, problems.String()+string(out))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}

// cpu is the user and system time of a command and all that it waited for.
func cpu(c *exec.Cmd) float64 {
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
}

func (o *outcome) keep(path string) error {
	content, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o644)
}

func readOutcome(path string) (*outcome, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o := new(outcome)
	return o, json.Unmarshal(content, o)
}
