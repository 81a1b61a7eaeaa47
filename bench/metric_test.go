package main

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestPrintedLines(t *testing.T) {
	got, err := parsePrinted(strings.NewReader("hello\nmetric ops 1e6\npoints of view\npoint touched 64 5.5\npoint 4 1024 10 2.5"))
	want := printed{map[string]float64{"ops": 1e6}, []point{{"touched", 64, []float64{5.5}}, {"4", 1024, []float64{10, 2.5}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestBadPrintedLines(t *testing.T) {
	for _, line := range []string{"metric ops", "metric ops many", "metric ops -1", "metric ops NaN", "metric ops Inf", "metric a 1 2",
		"point a 1", "point a 1 2 3 4", "point a b 2"} {
		if got, err := parsePrinted(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q was read as %+v, %v", line, got, err)
		}
	}
}

func TestPrintedCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	if _, err := parsePrinted(io.MultiReader(strings.NewReader("metric ops 1\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
