// Package sampling holds the estimates of sampled recordings against what the programs did.
package sampling

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

type errors struct {
	Allocations float64 `json:"allocations"`
	Bytes       float64 `json:"bytes"`
	LiveBlocks  float64 `json:"live_blocks"`
	LiveBytes   float64 `json:"live_bytes"`
}

type report struct {
	Totals   harness.Totals  `json:"totals"`
	Origins  harness.Origins `json:"origins"`
	Sampling *struct {
		MeanBytes uint64 `json:"mean_bytes"`
		Samples   uint64 `json:"samples"`
		Errors    errors `json:"errors"`
	} `json:"sampling"`
	Sites []struct {
		harness.Site
		Errors *errors `json:"errors"`
	} `json:"sites"`
	Quality struct {
		Warnings []string `json:"warnings"`
	} `json:"quality"`
}

func record(t *testing.T, arguments ...string) (report, harness.Result) {
	t.Helper()
	folder := filepath.Join(harness.TempDir(t), "s.mallow")
	result := harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "record", "-o", folder}, arguments...)})
	if result.Status != 0 {
		t.Fatalf("%s: %s", result.Ending(), result.Errors)
	}
	shown := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--json", folder}})
	var r report
	if err := json.Unmarshal([]byte(shown.Output), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Quality.Warnings) != 0 {
		t.Errorf("%q", r.Quality.Warnings)
	}
	return r, result
}

// truth is what one thread of programs/mixed.c does in a function.
var truth = map[string]struct{ allocations, bytes, liveBlocks, liveBytes float64 }{
	"small":   {20000, 20000 * 24, 0, 0},
	"medium":  {2000, 2000 * 1000, 1000, 1000 * 1000},
	"large":   {40, 40 * 100000, 40, 40 * 100000},
	"shorter": {500, 500 * 200, 0, 0},
	"longer":  {500, 500 * 3000, 0, 0},
}

// scores are how many standard errors the estimates of one figure were off, in many runs.
type scores struct {
	name         string
	sum, squares float64
	n, beyond    int
}

func (s *scores) add(estimate, truth, deviation float64) {
	if deviation == 0 {
		if estimate == truth {
			return
		}
		deviation = 1e-9
	}
	z := (estimate - truth) / deviation
	s.sum += z
	s.squares += z * z
	s.n++
	if math.Abs(z) > 4 {
		s.beyond++
	}
}

// The estimates scatter around the truth as their own standard errors say: the mean of (estimate - truth) / error is 0,
// and its variance 1, within what so many runs can show.
//
// Of some forty figures with tails longer than those of the normal distribution one is too far off by chance in one of 600
// such series. As many runs again, and twice and four times as many, bring it back; an estimate that is wrong they show only
// the clearer.
func TestEstimates(t *testing.T) {
	for _, test := range []struct {
		mean, threads, children, runs int
	}{{16384, 1, 0, 60}, {16384, 3, 0, 25}, {16384, 1, 4, 25}} {
		all := series{}
		var wrong []string
		for runs := test.runs; runs <= 8*test.runs; runs *= 2 {
			for range runs - all.runs {
				all.run(t, test.mean, test.threads, test.children)
			}
			if wrong = all.wrong(); len(wrong) == 0 {
				break
			}
			t.Logf("not yet, after %d runs: %q", runs, wrong)
		}
		for _, s := range all.scores {
			mean, variance := s.moments()
			t.Logf("%d threads, %d children: %-20s n %d, mean z %+.2f, variance %.2f", test.threads, test.children, s.name, s.n, mean, variance)
		}
		for _, complaint := range wrong {
			t.Errorf("%d threads, %d children: %s", test.threads, test.children, complaint)
		}
	}
}

// series is what runs of one kind have shown.
type series struct {
	runs   int
	scores map[string]*scores
}

func (all *series) score(name string, estimate, truth, deviation float64) {
	if all.scores == nil {
		all.scores = map[string]*scores{}
	}
	if all.scores[name] == nil {
		all.scores[name] = &scores{name: name}
	}
	all.scores[name].add(estimate, truth, deviation)
}

