package gocode

import (
	"bytes"
	"testing"
)

func sampleFile(depth, count uint64) []byte {
	b := make([]byte, samplesHeader+2*sampleBytes)
	copy(b, samplesMagic)
	le.PutUint64(b[8:], samplesVersion)
	le.PutUint64(b[16:], 100)
	slot := b[samplesHeader+sampleBytes:] // the first is free
	le.PutUint64(slot, 1)
	le.PutUint64(slot[8:], count)
	le.PutUint64(slot[16:], depth)
	for i := range 3 {
		le.PutUint64(slot[24+8*i:], uint64(0x1000+i))
	}
	return b
}

func TestSamplesAreRead(t *testing.T) {
	s, err := parseSamples(sampleFile(3, 7))
	if err != nil || s.rate != 100 || len(s.stacks) != 1 || s.counts[0] != 7 || s.stacks[0][2] != 0x1002 {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := parseSamples(sampleFile(0, 7)); err != nil || len(s.stacks) != 0 {
		t.Errorf("of a slot that is not written to its end: %+v, %v", s, err)
	}
}

func TestDamagedSamplesAreRefused(t *testing.T) {
	newer := sampleFile(3, 7)
	newer[8]++
	for name, b := range map[string][]byte{
		"empty": nil, "another file": bytes.Repeat([]byte("x"), 1000), "newer": newer,
		"too deep": sampleFile(mostSampledFrames+1, 7), "too many": sampleFile(3, 1<<63),
	} {
		if s, err := parseSamples(b); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	cut := sampleFile(3, 7)
	if s, err := parseSamples(cut[:len(cut)-1]); err != nil || len(s.stacks) != 0 {
		t.Errorf("cut: %+v, %v", s, err)
	}
}
