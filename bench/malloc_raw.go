package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// units of the raw figures.
var units = map[quantity]string{
	cpuTime: "s", wallTime: "s", systemTime: "s", peakRSS: "bytes", rssOverLive: "ratio", pageFaults: "faults",
}

// writeRaw writes every figure for who would reckon anew: a line for each, in which the cell of an allocator holds the
// values of all rounds with blanks between them.
func writeRaw(path string, allocators []allocator, figures []figure) error {
	lines := [][]string{append([]string{"row", "series", "x", "quantity", "unit"}, namesOf(allocators)...)}
	for _, f := range figures {
		line := []string{f.row, f.series, "", string(f.of), units[f.of]}
		if f.series != "" {
			line[2] = strconv.FormatFloat(f.x, 'f', -1, 64)
			if f.of == cpuTime || f.of == wallTime {
				line[4] = "ns per operation"
			}
		}
		for _, a := range allocators {
			var values []string
			for _, value := range f.values[a.name] {
				values = append(values, strconv.FormatFloat(value, 'g', 5, 64))
			}
			line = append(line, strings.Join(values, " "))
		}
		lines = append(lines, line)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := csv.NewWriter(file).WriteAll(lines); err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Close()
}
