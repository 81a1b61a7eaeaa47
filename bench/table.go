package main

import (
	"fmt"
	"strings"
)

// results holds the samples of each workload and mode.
type results map[string]map[mode][]sample

func (r results) add(work workload, under mode, one sample) {
	if r[work.name] == nil {
		r[work.name] = map[mode][]sample{}
	}
	r[work.name][under] = append(r[work.name][under], one)
}

func series(samples []sample, of func(sample) float64) []float64 {
	values := make([]float64, len(samples))
	for i, one := range samples {
		values[i] = of(one)
	}
	return values
}

func cpuSeconds(s sample) float64  { return s.cpu.Seconds() }
func wallSeconds(s sample) float64 { return s.wall.Seconds() }
func megabytes(s sample) float64   { return float64(s.rss) / 1e6 }

func (r ratio) String() string { return fmt.Sprintf("%.2f (%.2f..%.2f)", r.value, r.low, r.high) }

// recordingTable has one row per workload and mode.
func recordingTable(works []workload, all results) string {
	var text strings.Builder
	text.WriteString("| workload | under | CPU s | to libmallow | to glibc | wall s | peak RSS MB | recording kB | report ms |\n")
	text.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, work := range works {
		of := all[work.name]
		for _, mode := range work.modes {
			samples := of[mode]
			if len(samples) == 0 {
				continue
			}
			cpu := series(samples, cpuSeconds)
			size, report := "", ""
			if mode != glibc && mode != library {
				size = fmt.Sprintf("%.0f", median(series(samples, func(s sample) float64 { return float64(s.size) / 1e3 })))
			}
			if mode == explained {
				report = fmt.Sprintf("%.0f", median(series(samples, func(s sample) float64 { return s.report.Seconds() * 1e3 })))
			}
			fmt.Fprintf(&text, "| %s | %s | %.3f | %v | %v | %.3f | %.1f | %s | %s |\n", work.name, mode, median(cpu),
				ratioOf(cpu, series(of[library], cpuSeconds)), ratioOf(cpu, series(of[glibc], cpuSeconds)),
				median(series(samples, wallSeconds)), median(series(samples, megabytes)), size, report)
		}
	}
	return text.String()
}

func verdict(r ratio) string {
	switch {
	case r.high < 1:
		return "faster"
	case r.low > 1:
		return "slower"
	}
	return "no difference shown"
}