func (all *series) run(t *testing.T, mean, threads, children int) {
	t.Helper()
	all.runs++
	works := float64(max(threads, 0) + children)
	r, _ := record(t, "--sample", fmt.Sprint(mean), harness.Program(t, "programs/mixed"), fmt.Sprint(threads), fmt.Sprint(children))
	if r.Sampling == nil || r.Sampling.MeanBytes != uint64(mean) || r.Sampling.Samples == 0 {
		t.Fatalf("sampling: %+v", r.Sampling)
	}
	for _, site := range r.Sites {
		known, ours := truth[site.Function]
		if !ours {
			continue
		}
		if site.Errors == nil {
			t.Fatalf("%s has no errors", site.Function)
		}
		e := site.Errors
		if site.Function == "large" {
			// Nearly all are samples, of 450 all but one: what is written is the truth or one less, by rounding.
			all.score("large bytes", float64(site.Bytes), works*known.bytes, e.Bytes)
			all.score("large live bytes", float64(site.LiveBytes), works*known.liveBytes, e.LiveBytes)
			if off := math.Abs(float64(site.Allocations) - works*known.allocations); off > 10 {
				t.Errorf("large: %v allocations off", off)
			}
			continue
		}
		// The error that is drawn from a handful of samples is a rough one itself: there the true one is taken.
		inAllocations, inBytes := e.Allocations, e.Bytes
		chance := 1 - math.Exp(-known.bytes/known.allocations/float64(mean))
		if samples := works * known.allocations * chance; samples < 40 {
			inAllocations = works * known.allocations * math.Sqrt((1-chance)/samples)
			inBytes = inAllocations * known.bytes / known.allocations
		}
		all.score(site.Function+" allocations", float64(site.Allocations), works*known.allocations, inAllocations)
		all.score(site.Function+" bytes", float64(site.Bytes), works*known.bytes, inBytes)
		// Of what lives no more hardly a sample says anything: the estimate is 0 or nearly so.
		if known.liveBlocks > 0 {
			all.score(site.Function+" live blocks", float64(site.LiveBlocks), works*known.liveBlocks, e.LiveBlocks)
			all.score(site.Function+" live bytes", float64(site.LiveBytes), works*known.liveBytes, e.LiveBytes)
		} else if site.LiveBlocks > 1 {
			t.Errorf("%s: %d live blocks", site.Function, site.LiveBlocks)
		}
	}
}

func (s *scores) moments() (mean, variance float64) {
	return s.sum / float64(s.n), s.squares / float64(s.n)
}

func (all *series) wrong() (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(all.scores)) {
		s := all.scores[name]
		n := float64(s.n)
		mean, variance := s.moments()
		if math.Abs(mean) > 5/math.Sqrt(n) {
			complaints = append(complaints, fmt.Sprintf("%s: biased: %+.2f standard errors on average of %d runs", name, mean, s.n))
		}
		// Where nearly every block is a sample the error is nearly 0, and rounding is not.
		if strings.HasPrefix(name, "large") {
			continue
		}
		if variance < 1-6*math.Sqrt(2/n) || variance > 1+6*math.Sqrt(2/n) {
			complaints = append(complaints, fmt.Sprintf("%s: the variance of the scores is %.2f, not 1", name, variance))
		}
		if s.beyond > 1+s.n/100 {
			complaints = append(complaints, fmt.Sprintf("%s: %d of %d more than 4 standard errors off", name, s.beyond, s.n))
		}
	}
	return complaints
}

// The errors of the totals allow for what left no sample: small blocks of which there are fewer than one sample stands for,
// or all of a program.
func TestUnseen(t *testing.T) {
	var all struct{ allocations, bytes, liveBytes float64 }
	for _, of := range truth {
		all.allocations += of.allocations
		all.bytes += of.bytes
		all.liveBytes += of.liveBytes
	}
	beyond := map[string]int{}
	const runs = 40
	for range runs {
		r, _ := record(t, "--sample", "2M", harness.Program(t, "programs/mixed"), "1", "0")
		for name, off := range map[string]float64{
			"allocations": (float64(r.Totals.Allocations) - all.allocations) / r.Sampling.Errors.Allocations,
			"bytes":       (float64(r.Totals.Bytes) - all.bytes) / r.Sampling.Errors.Bytes,
			"live bytes":  (float64(r.Totals.LiveBytes) - all.liveBytes) / r.Sampling.Errors.LiveBytes,
		} {
			if math.Abs(off) > 2 {
				beyond[name]++
			}
		}
	}
	// One in twenty is expected; eleven are, if so, once in a million series.
	for name, n := range beyond {
		if n > 10 {
			t.Errorf("%d of %d estimates of %s are more than twice their standard error off", n, runs, name)
		}
	}
}

