// Package exchange reads and writes points in formats of other tools, and in
// one of our own that keeps all of a point, so that a history can be carried
// from one place to another.
//
// What a file claims is checked before anything is kept of it. Writing the
// same points gives the same bytes.
package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/history"
)

// Format is a form of files.
type Format struct {
	Name string
	// Whole tells that a file has all points with their commits; other formats
	// have one figure of each metric, those of one moment.
	Whole bool

	detect func(head string) bool
	read   func(f *File) error
	write  func(w io.Writer, points []history.Point, profile Profiles) error
}

// Profiles returns a profile by its ProfileID.
type Profiles func(id string) ([]byte, error)

// Formats are all there are, in the order in which a file is tried.
var Formats = []*Format{&mallow, &googleBenchmark, &hyperfine, &openMetrics, &table, &goBenchmark}

// Named returns the format of a name, nil where there is none.
func Named(name string) *Format {
	for _, f := range Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Names are those of the formats.
func Names() string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// File is what was read.
type File struct {
	Format *Format
	Points []history.Point
	Notes  []string // what of the file was left out, in sentences
	// Dated tells that the points say which commit they are of, or that nobody
	// knows.
	Dated bool

	content []byte
}

const biggestFile = 1 << 30

// Read reads a file in a format; nil finds out which.
func Read(r io.Reader, format *Format) (*File, error) {
	content, err := io.ReadAll(io.LimitReader(r, biggestFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > biggestFile {
		return nil, fmt.Errorf("more than %d bytes", biggestFile)
	}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if format == nil {
		head := string(content[:min(len(content), 64<<10)])
		at := slices.IndexFunc(Formats, func(f *Format) bool { return f.detect(head) })
		if at < 0 {
			return nil, fmt.Errorf("none of %s", Names())
		}
		format = Formats[at]
	}
	f := &File{Format: format, content: content}
	if err := format.read(f); err != nil {
		return nil, fmt.Errorf("as %s: %w", format.Name, err)
	}
	if len(f.Points) == 0 {
		return nil, fmt.Errorf("as %s: no figure in it", format.Name)
	}
	f.content = nil
	return f, nil
}

// Write writes points in a format. Of formats that are not whole only the last
// point of each key is written; points are in order.
func Write(w io.Writer, format *Format, points []history.Point, profile Profiles) error {
	if !format.Whole {
		points = latest(points)
	}
	if len(points) == 0 {
		return errors.New("no points to write")
	}
	return format.write(w, points, profile)
}

func latest(points []history.Point) []history.Point {
	var last []history.Point
	at := make(map[history.Key]int)
	for _, p := range points {
		if i, known := at[p.Key]; known {
			last[i] = p
			continue
		}
		at[p.Key] = len(last)
		last = append(last, p)
	}
	slices.SortFunc(last, func(a, b history.Point) int { return strings.Compare(sortKey(a.Key), sortKey(b.Key)) })
	return last
}

func sortKey(k history.Key) string { return k.Benchmark + "\x00" + k.Platform + "\x00" + k.Build }

func (f *File) note(format string, args ...any) {
	if len(f.Notes) < 20 {
		f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
	}
}

// median of values, which are not empty.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return values[n/2-1]/2 + values[n/2]/2
}

// gathered are figures of points that come in several rows.
type gathered struct {
	order  []string
	points map[string]*gatheredPoint
}

type gatheredPoint struct {
	point  history.Point
	values map[string][]float64
	as     map[string]history.Value // unit and class of each metric
}

func newGathered() *gathered { return &gathered{points: make(map[string]*gatheredPoint)} }

// at returns the point of a name, made by create where it is new.
func (g *gathered) at(name string, create func() history.Point) *gatheredPoint {
	p := g.points[name]
	if p == nil {
		p = &gatheredPoint{point: create(), values: make(map[string][]float64), as: make(map[string]history.Value)}
		g.points[name], g.order = p, append(g.order, name)
	}
	return p
}

func (p *gatheredPoint) add(metric string, v history.Value) error {
	if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
		return fmt.Errorf("%q is not a number", metric)
	}
	p.values[metric] = append(p.values[metric], v.Value)
	p.as[metric] = v
	return nil
}

// all returns the points with the median of each metric.
func (g *gathered) all() (points []history.Point) {
	for _, name := range g.order {
		p := g.points[name]
		p.point.Metrics = make(map[string]history.Value)
		for metric, values := range p.values {
			v := p.as[metric]
			v.Value = median(values)
			p.point.Metrics[metric] = v
		}
		if len(p.point.Metrics) > 0 {
			points = append(points, p.point)
		}
	}
	return points
}

// number writes a figure in as few digits as it needs.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
