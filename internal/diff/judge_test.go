package diff

import (
	"testing"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

func exact(calls, size uint64) *Place {
	c := recording.Counters{Calls: calls, Bytes: calls * size, SizeMin: size, SizeMax: size, Releases: calls, ReleasedBytes: calls * size}
	return &Place{Counters: c}
}

// estimated is what one sample in every so many bytes makes of the same.
func estimated(calls, size, every uint64) *Place {
	p := exact(calls, size)
	p.Counters.Samples = max(1, calls*size/every)
	p.Counters.Variance = recording.Variance{Calls: float64(calls * every / size), Bytes: float64(calls * size * every)}
	return p
}

func TestEstimates(t *testing.T) {
	const every = 16384
	sampled, counted := &profile.Profile{Sampling: &profile.Sampling{MeanBytes: every}}, &profile.Profile{}
	for _, c := range []struct {
		name     string
		from, to *profile.Profile
		old, new *Place
		want     Status
	}{
		{"counts differ by one", counted, counted, exact(1000, 16), exact(1001, 16), Changed},
		{"an estimate is near", sampled, counted, estimated(101_000, 16, every), exact(100_000, 16), Same},
		{"an estimate is far", sampled, counted, estimated(200_000, 16, every), exact(100_000, 16), Changed},
		{"two estimates are near", sampled, sampled, estimated(120_000, 16, every), estimated(100_000, 16, every), Same},
		{"two are far", sampled, sampled, estimated(50_000, 16, every), estimated(200_000, 16, every), Changed},
		{"so little need not be sampled", sampled, counted, nil, exact(100, 16), Same},
		{"so much would have been", sampled, counted, nil, exact(100_000, 16), New},
		{"what was counted is there or not", sampled, counted, estimated(200_000, 16, every), nil, Gone},
	} {
		d := &Diff{Old: c.from, New: c.to}
		s := &Site{Old: c.old, New: c.new}
		d.judge(s)
		if s.Status != c.want || s.WithinError != (c.want == Same) {
			t.Errorf("%s: %s, within error: %v", c.name, s.Status, s.WithinError)
		}
	}
}
