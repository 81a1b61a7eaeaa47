package exchange

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mallow/internal/history"
	"mallow/internal/term"
)

// table is CSV, a row for each figure. Columns may come in any order;
// benchmark, metric and value must be there.
var table = Format{
	Name: "csv", Whole: true,
	detect: func(head string) bool {
		first, _, _ := strings.Cut(head, "\n")
		return strings.Contains(first, ",") && strings.Contains(first, "benchmark") && strings.Contains(first, "metric") && strings.Contains(first, "value")
	},
	read: readTable, write: writeTable,
}

var tableColumns = []string{"benchmark", "platform", "build", "commit", "commit_time", "time", "dirty", "metric", "unit", "class", "value"}

func readTable(f *File) error {
	r := csv.NewReader(bytes.NewReader(f.content))
	r.FieldsPerRecord = -1
	head, err := r.Read()
	if err != nil {
		return err
	}
	at := make(map[string]int)
	for i, name := range head {
		at[strings.ToLower(strings.TrimSpace(name))] = i
	}
	for _, name := range []string{"benchmark", "metric", "value"} {
		if _, there := at[name]; !there {
			return fmt.Errorf("line 1: no column %s; there are %s", name, strings.Join(tableColumns, ", "))
		}
	}
	_, f.Dated = at["commit"]
	all := newGathered()
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		cell := func(name string) string {
			if i, there := at[name]; there && i < len(row) {
				return unguarded(row[i])
			}
			return ""
		}
		p, err := tablePoint(cell)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		value, err := strconv.ParseFloat(cell("value"), 64)
		if err != nil {
			return fmt.Errorf("line %d: value %q is not a number", line, cell("value"))
		}
		into := all.at(fmt.Sprintf("%q %s %v %v", p.Key, p.Commit, p.Time, p.Dirty), func() history.Point { return p })
		if err := into.add(cell("metric"), history.Value{Value: value, Unit: cell("unit"), Class: cell("class")}); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	f.Points = all.all()
	for i := range f.Points {
		if err := f.Points[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

func tablePoint(cell func(string) string) (p history.Point, err error) {
	p.Key = history.Key{Benchmark: cell("benchmark"), Platform: cell("platform"), Build: cell("build")}
	p.Commit = cell("commit")
	switch cell("dirty") {
	case "", "false", "0":
	case "true", "1":
		p.Dirty = true
	default:
		return p, fmt.Errorf("dirty is %q, and should be true or false", cell("dirty"))
	}
	for column, to := range map[string]*time.Time{"commit_time": &p.CommitTime, "time": &p.Time} {
		text := cell(column)
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return p, fmt.Errorf("%s %q is not a time such as 2026-11-22T02:00:00Z", column, text)
		}
		*to = to.UTC()
	}
	return p, nil
}

func writeTable(w io.Writer, points []history.Point, _ Profiles) error {
	out := csv.NewWriter(w)
	_ = out.Write(tableColumns) // Error tells at the end
	for i := range points {
		p := &points[i]
		for _, metric := range slices.Sorted(maps.Keys(p.Metrics)) {
			v := p.Metrics[metric]
			_ = out.Write([]string{
				guarded(p.Benchmark), guarded(p.Platform), guarded(p.Build), guarded(p.Commit), stamp(p.CommitTime), stamp(p.Time),
				strconv.FormatBool(p.Dirty), guarded(metric), guarded(v.Unit), v.Class, number(v.Value),
			})
		}
	}
	out.Flush()
	return out.Error()
}

// formulas are the characters that make a spreadsheet take what follows for a
// formula, the wide ones of East Asian type included; an apostrophe before a
// name says that it is none.
const formulas = "=+-@'\t\r\uff1d\uff0b\uff0d\uff20"

func guarded(s string) string {
	s = term.Safe(s)
	start, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " \u00a0\u3000\n"))
	if s != "" && strings.ContainsRune(formulas, start) {
		return "'" + s
	}
	return s
}

func unguarded(s string) string { return strings.TrimPrefix(s, "'") }
