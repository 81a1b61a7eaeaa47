package gocode

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"

	"mallow/internal/stat"
)

const (
	paceRounds = 10 // both sides run once in each
	paceTime   = "100ms"
)

// pace compares the time of an operation with the tests' executable of the step
// before, by rounds in which both run. Without one it takes the time alone.
func (f *fixer) pace(t *trial, b *Benchmark) (stat.Ratio, error) {
	o := f.o.BenchmarkOptions
	if o.Benchtime == "" {
		o.Benchtime = paceTime
	}
	was := *t.tests
	was.stock = f.before
	sides := [2]*Tests{&was, t.tests}
	var times [2][]float64
	for range paceRounds {
		first := rand.IntN(2)
		for _, side := range []int{first, 1 - first} {
			timed, err := sides[side].timed(Exactly(b.Name), o.Benchtime, o.TestFlags)
			if err != nil {
				return stat.Ratio{}, err
			}
			if len(timed) == 0 {
				return stat.Ratio{}, errors.New("the benchmark is gone")
			}
			times[side] = append(times[side], timed[0].NsPerOp)
		}
	}
	b.NsPerOp = stat.Summarize(times[1]).Median
	return stat.Paired(times[0], times[1], stat.FalseAlarms), nil
}

// keepBefore keeps the tests' executable of a step that is kept, for the pace
// of the next.
func (f *fixer) keepBefore(t *trial) error {
	if f.Measure != MeasureBenchmark || t.tests == nil {
		return nil
	}
	f.before = filepath.Join(f.folder, "before.test")
	return os.Rename(t.tests.stock, f.before)
}
