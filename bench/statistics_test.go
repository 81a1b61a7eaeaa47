package main

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}

func TestRatioHoldsItsValue(t *testing.T) {
	got := ratioOf([]float64{2, 2.1, 1.9, 2, 2.05}, []float64{1, 1.02, 0.98, 1, 1.01})
	if got.value != 2 || got.low > 2 || got.high < 2 || got.low < 1.8 || got.high > 2.2 {
		t.Errorf("ratio = %v", got)
	}
}

func TestRatioOfEqualsHasNoWidth(t *testing.T) {
	if got := ratioOf([]float64{3, 3, 3}, []float64{3, 3, 3}); got != (ratio{1, 1, 1}) {
		t.Errorf("ratio = %v", got)
	}
}

func TestGeometricMean(t *testing.T) {
	if got := geometricMean([]float64{0.5, 2, 4}); math.Abs(got-math.Cbrt(4)) > 1e-12 {
		t.Errorf("geometric mean = %v", got)
	}
	if got := geometricMean(nil); got != 1 {
		t.Errorf("of nothing: %v", got)
	}
}
