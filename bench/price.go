package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mallow/bench/circumstances"
	"mallow/internal/advise/price"
	"mallow/internal/calibrate"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// cure is a program with many allocations, and the same without most of them.
type cure struct {
	name            string
	how             string
	wasteful, cured workload
	swapsMalloc     bool // as many allocations, but cheaper ones
}

// checkPrice holds what the price of malloc promises for cures against what they bring, and writes the table.
func checkPrice(rounds int, build, folder string, out io.Writer) error {
	work := absolute(filepath.Join("build", "bench"))
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	library := absolute(filepath.Join(build, "libmallow.so"))
	cures, err := prepareCures(work, library)
	if err != nil {
		return err
	}
	if err := os.Setenv("MALLOW_LIB", library); err != nil {
		return err
	}
	costs := calibrate.Costs(price.Glibc)
	if costs == nil {
		return fmt.Errorf("what malloc costs cannot be measured here: is %s built?", build)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# What a cure saves, promised and measured\n\n%s\n", priceHeading(rounds))
	fmt.Fprintf(&table, "| program | cure | allocations | cured | CPU s | estimated | in malloc | said | cured CPU s | saved | promised |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	cli := absolute(filepath.Join(build, "mallow"))
	var shares []share
	for _, c := range cures {
		row, found, err := checkCure(c, rounds, work, cli, costs)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		shares = append(shares, found)
		fmt.Fprintln(out, row)
		fmt.Fprintln(&table, row)
	}
	table.WriteString(priceReading(shares))
	return os.WriteFile(filepath.Join(folder, "price.md"), []byte(table.String()), 0o644)
}

func priceHeading(rounds int) string {
	return circumstances.Heading(".", benchCommand()) + fmt.Sprintf("- method: CPU is user and system time on glibc's malloc, the median of %d interleaved runs; estimated is what mallow takes the unrecorded program's CPU time for, "+
		"from the middle one of %d recordings; in malloc is the share of samples, one a millisecond of CPU time over %d runs, within libc's malloc and free, said what mallow says of it; "+
		"saved is the share of CPU time that the cure brings, promised what mallow says of the allocations that it removes\n",
		rounds, recordings, sampledRuns)
}

// share is what one row of the table says, each a share of the program's CPU time.
type share struct {
	name                            string
	inMalloc, said, saved, promised float64
}

// priceReading says what the rows come to.
func priceReading(shares []share) string {
	least, most := math.Inf(1), 0.0
	var over []string
	for _, s := range shares {
		least, most = min(least, s.said/s.inMalloc), max(most, s.said/s.inMalloc)
		if s.promised > s.saved {
			over = append(over, fmt.Sprintf("%s (%.2f times what is saved)", s.name, s.promised/s.saved))
		}
	}
	tooMuch := "In no row more is promised than is saved."
	if len(over) > 0 {
		tooMuch = "More is promised than is saved of " + strings.Join(over, ", ") + "."
	}
	return fmt.Sprintf("\nWhat mallow says of malloc and free is between %.2f and %.2f times what the samples say. %s\n", least, most, tooMuch) + `
A cure saves what malloc takes and more: its blocks lie closer together, and what was done with the old ones is not done any more. Of that nothing is promised.
Where estimated differs from the CPU time measured, another malloc changes more than the time in malloc itself: python3 on glibc's gives memory back and faults
it in again.
`
}

// prepareCures builds the programs and their inputs.
func prepareCures(folder, library string) ([]cure, error) {
	sql := filepath.Join(folder, "price.sql")
	if err := writeSQL(sql, 4); err != nil {
		return nil, err
	}
	if err := run("gcc", "-O2", "-shared", "-fPIC", "-o", filepath.Join(folder, "where.so"), filepath.Join("bench", "price", "where.c")); err != nil {
		return nil, err
	}
	sqlite := workload{name: "sqlite3", command: []string{"/usr/bin/sqlite3", ":memory:"}, input: sql}
	documents := absolute(filepath.Join("bench", "workloads", "documents.py"))
	python := func(malloc string) workload {
		return workload{name: "python3", command: []string{"/usr/bin/python3", documents, "1"}, settings: []string{"PYTHONMALLOC=" + malloc, "PYTHONHASHSEED=0"}}
	}
	cures := []cure{
		{"sqlite3", "libmallow in the place of glibc's malloc", sqlite, with(sqlite, "LD_PRELOAD="+library), true},
		{"python3", "Python's own allocator in the place of malloc", python("malloc"), python("pymalloc"), false},
	}
	for _, example := range []struct{ name, how string }{
		{"index", "a node-based index, rebuilt on vectors"},
		{"logs", "string copies, replaced by views"},
		{"json", "a tree of small nodes, from a pool"},
	} {
		c := cure{name: "examples/" + example.name, how: example.how}
		for kind, w := range map[string]*workload{"wasteful": &c.wasteful, "cured": &c.cured} {
			program := filepath.Join(folder, example.name+"."+kind)
			if err := run("g++", "-std=c++17", "-O2", "-g", "-pthread", "-o", program, filepath.Join("examples", example.name, kind, example.name+".cc")); err != nil {
				return nil, err
			}
			*w = workload{name: example.name, command: []string{program}}
		}
		cures = append(cures, c)
	}
	return cures, nil
}

func with(w workload, setting string) workload {
	w.settings = append(append([]string{}, w.settings...), setting)
	return w
}

// recordings of each program: the middle one counts.
const recordings = 3

func checkCure(c cure, rounds int, folder, cli string, costs *price.Costs) (row string, found share, err error) {
	var wastefulTimes, curedTimes []float64
	for range rounds {
		for w, times := range map[*workload]*[]float64{&c.wasteful: &wastefulTimes, &c.cured: &curedTimes} {
			s, err := runMeasured(w.command, w.settings, *w)
			if err != nil {
				return "", share{}, err
			}
			*times = append(*times, s.cpu.Seconds())
		}
	}
	wasteful, cured := median(wastefulTimes), median(curedTimes)
	before, err := priced(c.wasteful, folder, cli, costs)
	if err != nil {
		return "", share{}, err
	}
	after, err := priced(c.cured, folder, cli, costs)
	if err != nil {
		return "", share{}, err
	}
	inMalloc, err := sampleMalloc(c.wasteful, folder)
	if err != nil {
		return "", share{}, err
	}
	less := before.Allocating() - after.Allocating()
	if c.swapsMalloc {
		less = before.Allocating() - before.OnLibmallow()
	}
	found = share{c.name, inMalloc, before.Allocating() / before.Nanoseconds(), 1 - cured/wasteful, less / before.Nanoseconds()}
	return fmt.Sprintf("| %s | %s | %d | %d | %.3f | %.3f | %.1f %% | %.1f %% | %.3f | %.1f %% | %.1f %% |", c.name, c.how, before.Calls(), after.Calls(),
		wasteful, before.Nanoseconds()/1e9, 100*found.inMalloc, 100*found.said, cured, 100*found.saved, 100*found.promised), found, nil
}

// priced records a program some times and returns the run of the middle one.
func priced(w workload, folder, cli string, costs *price.Costs) (*price.Run, error) {
	var runs []*price.Run
	for range recordings {
		name := filepath.Join(folder, "price.mallow")
		os.RemoveAll(name)
		defer os.RemoveAll(name)
		if _, err := runMeasured(append([]string{cli, "record", "-o", name, "--"}, w.command...), w.settings, w); err != nil {
			return nil, err
		}
		rec, err := recording.Open(name)
		if err != nil {
			return nil, err
		}
		symbolizer := symbolize.New(symbolize.Options{})
		r := price.For(profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: symbolizer}), costs)
		symbolizer.Close()
		if r == nil {
			return nil, fmt.Errorf("the recording does not have its CPU time")
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *price.Run) int { return cmp.Compare(a.Nanoseconds(), b.Nanoseconds()) })
	return runs[len(runs)/2], nil
}

