package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The labels of tests that do not run in release, or not in every `make test`.
const (
	unitLabel   = "unit"
	fuzzLabel   = "fuzz"
	oracleLabel = "oracle"
	glibcLabel  = "glibc"
	peersLabel  = "peers"
	stormsLabel = "storms"
	faultsLabel = "faults"
	redisLabel  = "redis"
)

func buildRelease(r *runner) error {
	if err := r.do("cmake", "--preset", "release", "-DMALLOW_TESTS=ON"); err != nil {
		return err
	}
	return r.do("cmake", "--build", "build/release", r.jobsFlag())
}

// crossProcess runs the suites below test/ on what users get.
func crossProcess(r *runner) (counts, error) {
	if err := buildRelease(r); err != nil {
		return counts{}, err
	}
	others := []string{unitLabel, fuzzLabel, oracleLabel, glibcLabel, peersLabel, stormsLabel, faultsLabel, redisLabel}
	return ctest(r, "release", "-LE", "^("+strings.Join(others, "|")+")$")
}

// labelled runs the long tests of one label. Fuzzers need the checks of the
// unit tests; all others are for what users get.
func labelled(label string) func(*runner) (counts, error) {
	preset, build := "release", buildRelease
	if label == fuzzLabel {
		preset, build = "dev", buildUnitTests("dev")
	}
	return func(r *runner) (counts, error) {
		if err := build(r); err != nil {
			return counts{}, err
		}
		return ctest(r, preset, "-L", "^"+label+"$", "--timeout", "7200")
	}
}

// unitTests builds and runs the unit tests of libmallow in one preset.
func unitTests(preset string) func(*runner) (counts, error) {
	return func(r *runner) (counts, error) {
		if err := buildUnitTests(preset)(r); err != nil {
			return counts{}, err
		}
		return ctest(r, preset, "-L", "^"+unitLabel+"$")
	}
}

func buildUnitTests(preset string) func(*runner) error {
	return func(r *runner) error {
		if err := r.do("cmake", "--preset", preset); err != nil {
			return err
		}
		return r.do("cmake", "--build", "build/"+preset, r.jobsFlag(), "--target", "unit_tests")
	}
}

// junit is what ctest writes about its tests.
type junit struct {
	Cases []struct {
		Name   string `xml:"name,attr"`
		Status string `xml:"status,attr"`
		Output string `xml:"system-out"`
	} `xml:"testcase"`
}

func ctest(r *runner, preset string, selection ...string) (counts, error) {
	file := filepath.Join(r.root, "build", "log", preset+".xml")
	os.Remove(file)
	args := append([]string{"--preset", preset, r.jobsFlag(), "--output-junit", file}, selection...)
	_, failed := r.output("ctest", args...)
	content, err := os.ReadFile(file)
	if err != nil {
		return counts{}, fmt.Errorf("ctest left no results: %w", failed)
	}
	var results junit
	if err := xml.Unmarshal(content, &results); err != nil {
		return counts{}, err
	}
	var c counts
	for _, test := range results.Cases {
		switch test.Status {
		case "run":
			c.passed++
		case "disabled":
			c.skipped++
			c.skips = append(c.skips, test.Name)
		default:
			c.fail(test.Name, test.Output)
		}
	}
	if len(results.Cases) == 0 {
		return c, fmt.Errorf("there is no such test: ctest %s", strings.Join(args, " "))
	}
	if failed != nil && c.failed == 0 {
		return c, fmt.Errorf("ctest: %w", failed)
	}
	return c, nil
}
