package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// printed is what a workload said of itself on its standard output, in the lines that mallowRow describes.
type printed struct {
	metrics map[string]float64
	points  []point
}

// point is one point of a curve: what stands at x. In curves and t-tests the values are nanoseconds of CPU per operation
// and, where it was printed, of wall time; in rows of the group memory the first is a number of bytes.
type point struct {
	series string
	x      float64
	values []float64
}

// parsePrinted reads the metric and point lines and passes over all others.
func parsePrinted(from io.Reader) (printed, error) {
	result := printed{metrics: map[string]float64{}}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		fields := strings.Fields(line)
		if len(fields) > 0 && (fields[0] == "metric" || fields[0] == "point") {
			if err := result.add(fields); err != nil {
				return printed{}, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
			}
		}
		if err == io.EOF {
			return result, nil
		}
		if err != nil {
			return printed{}, err
		}
	}
}

func (p *printed) add(fields []string) error {
	isMetric := fields[0] == "metric"
	if isMetric && len(fields) != 3 || !isMetric && (len(fields) < 4 || len(fields) > 5) {
		return fmt.Errorf("want `metric NAME VALUE` or `point SERIES X Y [Y]`")
	}
	var values []float64
	for _, field := range fields[2:] {
		value, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
			return fmt.Errorf("%q is no number that can be measured", field)
		}
		values = append(values, value)
	}
	if isMetric {
		p.metrics[fields[1]] = values[0]
		return nil
	}
	p.points = append(p.points, point{fields[1], values[0], values[1:]})
	return nil
}
