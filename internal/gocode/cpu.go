package gocode

import (
	"os"
	"strings"

	"github.com/google/pprof/profile"
)

// CPUShares are where the CPU time of a package's benchmarks went, by samples
// of the program as it is. Shares are 0..1.
type CPUShares struct {
	Samples   int64
	Malloc    float64 // within the allocator, what the collector made it do included
	Collector float64 // within the garbage collector
}

// leastSamples of a profile tell something: with fewer a share is off by more
// than its tenth part of all.
const leastSamples = 25

// readCPUShares returns nil where there are too few samples.
func readCPUShares(path string) *CPUShares {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil || len(p.SampleType) == 0 {
		return nil
	}
	var shares CPUShares
	for _, s := range p.Sample {
		n := s.Value[0]
		shares.Samples += n
		inMalloc, inCollector := false, false
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function == nil {
					continue
				}
				name := line.Function.Name
				inMalloc = inMalloc || name == mallocgc
				inCollector = inCollector || collects(name)
			}
		}
		if inMalloc {
			shares.Malloc += float64(n)
		}
		if inCollector {
			shares.Collector += float64(n)
		}
	}
	if shares.Samples < leastSamples {
		return nil
	}
	shares.Malloc /= float64(shares.Samples)
	shares.Collector /= float64(shares.Samples)
	return &shares
}

// collects tells whether all below a function of the runtime is the garbage
// collector's work.
func collects(function string) bool {
	name, ok := strings.CutPrefix(function, "runtime.")
	if !ok {
		return false
	}
	switch name {
	case "gcBgMarkWorker", "gcAssistAlloc", "gcStart", "gcMarkDone", "bgsweep", "bgscavenge", "deductSweepCredit", "gcDrain":
		return true
	}
	return false
}