// sampledRuns of each program tell how much of its time is malloc's.
const sampledRuns = 10

// sampleMalloc returns the share of a program's CPU time within libc's malloc and free.
func sampleMalloc(w workload, folder string) (float64, error) {
	ranges, err := mallocRanges()
	if err != nil {
		return 0, err
	}
	counts := filepath.Join(folder, "where.txt")
	os.Remove(counts)
	defer os.Remove(counts)
	w.settings = append(append([]string{}, w.settings...), "LD_PRELOAD="+filepath.Join(folder, "where.so"), "WHERE="+counts, "WHERE_RANGES="+ranges)
	for range sampledRuns {
		if _, err := runMeasured(w.command, w.settings, w); err != nil {
			return 0, err
		}
	}
	content, err := os.ReadFile(counts)
	if err != nil {
		return 0, err
	}
	var samples, inside float64
	for line := range strings.Lines(string(content)) {
		var all, in float64
		if _, err := fmt.Sscan(line, &all, &in); err != nil {
			return 0, err
		}
		samples, inside = samples+all, inside+in
	}
	return inside / max(1, samples), nil
}

// mallocFunctions are those of glibc's malloc, of which libc6-dbg has the names.
var mallocFunctions = regexp.MustCompile(`^(malloc|calloc|realloc|free|_int_malloc|_int_free|_int_realloc|malloc_consolidate|` +
	`(unlink_chunk|sysmalloc|systrim|munmap_chunk|arena_get|tcache)[a-z0-9_.]*|__brk|__sbrk|mmap|munmap)$`)

// mallocRanges returns where they lie in libc, as where.c takes it.
func mallocRanges() (string, error) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	file, err := elf.Open(libc)
	if err != nil {
		return "", err
	}
	defer file.Close()
	note := file.Section(".note.gnu.build-id")
	if note == nil {
		return "", fmt.Errorf("%s has no build id", libc)
	}
	content, err := note.Data()
	if err != nil || len(content) < 36 {
		return "", fmt.Errorf("%s has no build id", libc)
	}
	id := fmt.Sprintf("%x", content[16:])
	debug, err := elf.Open("/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug")
	if err != nil {
		return "", fmt.Errorf("the names of libc's functions (libc6-dbg) are needed: %w", err)
	}
	defer debug.Close()
	symbols, err := debug.Symbols()
	if err != nil {
		return "", err
	}
	seen := make(map[string]bool)
	var ranges strings.Builder
	for _, s := range symbols {
		text := fmt.Sprintf("%x-%x,", s.Value, s.Value+s.Size)
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && mallocFunctions.MatchString(s.Name) && !seen[text] {
			seen[text] = true
			ranges.WriteString(text)
		}
	}
	return ranges.String(), nil
}