// An estimate is never shown as a count.
func TestMarked(t *testing.T) {
	_, result := record(t, "--sample", "64K", harness.Program(t, "programs/mixed"), "1", "0")
	for _, words := range []string{"mallow: ~", "estimated from ", "standard errors", " ~"} {
		if !strings.Contains(result.Errors, words) {
			t.Errorf("no %q in\n%s", words, result.Errors)
		}
	}
	const none = "no block was a sample, one in 1.07 GB on average: what was allocated is not known"
	if _, result := record(t, "--sample", "1G", "/bin/true"); !strings.Contains(result.Errors, none) {
		t.Errorf("no %q in\n%s", none, result.Errors)
	}
	folder := filepath.Join(harness.TempDir(t), "m.mallow")
	harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "-o", folder, "--sample", "4K", harness.Program(t, "programs/mixed"), "1", "0"}})
	for _, show := range []struct{ arguments, says string }{
		{"top -n 1", "estimates from samples, one in 4.10 kB"}, {"top -n 1 --json", `"sampling_mean_bytes":4096`},
		{"report --format memanalyze", "the recording is sampled"},
	} {
		shown := harness.Run(t, harness.Command{Arguments: append(append([]string{harness.CLI(t)}, strings.Fields(show.arguments)...), folder)})
		if !strings.Contains(shown.Output+shown.Errors, show.says) {
			t.Errorf("%s: no %q in\n%s%s", show.arguments, show.says, shown.Output, shown.Errors)
		}
	}
	exact, _ := record(t, harness.Program(t, "programs/mixed"), "1", "0")
	if exact.Sampling != nil || exact.Sites[0].Errors != nil {
		t.Errorf("%+v", exact.Sampling)
	}
}

// Every block is a sample when the mean is a byte.
func TestAll(t *testing.T) {
	r, _ := record(t, "--sample", "1", harness.Program(t, "programs/mixed"), "1", "0")
	for _, site := range r.Sites {
		if known, ours := truth[site.Function]; ours && (float64(site.Allocations) != known.allocations ||
			float64(site.Bytes) != known.bytes || float64(site.LiveBytes) != known.liveBytes || site.Errors.Allocations > 1) {
			t.Errorf("%+v", site)
		}
	}
}

// The program frees as many blocks as it allocates; libc, which allocates too where libraries are loaded, is not counted in.
func TestFreesWithoutLibc(t *testing.T) {
	r, _ := record(t, "--sample", "1", harness.Program(t, "programs/unload"),
		harness.Program(t, "programs/plugin_a.so"), harness.Program(t, "programs/plugin_b.so"))
	if got := r.Totals.Frees - r.Origins.Libc.Frees; got != 850 || r.Origins.Libc.Frees < 500 {
		t.Errorf("%d frees of the program, want 850; %d of libc", got, r.Origins.Libc.Frees)
	}
}

// A child may free what its parent made before it does anything else.
func TestInheritedSamples(t *testing.T) {
	r, _ := record(t, "--sample", "1", harness.Program(t, "programs/children"))
	if got := r.Totals.Frees; got != 19001 {
		t.Errorf("%d frees of blocks of their own processes, want 19001", got)
	}
}

// A thread's samples in a span whose side records another thread is just making are seen to end.
func TestOverlapping(t *testing.T) {
	r, run := record(t, "--sample", "1", harness.Program(t, "programs/overlapping"))
	var calls float64
	if _, err := fmt.Sscan(run.Output, &calls); err != nil || calls < 2 {
		t.Fatalf("%q: %v", run.Output, err)
	}
	var allocations, live float64
	for _, site := range r.Sites {
		if site.Function == "hasty" {
			allocations += float64(site.Allocations)
			live += float64(site.LiveBlocks)
		}
	}
	if allocations != 6*calls || live != 3*calls {
		t.Errorf("%v calls made %v blocks, of which %v live", calls, allocations, live)
	}
}

