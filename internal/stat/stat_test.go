package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSignedRanks(t *testing.T) {
	// Of three ranks each of the eight choices is equally probable; 3 is 3 or 1+2.
	want := []float64{1, 1, 1, 2, 1, 1, 1}
	for sum, probability := range signedRanks(3) {
		if probability*8 != want[sum] {
			t.Errorf("%d: %v", sum, probability)
		}
	}
	// From published tables of Wilcoxon's signed rank test, two-sided.
	for _, known := range []struct {
		rounds int
		rate   float64
		sum    int
	}{{5, 0.05, -1}, {6, 0.05, 0}, {10, 0.05, 8}, {10, 0.01, 3}, {20, 0.05, 52}, {20, 0.01, 37}, {50, 0.01, 373}} {
		if sum := rejected(known.rounds, known.rate/2); sum != known.sum {
			t.Errorf("%d rounds at %v: %d, not %d", known.rounds, known.rate, sum, known.sum)
		}
	}
	exact, about := rejected(200, 0.001), rejectedAbout(200, 0.001)
	if exact < about || exact-about > 20 {
		t.Errorf("200 rounds: %d exactly, about %d", exact, about)
	}
}

func TestPaired(t *testing.T) {
	var base, value []float64
	for i := range 20 {
		base = append(base, 1+float64(i))
		value = append(value, (1+float64(i))*0.9*(1+0.001*float64(i%5)))
	}
	r := Paired(base, value, 0.01)
	if math.Abs(r.Value-0.9018) > 1e-4 || r.Low < 0.9 || r.High > 0.904 || r.Verdict() != Faster {
		t.Errorf("%+v", r)
	}
	if back := Paired(value, base, 0.01); back.Verdict() != Slower || math.Abs(back.Value*r.Value-1) > 1e-9 {
		t.Errorf("%+v", back)
	}
	if same := Paired(base, base, 0.01); same.Verdict() != NoDifference || same.Value != 1 {
		t.Errorf("%+v", same)
	}
	if few := Paired(base[:5], value[:5], 0.01); few.Shown() || few.Low != 0 || !math.IsInf(few.High, 1) {
		t.Errorf("%+v", few)
	}
	if zero := Paired(make([]float64, 20), make([]float64, 20), 0.01); zero.Value != 1 || zero.Shown() {
		t.Errorf("%+v", zero)
	}
	if none := Paired(nil, nil, 0.01); none.Shown() || none.Value != 1 {
		t.Errorf("%+v", none)
	}
}

func TestSummarize(t *testing.T) {
	s := Summarize([]float64{9, 1, 5, 3, 7})
	if s.Median != 5 || s.Min != 1 || s.Max != 9 || s.Bounded() {
		t.Errorf("%+v", s)
	}
	// The median lies outside of six values once in 32 times, of five in 16.
	if s := Summarize([]float64{9, 1, 5, 3, 7, 4}); !s.Bounded() || s.Low != 1 || s.High != 9 {
		t.Errorf("%+v", s)
	}
	var many []float64
	for i := range 101 {
		many = append(many, float64(i))
	}
	if s := Summarize(many); s.Median != 50 || s.Low < 38 || s.Low > 42 || s.High < 58 || s.High > 62 {
		t.Errorf("%+v", s)
	}
	if s := Summarize(nil); s != (Summary{}) {
		t.Errorf("%+v", s)
	}
}

func TestPlan(t *testing.T) {
	for _, sides := range []int{1, 6} {
		for most := 1; most < 300; most++ {
			p := NewPlan(most, sides)
			for i, look := range p.Looks {
				if i > 0 && look <= p.Looks[i-1] || look > most {
					t.Fatalf("%d rounds: looks at %v", most, p.Looks)
				}
				if rejected(look, p.Rate/2) < 0 {
					t.Fatalf("%d rounds: the look at %d can show nothing", most, look)
				}
			}
			if len(p.Looks) > 0 && p.Looks[len(p.Looks)-1] != most {
				t.Fatalf("%d rounds: no look at the end: %v", most, p.Looks)
			}
			if sum := p.Rate * float64(sides*max(1, len(p.Looks))); math.Abs(sum-FalseAlarms) > 1e-12 {
				t.Fatalf("%d rounds: false alarms add up to %v", most, sum)
			}
		}
	}
	p := Plan{Looks: []int{10, 20, 40}, Rate: 0.001}
	for rounds, want := range map[int]float64{5: 0.003, 10: 0.001, 15: 0.002, 25: 0.001, 40: 0.001} {
		if got := p.RateAt(rounds); math.Abs(got-want) > 1e-12 {
			t.Errorf("after %d rounds: %v, not %v", rounds, got, want)
		}
	}
}

