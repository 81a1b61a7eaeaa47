package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// writeRaw writes what every run took, and every point that it printed, for who would reckon anew.
func writeRaw(folder string, all *mallocSeries) error {
	runs := [][]string{{"round", "row", "allocator", "user_s", "sys_s", "wall_s", "rss_bytes", "minor_faults", "major_faults", "metrics"}}
	points := [][]string{{"round", "row", "allocator", "series", "x", "y", "y2"}}
	for _, r := range all.runs {
		var metrics []string
		for _, name := range sortedKeys(r.printed.metrics) {
			metrics = append(metrics, name+"="+decimal(r.printed.metrics[name]))
		}
		of := []string{strconv.Itoa(r.round + 1), r.row, r.allocator}
		runs = append(runs, append(of[:3:3], decimal(r.usage.user), decimal(r.usage.sys), decimal(r.usage.wall), decimal(r.usage.rss),
			strconv.Itoa(r.usage.minorFaults), strconv.Itoa(r.usage.majorFaults), strings.Join(metrics, " ")))
		for _, p := range r.printed.points {
			second := ""
			if len(p.values) > 1 {
				second = decimal(p.values[1])
			}
			points = append(points, append(of[:3:3], p.series, decimal(p.x), decimal(p.values[0]), second))
		}
	}
	if err := writeCSV(filepath.Join(folder, "malloc-runs.csv"), runs); err != nil {
		return err
	}
	return writeCSV(filepath.Join(folder, "malloc-points.csv"), points)
}

// decimal is short, and exact to what a clock can tell.
func decimal(value float64) string { return strconv.FormatFloat(value, 'g', 8, 64) }

func writeCSV(path string, rows [][]string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := csv.NewWriter(file).WriteAll(rows); err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Close()
}
