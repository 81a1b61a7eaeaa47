package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// quantity is what a figure is of. Of all of them less is better.
type quantity string

const (
	cpuTime     quantity = "CPU"
	wallTime    quantity = "wall"
	peakRSS     quantity = "peak RSS"
	rssOverLive quantity = "RSS over live"
	// These two are among the raw figures only.
	systemTime quantity = "system time"
	pageFaults quantity = "page faults"
)

// figure is one quantity of one row, or of one point of a curve, with its values on each allocator, a round each.
type figure struct {
	row, group string
	series     string  // of a point, empty for a whole row
	x          float64 // of a point
	of         quantity
	values     map[string][]float64
}

// rowName is one for all points of a series, and for all t-tests of as many threads, in however many processes they ran.
func (f figure) rowName() string {
	switch {
	case f.series == "":
		return f.row
	case f.group == "ttest":
		return "t-test1, " + threadsText(f.series)
	}
	return f.row + ", " + f.series
}

func (f figure) name() string {
	switch {
	case f.series == "":
		return f.row
	case f.group == "ttest":
		return f.rowName() + ", up to " + bytesText(f.x)
	}
	return f.rowName() + ", " + bytesText(f.x)
}

func threadsText(count string) string {
	if count == "1" {
		return "1 thread"
	}
	return count + " threads"
}

// bytesText writes a size as one says it, exactly: 48, 4K, 1.5M, 4097.
func bytesText(size float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		if size >= unit.of && math.Mod(size, unit.of/8) == 0 {
			return strconv.FormatFloat(size/unit.of, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(size, 'f', -1, 64)
}

// figuresOf sorts the runs by figure, in the order of the rows. Rows of curves and t-tests are judged by their points,
// and as whole processes by their memory only. Allocators that failed at a row are not among its values.
func figuresOf(rows []mallocRow, all *mallocSeries) ([]figure, error) {
	var figures []figure
	for _, row := range rows {
		var runs []mallocRun
		for _, one := range all.runs {
			if one.row == row.name && !all.failed(row.name, one.allocator) {
				runs = append(runs, one)
			}
		}
		ofRow, err := rowFigures(row, runs)
		if err != nil {
			return nil, err
		}
		figures = append(figures, ofRow...)
	}
	return figures, nil
}

func rowFigures(row mallocRow, runs []mallocRun) ([]figure, error) {
	whole := func(of quantity, value func(mallocRun) float64) figure {
		f := figure{row: row.name, group: row.group, of: of, values: map[string][]float64{}}
		for _, one := range runs {
			f.values[one.allocator] = append(f.values[one.allocator], value(one))
		}
		return f
	}
	figures := []figure{
		whole(peakRSS, mallocRun.rss),
		whole(systemTime, func(one mallocRun) float64 { return one.usage.sys }),
		whole(pageFaults, func(one mallocRun) float64 { return float64(one.usage.minorFaults + one.usage.majorFaults) }),
	}
	if row.group == "curve" || row.group == "ttest" {
		points, err := pointFigures(row, runs)
		if len(points) > 0 && row.group == "ttest" && ofOnePoint(points) {
			for i := range figures {
				figures[i].series, figures[i].x = points[0].series, points[0].x
			}
		}
		return append(figures, points...), err
	}
	figures = append(figures, whole(cpuTime, mallocRun.cpu), whole(wallTime, mallocRun.wall))
	if row.group == "memory" {
		for _, one := range runs {
			if _, found := one.printed.metrics["rss_over_live"]; !found {
				return nil, fmt.Errorf("%s is of the group memory and did not print `metric rss_over_live`", row.name)
			}
		}
		figures = append(figures, whole(rssOverLive, func(one mallocRun) float64 { return one.printed.metrics["rss_over_live"] }))
	}
	return figures, nil
}

// ofOnePoint holds where a process is one point, whose memory is the process's then.
func ofOnePoint(points []figure) bool {
	return !slices.ContainsFunc(points, func(f figure) bool { return f.series != points[0].series || f.x != points[0].x })
}

func pointFigures(row mallocRow, runs []mallocRun) ([]figure, error) {
	type key struct {
		series string
		x      float64
		of     quantity
	}
	at := map[key]int{}
	var figures []figure
	for _, one := range runs {
		if len(one.printed.points) == 0 {
			return nil, fmt.Errorf("%s is of the group %s and printed no point", row.name, row.group)
		}
		for _, p := range one.printed.points {
			for i, value := range p.values {
				if value == 0 {
					return nil, fmt.Errorf("%s on %s took no time at %s %v: too little work to measure", row.name, one.allocator, p.series, p.x)
				}
				k := key{p.series, p.x, []quantity{cpuTime, wallTime}[i]}
				if _, found := at[k]; !found {
					at[k] = len(figures)
					figures = append(figures, figure{row.name, row.group, p.series, p.x, k.of, map[string][]float64{}})
				}
				values := figures[at[k]].values
				values[one.allocator] = append(values[one.allocator], value)
			}
		}
	}
	return figures, nil
}

// selectFigures returns those of one quantity in one of these groups.
func selectFigures(figures []figure, of quantity, groups ...string) []figure {
	var found []figure
	for _, f := range figures {
		if f.of == of && slices.Contains(groups, f.group) {
			found = append(found, f)
		}
	}
	return found
}
