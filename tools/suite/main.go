// Suite runs every test of the repository and ends with one line,
// "N passed, N failed". It is what `make test` calls after it has built mallow.
//
//	suite [-j JOBS] [-only LABEL] [STAGE...]
//
// Each stage writes all it has to say to build/log/STAGE.log; the terminal
// gets one line a stage, and what failed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// stage is one part of the suite, in the order in which it runs: what fails
// quickly and often comes first.
type stage struct {
	name string
	run  func(r *runner) (counts, error)
}

var stages = []stage{
	{"tidy", tidy},
	{"go", goTests},
	{"release", crossProcess},
	{"dev", unitTests("dev")},
	{"asan", unitTests("asan")},
	{"tsan", unitTests("tsan")},
}

func main() {
	jobs := flag.Int("j", 2, "how many things to do at once")
	only := flag.String("only", "", "run only the long tests with this ctest label")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	chosen := stages
	if *only != "" {
		chosen = []stage{{*only, labelled(*only)}}
	} else if names := flag.Args(); len(names) > 0 {
		chosen = slices.DeleteFunc(slices.Clone(stages), func(s stage) bool { return !slices.Contains(names, s.name) })
	}
	if !runAll(chosen, root, *jobs) {
		os.Exit(1)
	}
}

// runAll runs the stages one after the other, and all of them whatever fails.
func runAll(chosen []stage, root string, jobs int) bool {
	logs := filepath.Join(root, "build", "log")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	var total counts
	start := time.Now()
	for _, s := range chosen {
		stageStart := time.Now()
		r, err := newRunner(root, filepath.Join(logs, s.name+".log"), jobs)
		var c counts
		if err == nil {
			c, err = s.run(r)
			r.close()
		}
		if err != nil {
			// What could not run counts, so that the last line cannot hide it.
			c.failed++
			c.failures = append(c.failures, failure{name: s.name, output: err.Error()})
		}
		fmt.Printf("%-8s %5d passed %3d failed %3d skipped  %s\n", s.name, c.passed, c.failed, c.skipped, seconds(stageStart))
		for _, f := range c.failures {
			fmt.Printf("FAILED %s: %s\n%s\n", s.name, f.name, f.output)
		}
		for _, reason := range c.skips {
			fmt.Printf("skipped %s\n", reason)
		}
		total.add(c)
	}
	fmt.Printf("all of it took %s; the logs are in build/log\n", seconds(start))
	fmt.Printf("%d passed, %d failed\n", total.passed, total.failed)
	return total.failed == 0
}

func seconds(since time.Time) string {
	return strconv.FormatFloat(time.Since(since).Seconds(), 'f', 0, 64) + " s"
}
