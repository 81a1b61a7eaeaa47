package profile

import (
	"math"

	"mallow/internal/recording"
)

// Sampling tells that figures are estimates, and how good they are.
type Sampling struct {
	MeanBytes uint64 // between two samples; of several recordings the greatest
	Samples   uint64
	Errors    Errors // of the totals, all origins
}

// Errors are standard errors: two of three estimates are no further from the
// truth. Those of a site are zero where nothing was sampled.
type Errors struct {
	Allocations, Bytes, LiveBlocks, LiveBytes float64
}

func errorsOf(v *recording.Variance) Errors {
	return Errors{math.Sqrt(v.Calls), math.Sqrt(v.Bytes), math.Sqrt(v.LiveBlocks), math.Sqrt(v.LiveBytes)}
}

// Errors returns those of the site's figures.
func (s *Site) Errors() Errors { return ErrorsOf(&s.Counters) }

// ErrorsOf returns those of any figures.
func ErrorsOf(c *recording.Counters) Errors { return errorsOf(&c.Variance) }

// WhyPeakUnknown says so where the peak is asked for.
const WhyPeakUnknown = "the peak is not known of what was sampled, nor of an imported profile"

// PeakUnknown tells that nobody knows the peak: samples and profiles of other
// tools do not tell it.
func (p *Profile) PeakUnknown() bool { return p.SumsOnly || p.Sampling != nil }

// WhyBlocksUnknown says so where it is asked what became of blocks of
// SumsOnly.
const WhyBlocksUnknown = "which blocks were temporary is not known of an imported profile"

// WhyWasteUnknown says so where waste is asked for.
const WhyWasteUnknown = "how large blocks were made an imported file does not tell, and so nobody knows what they waste"

func (p *Profile) sumSampling(stacks []*stack) {
	var mean uint64
	for _, process := range p.Processes {
		if s := process.Image.Sampling; s != nil {
			mean = max(mean, s.MeanBytes)
		}
	}
	if mean == 0 {
		return
	}
	p.Sampling = &Sampling{MeanBytes: mean}
	var sum recording.Counters
	for _, s := range stacks {
		sum.Add(s.counters)
	}
	p.Sampling.Samples, p.Sampling.Errors = sum.Samples, p.Sampling.ErrorsOf(&sum)
}

// leastBytes is what the smallest blocks count: the recorder counts so many
// bytes more than a block has, and in other profiles hardly one has fewer.
const leastBytes = 16

// ErrorsOf returns those of a sum over sites. Blocks that left no sample have a
// part in it that no sample tells of: it allows for as many of the smallest as
// one sample of them stands for, and for the bytes from one sample to the next.
func (s *Sampling) ErrorsOf(sum *recording.Counters) Errors {
	mean := float64(s.MeanBytes)
	chance := -math.Expm1(-leastBytes / mean)
	blocks, bytes := (1-chance)/(chance*chance), (1-chance)*mean*mean
	v := sum.Variance
	v.Calls += blocks
	v.LiveBlocks += blocks
	v.Bytes += bytes
	v.LiveBytes += bytes
	return errorsOf(&v)
}
