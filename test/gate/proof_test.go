package gate

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"mallow/bench/circumstances"
	"mallow/internal/gate"
	"mallow/test/harness"
)

// subject is a program that is gated again and again.
type subject struct {
	name    string
	command string
	build   string // makes it; "" for a program of Debian
	extra   string // added to build: some allocations more; "" where the budget is lowered instead
	class   gate.Class
	by      float64 // by which part of the allocations the budget is lowered; 0: by one of them
}

func subjects(input, repository string) []subject {
	const compile = "c++ -std=c++20 -g -O1 -fno-builtin -pthread -o %[1]s %[1]s.cc "
	return []subject{
		{name: "sqlite3", command: `sqlite3 :memory: "create table t(a integer, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) insert into t select i, 'row ' || i from n; create index x on t(b); select count(*) from t;"`, class: gate.Exact},
		{name: "git", command: "git -C " + repository + " -c safe.directory='*' log -40 --stat", class: gate.Exact},
		{name: "python3", command: `PYTHONHASHSEED=0 /usr/bin/python3 -c "import json; print(len(json.dumps({str(i): [i] * 3 for i in range(2000)})))"`, class: gate.Exact},
		{name: "sort", command: "sort --parallel=2 " + input, class: gate.Exact},
		{name: "texts", command: "./texts", build: fmt.Sprintf(compile, "texts"), extra: "-DEXTRA=1", class: gate.Exact},
		{name: "perl", command: `perl -e 'my %h; $h{"key $_"} = [$_] for 1..5000; print scalar keys %h'`, class: gate.Bounded, by: 0.01},
		{name: "xz", command: "xz -T2 -1 --block-size=64KiB -k -c " + input, class: gate.Bounded, by: 0.05},
		{name: "queue", command: "./queue", build: fmt.Sprintf(compile, "queue"), extra: "-DEXTRA=2", class: gate.Bounded},
	}
}

// TestProof gates programs that are deterministic, or nearly so, fifty times without a change, and once with one more
// allocation (in those whose counts vary, one part of a hundred more). It takes minutes, so it runs only when asked to
// (make prove-gate), and writes what it finds to the file that MALLOW_GATE_PROOF names.
func TestProof(t *testing.T) {
	file := os.Getenv("MALLOW_GATE_PROOF")
	if file == "" {
		t.Skip("MALLOW_GATE_PROOF names no file for the result")
	}
	runs := 50
	if n, err := strconv.Atoi(os.Getenv("MALLOW_GATE_RUNS")); err == nil {
		runs = n // a quick look
	}
	var lines strings.Builder
	for i := range 30_000 {
		fmt.Fprintln(&lines, i*7919%30_011)
	}
	heading := circumstances.Heading(harness.Root(), "make prove-gate")
	all := subjects("input", harness.Root())
	rows := make([]string, len(all))
	t.Run("of", func(t *testing.T) {
		for i, s := range all {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				r := newRepository(t)
				r.copy("texts.cc")
				r.copy("queue.cc")
				r.write("input", lines.String())
				rows[i] = s.run(t, r, runs)
			})
		}
	})
	text := "# Programs gated without a change, and with one more allocation\n\n" + heading +
		"\nEach gate runs its program three times. The spread is that of the figures which the gates found, least to most.\n\n" +
		"| program | class | allocations | bytes | peak | false alarms | one more |\n|---|---|---|---|---|---|---|\n" + strings.Join(rows, "")
	t.Logf("\n%s", text)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

func (s *subject) run(t *testing.T, r *repository, runs int) string {
	head := fmt.Sprintf("[benchmark.%s]\ncommand = '''%s'''\nclean_env = true\n", s.name, s.command)
	r.write("mallow.toml", head)
	s.compile(r, "")
	flags := []string{"--no-base", "--no-history"}
	r.gate(0, append([]string{"--update"}, flags...)...)
	seen := make(map[string][2]float64)
	class := make(map[string]gate.Class)
	alarms := 0
	for range runs {
		result := r.run(append([]string{harness.CLI(t), "gate", "--json"}, flags...)...)
		found := parsed(t, result)
		if result.Status != 0 {
			alarms++
			t.Errorf("%s: %s\n%s", s.name, result.Ending(), result.Output)
		}
		for _, c := range found.Checks {
			if c.Now == nil {
				t.Fatalf("%s: %+v", s.name, c)
			}
			ends, known := seen[c.Metric]
			if !known {
				ends = [2]float64{*c.Now, *c.Now}
			}
			seen[c.Metric] = [2]float64{min(ends[0], *c.Now), max(ends[1], *c.Now)}
			if class[c.Metric] != gate.Bounded && class[c.Metric] != gate.Noisy {
				class[c.Metric] = c.Class
			}
		}
	}
	caught := s.more(r, flags)
	if !strings.HasPrefix(caught, "caught") {
		t.Errorf("%s: one more allocation passes: %s", s.name, caught)
	}
	if s.class == gate.Exact && class["allocations"] != gate.Exact {
		t.Errorf("%s is %s", s.name, class["allocations"])
	}
	spread := func(metric string) string {
		ends := seen[metric]
		if ends[0] == ends[1] {
			return fmt.Sprintf("%.0f, spread 0", ends[0])
		}
		return fmt.Sprintf("%.0f, spread %.3f %%", ends[0], 100*(ends[1]-ends[0])/ends[1])
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %d of %d | %s |\n",
		s.name, class["allocations"], spread("allocations"), spread("bytes"), spread("peak"), alarms, runs, caught)
}

// compile makes the program, once for many gates.
func (s *subject) compile(r *repository, extra string) {
	if s.build == "" {
		return
	}
	if result := r.run("sh", "-c", s.build+extra); result.Status != 0 {
		r.Fatalf("%s: %s", s.build, result.Errors)
	}
}

// more allocates more than the budget has, and says what the gate says.
func (s *subject) more(r *repository, flags []string) string {
	how := "caught: " + s.extra
	if s.extra != "" {
		s.compile(r, s.extra)
	} else {
		how = "caught: a budget of one less"
		before := r.read("mallow.toml")
		_, figure, _ := strings.Cut(before, "\nallocations = ")
		figure, _, _ = strings.Cut(figure, "\n")
		most := figure[strings.LastIndexAny(figure, " [")+1:]
		n, err := strconv.ParseFloat(strings.NewReplacer("_", "", "]", "").Replace(most), 64)
		if err != nil {
			r.Fatal(err)
		}
		lowered := n - 1
		if s.by > 0 {
			how = fmt.Sprintf("caught: a budget of %.0f %% less", 100*s.by)
			lowered = float64(int(n * (1 - s.by)))
		}
		r.write("mallow.toml", strings.Replace(before, "\nallocations = "+figure, fmt.Sprintf("\nallocations = %.0f", lowered), 1))
	}
	result := r.run(append([]string{harness.CLI(r), "gate", "--json"}, flags...)...)
	found := parsed(r, result)
	c := r.check(found, s.name, "allocations")
	if result.Status != 2 || c.Verdict != gate.Regression {
		return c.Message
	}
	return how
}
