package recording

import (
	"io"
	"math"
)

// Sampling is how blocks were chosen where not every call was recorded.
type Sampling struct {
	MeanBytes uint64 // from one sample to the next
}

// Variance of the estimated figures of a stack; zero where they were counted.
// Its square root is the standard error.
type Variance struct {
	Calls, Bytes          float64
	LiveBlocks, LiveBytes float64
}

func (v *Variance) add(o *Variance) {
	v.Calls += o.Calls
	v.Bytes += o.Bytes
	v.LiveBlocks += o.LiveBlocks
	v.LiveBytes += o.LiveBytes
}

const samplingBytes = 64

func (im *Image) readSampling(r io.ReaderAt) {
	im.read(r, sectionSampling, func(chunk []byte) {
		if mean := le.Uint64(chunk); im.Sampling == nil && len(chunk) >= samplingBytes && mean > 0 {
			im.Sampling = &Sampling{MeanBytes: mean}
		}
	})
}

// weights are what the samples of a stack stand for: figures and their
// variances, of births and of deaths.
type weights struct {
	calls, bytes, callsVariance, bytesVariance                       float64
	releases, releasedBytes, releasesVariance, releasedBytesVariance float64
}

func parseWeights(b []byte) weights {
	at := func(i int) float64 { return math.Float64frombits(le.Uint64(b[8*i:])) }
	return weights{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)}
}

func (w *weights) add(o *weights) {
	w.calls += o.calls
	w.bytes += o.bytes
	w.callsVariance += o.callsVariance
	w.bytesVariance += o.bytesVariance
	w.releases += o.releases
	w.releasedBytes += o.releasedBytes
	w.releasesVariance += o.releasesVariance
	w.releasedBytesVariance += o.releasedBytesVariance
}

// credible tells whether these can be sums of weights.
func (w *weights) credible() bool {
	const most = 1 << 62
	for _, figure := range []float64{w.calls, w.bytes, w.releases, w.releasedBytes} {
		if !(figure >= 0 && figure <= most) {
			return false
		}
	}
	for _, variance := range []float64{w.callsVariance, w.bytesVariance, w.releasesVariance, w.releasedBytesVariance} {
		if !(variance >= 0 && variance <= most*most) {
			return false
		}
	}
	return true
}

// estimate turns the counters of samples into estimates of all calls. What has
// no weights of its own grows as the calls do that it is part of. The peak
// cannot be estimated: the recorder takes it when most bytes of samples live,
// in which great blocks weigh too much, and keeps no weights of that moment.
func (im *Image) estimate() {
	if im.Sampling == nil {
		return
	}
	damaged := 0
	im.EachStack(func(id uint32, c *Counters) {
		c.PeakBytes = 0
		w := im.weights[id]
		if w == nil {
			return
		}
		if !w.credible() {
			damaged++
			return
		}
		c.estimate(w)
	})
	if damaged > 0 {
		im.warn("damaged: stacks whose samples have no credible weights, and are counted as they are: %d", damaged)
	}
}

func (c *Counters) estimate(w *weights) {
	bytes := ratio(w.bytes, c.Bytes)
	deaths := ratio(w.releases, c.Releases)
	c.Samples = c.Calls
	c.Calls, c.Bytes = rounded(w.calls), rounded(w.bytes)
	c.Releases, c.ReleasedBytes = rounded(w.releases), rounded(w.releasedBytes)
	c.UsableBytes = scaled(c.UsableBytes, bytes)
	for _, part := range []*uint64{&c.Temporary, &c.ShortLived, &c.ByRealloc, &c.Foreign} {
		*part = scaled(*part, deaths)
	}
	c.Variance = Variance{
		Calls: w.callsVariance, Bytes: w.bytesVariance,
		LiveBlocks: max(0, w.callsVariance-w.releasesVariance), LiveBytes: max(0, w.bytesVariance-w.releasedBytesVariance),
	}
}

func ratio(estimate float64, samples uint64) float64 {
	if samples == 0 {
		return 1
	}
	return estimate / float64(samples)
}

func rounded(x float64) uint64 { return uint64(math.Round(x)) }

func scaled(n uint64, by float64) uint64 {
	const most = 1 << 62
	return uint64(min(most, math.Round(float64(n)*by)))
}
