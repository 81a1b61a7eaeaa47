package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"mallow/internal/gocode"
)

const (
	costPage   = "bench/results/go-cost.md"
	costRounds = 5
	// A run without anything takes about so long.
	costTime = 200 * time.Millisecond
)

// modes are the ways in which a benchmark's executable runs.
var modes = []struct {
	name, executable string
	args             []string
	counts           bool
	rounds           int
}{
	{"as it is", "stock.test", nil, false, costRounds},
	{"counting", "counting.test", nil, true, costRounds},
	{"built for counting, which is off", "counting.test", nil, false, costRounds},
	{"runtime's profile of every block", "stock.test", []string{"-test.memprofilerate=1", "-test.memprofile=/dev/null"}, false, 1},
}

// cost is the CPU time of a benchmark in each of the modes: medians of rounds
// in which the modes take turns. Seconds.
type cost struct {
	module     module
	benchmark  *gocode.Benchmark
	operations uint64
	modes      []float64
}

// digest does little but allocate.
var digest = module{"digest", "./test/gocode/testdata/digest", ".", "^BenchmarkWord$"}

// measureCosts tries the benchmarks of those modules that have an outcome, and
// one of our own.
func measureCosts(modules []module) error {
	var all []cost
	for _, m := range append([]module{digest}, modules...) {
		if _, err := readOutcome(filepath.Join(results, m.file())); err != nil && m != digest {
			continue
		}
		fmt.Fprintln(os.Stderr, m.name)
		c, err := m.cost()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		all = append(all, c)
		slices.SortFunc(all, func(a, b cost) int { return cmp.Compare(b.ratio(), a.ratio()) })
		if err := writeCosts(all); err != nil {
			return err
		}
	}
	return nil
}

func (c *cost) ratio() float64 { return c.modes[1] / c.modes[0] }

func (m module) cost() (cost, error) {
	c := cost{module: m, modes: make([]float64, len(modes))}
	folder, err := m.fetch()
	if err != nil {
		return c, err
	}
	into, err := os.MkdirTemp("", "mallow-bench-*")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(into)
	home, err := os.Getwd()
	if err != nil {
		return c, err
	}
	if err := os.Chdir(folder); err != nil {
		return c, err
	}
	defer os.Chdir(home)
	found, benchmark, err := build(m, into)
	if err != nil {
		return c, err
	}
	c.benchmark = benchmark
	run := func(mode int) (float64, error) {
		how := modes[mode]
		args := append([]string{"-test.run=^$", "-test.bench=" + gocode.Exactly(benchmark.Name), fmt.Sprintf("-test.benchtime=%dx", c.operations)}, how.args...)
		run := exec.Command(filepath.Join(into, how.executable), args...)
		run.Dir = found.Dir
		if how.counts {
			run.Env = append(os.Environ(), "MALLOW_GO_COUNTS="+into)
		}
		if out, err := run.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w: %s", run, err, out)
		}
		return cpu(run), nil
	}
	c.operations = max(1, uint64(float64(costTime.Nanoseconds())/benchmark.NsPerOp))
	once, err := run(0)
	if err != nil {
		return c, err
	}
	c.operations = max(1, uint64(float64(c.operations)*costTime.Seconds()/once))
	times := make([][]float64, len(modes))
	for round := range costRounds {
		for i, mode := range modes {
			if round >= mode.rounds {
				continue
			}
			t, err := run(i)
			if err != nil {
				return c, err
			}
			times[i] = append(times[i], t)
		}
	}
	for i := range times {
		slices.Sort(times[i])
		c.modes[i] = times[i][len(times[i])/2]
	}
	return c, nil
}

// build makes the two executables of a package's tests, and counts.
func build(m module, into string) (found gocode.Package, benchmark *gocode.Benchmark, err error) {
	b, err := gocode.NewBuilder(nil)
	if err != nil {
		return found, nil, err
	}
	b.Unexplained = true
	packages, err := b.Packages([]string{m.pkg})
	if err != nil {
		return found, nil, err
	}
	tests, err := b.Tests(packages[0], into)
	if err != nil {
		return found, nil, err
	}
	defer tests.Close()
	benchmarks, err := tests.Benchmarks(gocode.BenchmarkOptions{Bench: m.benchmark, Benchtime: benchtime, Exact: costTime})
	if err != nil || len(benchmarks) == 0 {
		return found, nil, fmt.Errorf("no benchmark: %w", err)
	}
	return packages[0], benchmarks[0], nil
}

func writeCosts(all []cost) error {
	var page strings.Builder
	fmt.Fprintf(&page, `# What counting every allocation costs

CPU time of one benchmark of each of some Go modules, to that of the same number of operations with nothing counted: medians of
%d rounds in which the modes take turns (of the runtime's own profile, with every block sampled, one), each about %s where nothing is counted.
`+"`go run ./bench/go -cost`"+`, %s, %s, %s.

| module | benchmark | allocations/op | ns for each allocation | %s | counting | built for it, but off | runtime's profile of every block |
|---|---|---|---|---|---|---|---|
`, costRounds, costTime, machine(), time.Now().UTC().Format(time.DateOnly), runtime.Version(), "as it is")
	for _, c := range all {
		fmt.Fprintf(&page, "| %s | %s | %.4g | %.0f | %.2f s |", c.module.version, strings.ReplaceAll(c.benchmark.Name, "_", `\_`), c.benchmark.AllocsPerOp,
			1e9*c.modes[0]/float64(c.operations)/c.benchmark.AllocsPerOp, c.modes[0])
		for _, t := range c.modes[1:] {
			fmt.Fprintf(&page, " %.2f |", t/c.modes[0])
		}
		page.WriteString("\n")
	}
	return os.WriteFile(costPage, []byte(page.String()), 0o644)
}

// machine names the processor, the load and the commit.
func machine() string {
	commit, _ := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%s, load %s, commit %s", processor(), strings.Join(strings.Fields(string(load))[:1], ""), strings.TrimSpace(string(commit)))
}

func processor() string {
	content, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
