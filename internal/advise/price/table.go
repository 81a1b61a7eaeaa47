// Package price says what allocating costs a program: with the malloc that it
// would use without us, and as a share of its CPU time.
package price

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mallow/internal/recording"
)

// Table is what one malloc costs on this machine, in ns of CPU time, as the
// program in calibrate/ measures it.
type Table struct {
	// Hot are calls for one block again and again, Mixed those of a program that
	// does other things in between. Both by size, from small to great.
	Hot, Mixed []Point
	// Calloc and Realloc are their calls with the free, and with what a move
	// costs; hot.
	Calloc, Realloc []Point
	// Stay is a realloc of a block that stays where it is; hot.
	Stay float64
	// Fresh, Few and Many are calls of a malloc from stacks that differ each
	// time: one that was never seen, one of FewStacks, one of ManyStacks in
	// random order. Only to one that records they differ from Hot.
	Fresh, Few, Many float64
}

// Point is the cost for blocks of one size.
type Point struct {
	Size        uint64
	Nanoseconds float64
}

const (
	FewStacks  = 64
	ManyStacks = 8192
)

// Beyond this a call cannot cost, and what says so was not measured.
const mostNanoseconds = 1e8

// Read reads what the program in calibrate/ writes. It returns an error when
// anything is missing or cannot be.
func Read(r io.Reader) (*Table, error) {
	var t Table
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if err := t.add(lines.Text()); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return &t, t.Check()
}

func (t *Table) add(line string) error {
	var pattern, function string
	var p Point
	if n, err := fmt.Sscanf(line, "%s %s %d %f", &pattern, &function, &p.Size, &p.Nanoseconds); n != 4 || err != nil {
		return fmt.Errorf("calibration: not understood: %q", strings.TrimSpace(line))
	}
	switch pattern + " " + function {
	case "hot malloc":
		t.Hot = append(t.Hot, p)
	case "mixed malloc":
		t.Mixed = append(t.Mixed, p)
	case "hot calloc":
		t.Calloc = append(t.Calloc, p)
	case "hot realloc":
		t.Realloc = append(t.Realloc, p)
	case "stay realloc":
		t.Stay = p.Nanoseconds
	case "fresh malloc":
		t.Fresh = p.Nanoseconds
	case "few malloc":
		t.Few = p.Nanoseconds
	case "many malloc":
		t.Many = p.Nanoseconds
	}
	return nil
}

var errIncomplete = errors.New("calibration: incomplete")

// Check returns an error when the table is none that was measured.
func (t *Table) Check() error {
	for _, points := range [][]Point{t.Hot, t.Mixed, t.Calloc, t.Realloc} {
		if len(points) == 0 || !slices.IsSortedFunc(points, func(a, b Point) int { return int(min(a.Size, 1<<40)) - int(min(b.Size, 1<<40)) }) {
			return errIncomplete
		}
		for _, p := range points {
			if p.Size == 0 || !sane(p.Nanoseconds) {
				return fmt.Errorf("calibration: %v ns for %d bytes", p.Nanoseconds, p.Size)
			}
		}
	}
	if !sane(t.Stay) || !sane(t.Fresh) || !sane(t.Few) || !sane(t.Many) || t.Hot[0].Nanoseconds == 0 {
		return errIncomplete
	}
	return nil
}

func sane(ns float64) bool { return ns >= 0 && ns < mostNanoseconds }

// at is the cost for a size: between two that were measured in proportion,
// below the least that of the least, beyond the greatest so much for each
// byte.
func at(points []Point, size uint64, perByte float64) float64 {
	first, last := points[0], points[len(points)-1]
	if size <= first.Size {
		return first.Nanoseconds
	}
	for i := 1; i < len(points); i++ {
		low, high := points[i-1], points[i]
		if size <= high.Size {
			part := float64(size-low.Size) / float64(high.Size-low.Size)
			return low.Nanoseconds + part*(high.Nanoseconds-low.Nanoseconds)
		}
	}
	return last.Nanoseconds + perByte*float64(size-last.Size)
}

// growth is what a further byte costs beyond the greatest size.
func growth(points []Point) float64 {
	if len(points) < 2 {
		return 0
	}
	low, high := points[len(points)-2], points[len(points)-1]
	return max(0, (high.Nanoseconds-low.Nanoseconds)/float64(high.Size-low.Size))
}

// besideWork is what is left of the time of a pair of hot calls where a program
// does something else between them, as all do: a pair waits for the one before,
// and the processor for neither. Of cppcheck, where 11.1 million pairs, nearly
// all of them hot, were taken away, each took 5.8 ns of CPU time, 8.4 in a loop
// of its own.
const besideWork = 0.6

// malloc is what a malloc and the free cost, for blocks of which the share
// hot is asked for and released in quick succession.
func (t *Table) malloc(size uint64, hot float64) float64 {
	return hot*besideWork*at(t.Hot, size, 0) + (1-hot)*at(t.Mixed, size, 0)
}

// calloc costs besides what zeroing does.
func (t *Table) calloc(size uint64, hot float64) float64 {
	zeroing := max(0, at(t.Calloc, size, growth(t.Calloc))-at(t.Hot, size, 0))
	return t.malloc(size, hot) + zeroing
}

// realloc is what one of so many calls costs on average: a malloc where it was
// given no block, or where the block had to move, which is then copied.
func (t *Table) realloc(calls, size uint64, hot float64, r *recording.Reallocs) float64 {
	resized := min(r.Resized, calls)
	moved := min(r.Moved, resized)
	stayed := rate(resized-moved, calls)
	copying := rate(moved, calls) * at(t.Realloc, r.BytesCopied/max(1, moved), growth(t.Realloc))
	return stayed*besideWork*t.Stay + (1-stayed)*t.malloc(size, hot) + copying
}

func rate(part, calls uint64) float64 { return float64(part) / float64(max(1, calls)) }
