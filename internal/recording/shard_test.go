package recording

import "testing"

func TestPeakIsASumThatHasNotFallenYet(t *testing.T) {
	header := Header{major: majorCounts, minor: 1, SharedLive: 50, SharedLiveProgram: 40, SharedPeak: 120, SharedPeakProgram: 110}
	for _, test := range []struct {
		name              string
		change            func(*Image)
		peak, peakProgram uint64
		atPeak            bool
	}{
		{"rises", func(*Image) {}, 150, 120, true},
		{"only the program's", func(im *Image) { im.SharedPeak = 160 }, 160, 120, false},
		{"has fallen", func(im *Image) { im.Shards[0].LiveBytes = 60 }, 120, 110, false},
		{"libc's is not known yet", func(im *Image) { im.SharedLiveProgram = 90 }, 150, 150, true},
		{"of an older recorder", func(im *Image) { im.minor = 0 }, 120, 110, false},
		{"of an importer", func(im *Image) { im.major = 1 }, 120, 110, false},
	} {
		im := &Image{Header: header, Shards: []Shard{
			{LiveBytes: 100, LiveBytesLibc: 20, PeakBytes: 90, PeakBytesProgram: 80}, {LiveBytes: 1000},
		}}
		test.change(im)
		im.raisePeaks()
		if all, program := im.PeakBytes(); all != test.peak || program != test.peakProgram || im.atPeak() != test.atPeak {
			t.Errorf("%s: peaks %d and %d, at it %v; want %d, %d, %v",
				test.name, all, program, im.atPeak(), test.peak, test.peakProgram, test.atPeak)
		}
	}
}
