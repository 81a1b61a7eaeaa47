// Bench measures what recording costs, and libmallow against other mallocs, and writes the tables to bench/results.
// `make bench` and `make bench-malloc` build everything and run it; it runs alone on the machine, by a lock.
//
//	bench/run [-rounds N] [-match TEXT] [-scale N] [-build FOLDER] [-results FOLDER]
//	bench/run -malloc [-group GROUP] [-allocators NAME,...] and the same
//	bench/run -only programs [-install] [-rounds N] [-match TEXT]
//	bench/run -only price [-rounds N]
//	bench/run -only folders [-folders FOLDER,...] [-rounds N] [-match TEXT]
//
// One round runs every workload once in every mode, or on every allocator, all in random order, so that a slow moment of
// the machine falls on all of them alike.
package main

import (
	"cmp"
	"errors"
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
	rounds := flag.Int("rounds", 0, "how often every workload runs in every mode (default 7, with -malloc 5)")
	only := flag.String("only", "recording", "recording, malloc, programs, price or folders: which comparison")
	install := flag.Bool("install", false, "of programs: install Debian packages that are missing (as root)")
	malloc := flag.Bool("malloc", false, "short for -only malloc")
	match := flag.String("match", "", "only workloads whose name contains this")
	group := flag.String("group", "", "of malloc: only rows of this group, one of "+strings.Join(allGroups, ", "))
	allocators := flag.String("allocators", "", "of malloc: only these, by name or as NAME=LIBRARY, with commas between them")
	scale := flag.Int("scale", 1, "divide the work by this, to try the runner out")
	places := flag.String("folders", "", "of folders: where to record, one on each file system (default build/bench,/dev/shm)")
	build := flag.String("build", "build", "where mallow and libmallow.so lie")
	folder := flag.String("results", "", "where the tables go (default bench/results; build/bench/results for a part of -malloc)")
	flag.Parse()
	if *scale < 1 || *rounds < 0 || flag.NArg() > 0 {
		return errors.New("-scale and -rounds are at least 1, and there are no arguments but flags; -h lists them")
	}

	unlock, err := lockMachine()
	if err != nil {
		return err
	}
	defer unlock()
	results := cmp.Or(*folder, filepath.Join("bench", "results"))
	switch {
	case *malloc || *only == "malloc":
		options := mallocOptions{cmp.Or(*rounds, 5), *scale, *match, *group, *allocators, *build, results}
		if *folder == "" && options.isPartial() {
			options.results = filepath.Join("build", "bench", "results")
		}
		return compareAllocators(options, out)
	case *only == "programs":
		page := filepath.Join(cmp.Or(*folder, "docs"), "programs.md")
		return surveyPrograms(programsOptions{cmp.Or(*rounds, 3), *match, *install, *build, page}, out)
	case *only == "price":
		return checkPrice(cmp.Or(*rounds, 15), *build, results, out)
	case *only == "folders":
		given := strings.FieldsFunc(*places, func(r rune) bool { return r == ',' })
		return measureFolders(foldersOptions{cmp.Or(*rounds, 9), *scale, *match, *build, results, given}, out)
	case *only == "recording":
		return measureRecording(cmp.Or(*rounds, 7), *scale, *match, *build, results, out)
	}
	return fmt.Errorf("-only %s: there are recording, malloc, programs, price and folders", *only)
}

// measureRecording measures what recording costs.
func measureRecording(rounds, scale int, match, build, folder string, out io.Writer) error {
	work := absolute(filepath.Join("build", "bench"))
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	measurer, err := newMeasurer(work, build)
	if err != nil {
		return err
	}
	head := heading(rounds)
	works, err := prepare(work, scale)
	if err != nil {
		return err
	}
	works = slices.DeleteFunc(works, func(w workload) bool { return !strings.Contains(w.name, match) })
	all, notes, err := measureAll(measurer, works, rounds)
	if err != nil {
		return err
	}
	text := "# What recording costs\n\n" + head + notes + "\n" + recordingTable(works, all)
	fmt.Fprintln(out, text)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "recording.md"), []byte(text), 0o644)
}

// lockMachine waits until no other benchmark runs here.
func lockMachine() (func(), error) {
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "mallow-bench.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return func() { file.Close() }, nil
	}
	fmt.Fprintf(os.Stderr, "bench: waiting for another benchmark to end, which holds %s\n", file.Name())
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
	err := inRounds(rounds, runs, func(r run) error {
		one, err := measurer.measure(r.work, r.mode)
		if err == nil {
			all.add(r.work, r.mode, one)
		}
		return err
	})
	return all, notes.String(), err
}

// inRounds does all runs in each round, in another order each time, so that a
// slow moment of the machine falls on none of them alone.
func inRounds[T any](rounds int, runs []T, do func(T) error) error {
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
		rand.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		for _, r := range runs {
			if err := do(r); err != nil {
				return err
			}
		}
	}
	return nil
}
