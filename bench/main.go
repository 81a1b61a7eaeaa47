// Bench measures what recording costs and whether libmallow is slower than glibc, and writes the tables to
// bench/results. `make bench` builds everything and runs it; it runs alone on the machine, by a lock.
//
//	bench/run [-rounds N] [-only recording|allocator] [-match TEXT] [-scale N] [-build FOLDER] [-results FOLDER]
//
// One round runs every workload once in every mode, all in random order, so that a slow moment of the machine falls on
// all of them alike.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if err := bench(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func bench(out io.Writer) error {
	rounds := flag.Int("rounds", 7, "how often every workload runs in every mode")
	only := flag.String("only", "", "recording or allocator: only that table")
	match := flag.String("match", "", "only workloads whose name contains this")
	scale := flag.Int("scale", 1, "divide the work by this, to try the runner out")
	build := flag.String("build", "build", "where mallow and libmallow.so lie")
	folder := flag.String("results", filepath.Join("bench", "results"), "where the tables go")
	flag.Parse()

	unlock, err := lockMachine()
	if err != nil {
		return err
	}
	defer unlock()
	work, err := filepath.Abs(filepath.Join("build", "bench"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	measurer, err := newMeasurer(work, *build)
	if err != nil {
		return err
	}
	of := commit() // now: the tree may move on while this runs
	recording, allocator, err := prepare(work, *scale)
	if err != nil {
		return err
	}
	for _, table := range []struct {
		name, title string
		works       []workload
		write       func([]workload, results) string
	}{
		{"recording", "What recording costs", recording, recordingTable},
		{"allocator", "libmallow against glibc's malloc", allocator, allocatorTable},
	} {
		if *only != "" && *only != table.name {
			continue
		}
		works := slices.DeleteFunc(table.works, func(w workload) bool { return !strings.Contains(w.name, *match) })
		head := heading(of, *rounds)
		all, notes, err := measureAll(measurer, works, *rounds)
		if err != nil {
			return err
		}
		text := "# " + table.title + "\n\n" + head + notes + "\n" + table.write(works, all)
		fmt.Fprintln(out, text)
		if err := os.MkdirAll(*folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*folder, table.name+".md"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// lockMachine waits until no other benchmark runs here.
func lockMachine() (func(), error) {
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "mallow-bench.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	return func() { file.Close() }, nil
}

func newMeasurer(folder, build string) (measurer, error) {
	result := measurer{folder: folder}
	var err error
	if result.library, err = filepath.Abs(filepath.Join(build, "libmallow.so")); err != nil {
		return result, err
	}
	if result.cli, err = filepath.Abs(filepath.Join(build, "mallow")); err != nil {
		return result, err
	}
	for _, path := range []string{result.library, result.cli} {
		if _, err := os.Stat(path); err != nil {
			return result, fmt.Errorf("%s is not there: run `make` first", path)
		}
	}
	return result, nil
}

// measureAll runs the rounds; notes say what was left out.
func measureAll(measurer measurer, works []workload, rounds int) (results, string, error) {
	type run struct {
		work workload
		mode mode
	}
	var runs []run
	var notes strings.Builder
	_, missing := exec.LookPath("heaptrack")
	if missing != nil {
		notes.WriteString("- heaptrack is not installed (Debian package heaptrack): its rows are missing\n")
	}
	for _, work := range works {
		if work.note != "" {
			fmt.Fprintf(&notes, "- %s\n", work.note)
		}
		for _, mode := range work.modes {
			if mode != heaptrack || missing == nil {
				runs = append(runs, run{work, mode})
			}
		}
	}
	all := results{}
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
		rand.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		for _, run := range runs {
			one, err := measurer.measure(run.work, run.mode)
			if err != nil {
				return nil, "", err
			}
			all.add(run.work, run.mode, one)
		}
	}
	return all, notes.String(), nil
}
