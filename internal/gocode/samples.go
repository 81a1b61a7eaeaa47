package gocode

import (
	"fmt"
	"os"
)

// The file of samples that overlay/sample.go writes.
const (
	samplesMagic      = "MALLOWCP"
	samplesVersion    = 1
	samplesHeader     = 64
	sampleBytes       = 512
	mostSampledFrames = 61
)

// samples are the sampled stacks of one process.
type samples struct {
	rate   int64
	text   uint64 // run-time address of the code
	lost   uint64
	counts []int64
	stacks [][]uint64 // return addresses of logical frames, the innermost first
}

// readSamples reads the file of one process and trusts no number in it.
func readSamples(path string) (*samples, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseSamples(b)
}

func parseSamples(b []byte) (*samples, error) {
	if len(b) < samplesHeader || string(b[:8]) != samplesMagic {
		return nil, fmt.Errorf("no samples of a Go program")
	}
	word := func(i int) uint64 { return le.Uint64(b[8*i:]) }
	if word(1) != samplesVersion {
		return nil, fmt.Errorf("samples of version %d, this mallow reads %d", word(1), samplesVersion)
	}
	s := &samples{rate: int64(word(2)), lost: word(3), text: word(4)}
	for rest := b[samplesHeader:]; len(rest) >= sampleBytes; rest = rest[sampleBytes:] {
		count, depth := le.Uint64(rest[8:]), le.Uint64(rest[16:])
		if depth == 0 {
			continue // free, or not written to its end
		}
		if depth > mostSampledFrames || int64(count) < 0 {
			return nil, fmt.Errorf("damaged: a sample of %d frames", depth)
		}
		var pcs []uint64
		for i := range depth {
			pcs = append(pcs, le.Uint64(rest[24+8*i:]))
		}
		s.counts = append(s.counts, int64(count))
		s.stacks = append(s.stacks, pcs)
	}
	return s, nil
}

// cpu names the stacks of samples.
func (n *namer) cpu(s *samples) *CPU {
	bias := uint64(0)
	if n.text != 0 {
		bias = s.text - n.text
	}
	named := n.frames(s.stacks, bias)
	var stacks []cpuStack
	for i, pcs := range s.stacks {
		stack := cpuStack{samples: s.counts[i]}
		for _, pc := range pcs {
			// The runtime has an address for each function, of those that are inlined, too.
			if frames := named[pc-1-bias]; len(frames) > 0 {
				stack.frames = append(stack.frames, frames[0])
			}
		}
		stacks = append(stacks, stack)
	}
	return newCPU(stacks, s.rate)
}