// How long a sample lives is told by all that happens meanwhile, most of which is no sample.
func TestLivesAmongOthers(t *testing.T) {
	for _, sample := range [][]string{nil, {"--sample", "8K"}} {
		r, _ := record(t, append(sample, harness.Program(t, "programs/resized"))...)
		lived := uint64(0)
		for _, site := range r.Sites {
			if site.Function == "lived" && site.Bytes > 50000*site.Allocations {
				lived += site.Allocations
				if site.ShortLived > 0 {
					t.Errorf("%q: %d of %d lived shortly", sample, site.ShortLived, site.Allocations)
				}
			}
		}
		if lived < 90 {
			t.Errorf("%q: %d blocks", sample, lived)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ arguments, says string }{
		{"--sample 0 true", "--sample takes a number of bytes"},
		{"--sample 2G true", "--sample takes a number of bytes"},
		{"--sample x true", "invalid argument"},
		{"--sample 4K --log true", "does not go with --sample"},
		{"--stop --pid 1 --sample 4K", "it takes only --pid"},
	} {
		run := harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "record"}, strings.Fields(test.arguments)...), Directory: t.TempDir()})
		if run.Status != 125 || !strings.Contains(run.Errors, test.says) || strings.Count(run.Errors, "\n") != 1 {
			t.Errorf("record %s: %s, %q", test.arguments, run.Ending(), run.Errors)
		}
	}
}

// What `go tool pprof` shows is what the program did.
func TestPprof(t *testing.T) {
	folder := filepath.Join(harness.TempDir(t), "p.mallow")
	harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "-o", folder, harness.Program(t, "programs/mixed"), "1", "0"}})
	exported := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "report", "--format", "pprof", folder}})
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	if err := os.WriteFile(file, []byte(exported.Output), 0o600); err != nil || exported.Status != 0 {
		t.Fatal(err, exported.Errors)
	}
	for sample, wanted := range map[string]map[string]float64{
		"alloc_objects": {"small": 20000, "medium": 2000, "large": 40, "shorter": 500, "longer": 500},
		"alloc_space":   {"small": 480000, "medium": 2000000, "large": 4000000, "shorter": 100000, "longer": 1500000},
		"inuse_objects": {"medium": 1000, "large": 40},
		"inuse_space":   {"medium": 1000000, "large": 4000000},
	} {
		top, err := exec.Command("go", "tool", "pprof", "-top", "-nodefraction=0", "-unit=B", "-sample_index="+sample, file).CombinedOutput()
		if err != nil {
			t.Skipf("go tool pprof: %v\n%s", err, top)
		}
		flat := map[string]float64{}
		for _, line := range strings.Split(string(top), "\n") {
			if f := strings.Fields(line); len(f) == 6 && f[0] != "0" {
				var n float64
				if _, err := fmt.Sscanf(strings.TrimSuffix(f[0], "B"), "%g", &n); err == nil {
					flat[f[5]] = n
				}
			}
		}
		for function, n := range wanted {
			if flat[function] != n {
				t.Errorf("%s of %s: %v, not %v\n%s", sample, function, flat[function], n, top)
			}
		}
	}
}

// The peak of samples is none of the program's: no form of the report shows one.
func TestNoPeak(t *testing.T) {
	folder := filepath.Join(harness.TempDir(t), "s.mallow")
	recorded := harness.Run(t, harness.Command{Arguments: []string{
		harness.CLI(t), "record", "--sample", "16384", "-o", folder, "--", harness.Program(t, "programs/mixed"), "1", "0",
	}})
	if recorded.Status != 0 || strings.Contains(recorded.Errors, " peak,") || strings.Contains(recorded.Errors, "|peak|") {
		t.Errorf("%s: %s", recorded.Ending(), recorded.Errors)
	}
	show := func(flags ...string) harness.Result {
		t.Helper()
		return harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "report"}, append(flags, folder)...)})
	}
	for form, word := range map[string]string{"json": `"peak_bytes":`, "speedscope": "peak"} {
		output := strings.ReplaceAll(show("--format", form).Output, word+"null", "")
		if output == "" || strings.Contains(output, word) {
			t.Errorf("%s: %.300s", form, output)
		}
	}
	if sites := show("--format", "csv").Output; !strings.Contains(sites, "shorter") {
		t.Error(sites)
	}
	for _, flags := range [][]string{{"--sort", "peak"}, {"--format", "folded", "--metric", "peak"}} {
		if r := show(flags...); r.Status != 1 || !strings.Contains(r.Errors, "the peak is not known") {
			t.Errorf("%q: %s: %s%s", flags, r.Ending(), r.Output, r.Errors)
		}
	}
	compared := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "diff", "--json", folder, folder}})
	if !strings.Contains(compared.Output, `"peak_bytes":{"old":null,"new":null}`) {
		t.Errorf("%s: %.300s", compared.Ending(), compared.Output)
	}
}
