package recording

import "io"

// Shard holds the totals of one recorded thread, or of several that had it
// one after the other.
type Shard struct {
	State             uint32
	TID               uint32
	InFlight          uint64
	Threads           uint64
	Events            uint64
	LiveBytes         int64
	LiveBlocks        int64
	PeakBytes         uint64
	PeakBytesProgram  uint64
	Frees             uint64
	FreeNulls         uint64
	Failed            uint64
	FreesLibc         uint64
	InheritedFrees    uint64
	AtPeak            bool
	Captures          uint64
	CapturesReused    uint64
	FramesWalked      uint64
	FramesVerified    uint64
	FramesInterpreted uint64
	CapturesTruncated uint64
	LostGrowth        uint64
	LiveBytesLibc     int64
}

func (im *Image) readShards(r io.ReaderAt) {
	size := int(itemBytes[sectionShards])
	im.read(r, sectionShards, func(chunk []byte) {
		for ; len(chunk) >= size; chunk = chunk[size:] {
			shard := parseShard(chunk)
			if im.major >= majorCounts {
				hits := le.Uint64(chunk[48:])
				shard.Captures += hits
				shard.CapturesReused += hits
			}
			im.Shards = append(im.Shards, shard)
		}
	})
	im.raisePeaks()
}

// raisePeaks takes the live sums for the peaks where they are greater: a
// recorder looks at the peaks when a sum begins to fall.
func (im *Image) raisePeaks() {
	if len(im.Shards) == 0 || im.major < majorCounts || im.major == majorCounts && im.minor == 0 {
		return
	}
	first := &im.Shards[0]
	sum := first.LiveBytes + im.SharedLive
	sumProgram := min(sum, first.LiveBytes-first.LiveBytesLibc+im.SharedLiveProgram)
	all, program := im.PeakBytes()
	if sum > int64(all) {
		first.PeakBytes, first.AtPeak = uint64(sum), true
	}
	if sumProgram > int64(program) {
		first.PeakBytesProgram = uint64(sumProgram)
	}
}

func parseShard(b []byte) Shard {
	return Shard{
		State:             le.Uint32(b[0:]),
		TID:               le.Uint32(b[4:]),
		InFlight:          le.Uint64(b[8:]),
		Threads:           le.Uint64(b[16:]),
		Events:            le.Uint64(b[24:]),
		LiveBytes:         int64(le.Uint64(b[32:])),
		LiveBlocks:        int64(le.Uint64(b[40:])),
		PeakBytes:         le.Uint64(b[56:]),
		PeakBytesProgram:  le.Uint64(b[64:]),
		Frees:             le.Uint64(b[72:]),
		FreeNulls:         le.Uint64(b[80:]),
		Failed:            le.Uint64(b[88:]),
		FreesLibc:         le.Uint64(b[96:]),
		InheritedFrees:    le.Uint64(b[104:]),
		AtPeak:            le.Uint64(b[112:]) == 1,
		Captures:          le.Uint64(b[120:]),
		CapturesReused:    le.Uint64(b[128:]),
		FramesWalked:      le.Uint64(b[136:]),
		FramesVerified:    le.Uint64(b[144:]),
		FramesInterpreted: le.Uint64(b[152:]),
		CapturesTruncated: le.Uint64(b[160:]),
		LostGrowth:        le.Uint64(b[168:]),
		LiveBytesLibc:     int64(le.Uint64(b[176:])),
	}
}

func (im *Image) inFlight() int {
	n := 0
	for i := range im.Shards {
		if im.Shards[i].InFlight != 0 {
			n++
		}
	}
	return n
}

// atPeak reports whether the live sum of the process stands at its peak.
func (im *Image) atPeak() bool {
	return len(im.Shards) > 0 && im.Shards[0].AtPeak
}

// PeakBytes returns the greatest sum of live bytes of the process, in all and
// without what libc allocated for itself.
func (im *Image) PeakBytes() (all, program uint64) {
	all, program = im.SharedPeak, im.SharedPeakProgram
	for i := range im.Shards {
		all = max(all, im.Shards[i].PeakBytes)
		program = max(program, im.Shards[i].PeakBytesProgram)
	}
	return all, program
}

// PeakErrorBytes returns by how much the peak can be wrong: a thread may hold
// back up to 64 KiB of change before it tells the others.
func (im *Image) PeakErrorBytes() uint64 {
	if im.MostThreads < 2 {
		return 0
	}
	return im.MostThreads * (64 << 10)
}
