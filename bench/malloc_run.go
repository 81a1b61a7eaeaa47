package main

import (
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mallocRun is one run of one row on one allocator.
type mallocRun struct {
	round     int
	row       string
	allocator string
	usage     usage
	printed   printed
}

// cpu and wall are in seconds, rss in bytes: as measured, or as the program says that they are.
func (r mallocRun) cpu() float64  { return r.override("cpu_seconds", r.usage.user+r.usage.sys) }
func (r mallocRun) wall() float64 { return r.override("wall_seconds", r.usage.wall) }
func (r mallocRun) rss() float64  { return r.override("rss_kb", r.usage.rss/1024) * 1024 }

func (r mallocRun) override(metric string, measured float64) float64 {
	if value, found := r.printed.metrics[metric]; found {
		return value
	}
	return measured
}

// mallocSeries are the runs of all rounds; failures say which allocator could not run which row, and why.
type mallocSeries struct {
	runs     []mallocRun
	failures map[string]string // key: failureKey
	rounds   int
}

func failureKey(row, allocator string) string { return row + " on " + allocator }

func (s *mallocSeries) failed(row, allocator string) bool {
	_, found := s.failures[failureKey(row, allocator)]
	return found
}

// runRow runs a row once.
func runRow(l launcher, row mallocRow, a allocator) (mallocRun, error) {
	environment := append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent", "LC_ALL=C.UTF-8"}, row.settings...)
	if row.driver {
		environment = append(environment, "MALLOC_LIBRARY="+a.library, "MALLOC_SETTINGS="+strings.Join(a.settings, " "))
	} else {
		environment = append(environment, a.preload()...)
	}
	result := mallocRun{row: row.name, allocator: a.name}
	var err error
	result.usage, err = l.run(row.command, environment, row.input, func(output io.Reader) error {
		var err error
		result.printed, err = parsePrinted(output)
		return err
	})
	return result, err
}

// buildPrograms builds what the rows name below bench/workloads.
func buildPrograms(folder string, rows []mallocRow) error {
	built := map[string]bool{}
	for _, row := range rows {
		if row.program == "" || built[row.program] {
			continue
		}
		built[row.program] = true
		source := filepath.Join("bench", "workloads", row.program)
		program := filepath.Join(folder, strings.TrimSuffix(filepath.Base(row.program), filepath.Ext(row.program)))
		compiler, standard := "g++", "-std=c++20"
		if filepath.Ext(source) == ".c" {
			compiler, standard = "gcc", "-std=gnu11"
		}
		if err := run(compiler, "-O2", "-g", standard, "-fno-builtin", "-pthread", "-o", program, source); err != nil {
			return err
		}
	}
	return nil
}

// runRounds runs every row once on glibc, unmeasured, so that all files are in memory and a row that does not work is
// known at once; then in each round every row on every allocator, all in random order. An allocator that fails at a row is
// left out of that row.
func runRounds(l launcher, rows []mallocRow, allocators []allocator, rounds int, progress io.Writer) (*mallocSeries, error) {
	var once float64
	for _, row := range rows {
		once += row.seconds
	}
	fmt.Fprintf(progress, "%d rows on %d allocators in %d rounds: about %v\n", len(rows), len(allocators), rounds,
		seconds(once*float64(len(allocators)*rounds)))
	for _, row := range rows {
		if _, err := runRow(l, row, allocator{name: system}); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", row.name, system, err)
		}
	}
	type job struct {
		row mallocRow
		on  allocator
	}
	var jobs []job
	for _, row := range rows {
		for _, a := range allocators {
			jobs = append(jobs, job{row, a})
		}
	}
	all := &mallocSeries{failures: map[string]string{}, rounds: rounds}
	start := time.Now()
	for round := range rounds {
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		for _, job := range jobs {
			if all.failed(job.row.name, job.on.name) {
				continue
			}
			one, err := runRow(l, job.row, job.on)
			if err != nil {
				all.failures[failureKey(job.row.name, job.on.name)] = err.Error()
				fmt.Fprintf(progress, "%s on %s failed: %v\n", job.row.name, job.on.name, err)
				continue
			}
			one.round = round
			all.runs = append(all.runs, one)
		}
		taken := time.Since(start).Seconds()
		fmt.Fprintf(progress, "round %d of %d done, about %v more\n", round+1, rounds, seconds(taken/float64(round+1)*float64(rounds-round-1)))
	}
	return all, nil
}

func seconds(count float64) time.Duration {
	return time.Duration(count * float64(time.Second)).Round(time.Second)
}

// mallocFolder is where programs and inputs of the rows are made.
func mallocFolder() (string, error) {
	folder := absolute(filepath.Join("build", "bench", "malloc"))
	return folder, os.MkdirAll(folder, 0o755)
}