// noises are those of machines: what a run of two seconds took, in seconds.
var noises = []struct {
	name string
	run  func(r *rand.Rand, i int) float64
}{
	{"quiet", func(r *rand.Rand, _ int) float64 { return 2 * (1 + 0.01*r.NormFloat64()) }},
	{"ordinary", func(r *rand.Rand, _ int) float64 { return 2 * (1 + 0.02*r.NormFloat64()) }},
	// A fifth of the runs meets something else that runs.
	{"bursts", func(r *rand.Rand, _ int) float64 {
		took := 2 * (1 + 0.01*r.NormFloat64())
		if r.IntN(5) == 0 {
			took *= 1 + 0.1*r.ExpFloat64()
		}
		return took
	}},
	// The clock of the processor wanders.
	{"drift", func(r *rand.Rand, i int) float64 {
		return 2 * (1 + 0.1*math.Sin(float64(i)/17) + 0.01*r.NormFloat64())
	}},
}

// verdictOf makes rounds of a noise as mallow compare does, the second side
// being `times` slower, and returns what they show, and after how many.
func verdictOf(r *rand.Rand, noise func(*rand.Rand, int) float64, times float64, plan Plan) (Verdict, int) {
	var base, value []float64
	for i := 0; i < plan.Looks[len(plan.Looks)-1]; i++ {
		first, second := noise(r, 2*i), noise(r, 2*i+1)
		if r.IntN(2) == 0 {
			first, second = second, first
		}
		base, value = append(base, first), append(value, second*times)
		if rounds := len(base); plan.IsLook(rounds) {
			if v := Paired(base, value, plan.RateAt(rounds)).Verdict(); v != NoDifference {
				return v, rounds
			}
		}
	}
	return NoDifference, len(base)
}

// rounds is the limit of mallow compare.
const rounds = 60

// Comparisons of a program with itself, by the hundred: the rate of
// false alarms over all looks is what was promised.
func TestFalseAlarms(t *testing.T) {
	const comparisons = 1000
	plan := NewPlan(rounds, 1)
	for i, noise := range noises {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		alarms, worst, inHundred := 0, 0, 0
		for i := range comparisons {
			if v, _ := verdictOf(r, noise.run, 1, plan); v != NoDifference {
				alarms++
				inHundred++
			}
			if i%100 == 99 {
				worst, inHundred = max(worst, inHundred), 0
			}
		}
		t.Logf("%s: %d false alarms in %d comparisons, at most %d in a hundred", noise.name, alarms, comparisons, worst)
		if float64(alarms) > 1.3*FalseAlarms*comparisons || worst > 5 {
			t.Errorf("%s: %d false alarms in %d comparisons, %d in a hundred", noise.name, alarms, comparisons, worst)
		}
	}
}

// A difference of 3 % is found within the limit.
func TestPlantedDifference(t *testing.T) {
	const comparisons = 200
	plan := NewPlan(rounds, 1)
	for i, noise := range noises {
		r := rand.New(rand.NewPCG(2, uint64(i)))
		found, total := 0, 0
		for range comparisons {
			v, needed := verdictOf(r, noise.run, 1.03, plan)
			if v == Slower {
				found++
			}
			total += needed
		}
		t.Logf("%s: found in %d of %d, after %d rounds on average", noise.name, found, comparisons, total/comparisons)
		if found < comparisons*95/100 {
			t.Errorf("%s: 3 %% found in %d of %d comparisons", noise.name, found, comparisons)
		}
	}
}
