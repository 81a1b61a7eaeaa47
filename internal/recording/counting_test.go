package recording_test

import (
	"math/rand/v2"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// ledger is what a recording must say, kept the simple way: the live bytes of
// every stack, copied whenever their sum is greater than ever before.
type ledger struct {
	live, atPeak map[uint32]int64
	sum, peak    int64
}

func (l *ledger) change(stack uint32, by int64) {
	l.live[stack] += by
	l.sum += by
	if l.sum > l.peak {
		l.peak = l.sum
		l.atPeak = make(map[uint32]int64, len(l.live))
		for k, v := range l.live {
			l.atPeak[k] = v
		}
	}
}

// TestPeakByStack holds the epoch rule against a ledger on random programs.
func TestPeakByStack(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		im := recordingtest.NewImage(1, "random")
		module := im.Module(recordingtest.Module{Path: "random", End: 1 << 20})
		var stacks []recordingtest.Stack
		for i := range 1 + random.Uint64N(150) {
			stacks = append(stacks, im.Stack(recording.Malloc, recordingtest.Call(module, 16*(i+1))))
		}
		p := recordingtest.NewProcess(im)
		threads := []*recordingtest.Thread{p.Thread()}
		for range random.IntN(4) {
			threads = append(threads, p.Thread())
		}
		type owned struct {
			block recordingtest.Block
			stack uint32
			size  uint64
		}
		var blocks []owned
		book := ledger{live: map[uint32]int64{}}
		for range random.IntN(2000) {
			thread := threads[random.IntN(len(threads))]
			if len(blocks) > 0 && random.IntN(100) < 50 {
				i := random.IntN(len(blocks))
				thread.Free(blocks[i].block)
				book.change(blocks[i].stack, -int64(blocks[i].size))
				blocks[i] = blocks[len(blocks)-1]
				blocks = blocks[:len(blocks)-1]
				continue
			}
			s := stacks[random.IntN(len(stacks))]
			size := random.Uint64N(1000)
			blocks = append(blocks, owned{thread.Alloc(s, size), s.ID, size})
			book.change(s.ID, int64(size))
		}

		got := read(t, p.Finish().Bytes())
		if peak, _ := got.PeakBytes(); peak != uint64(book.peak) {
			t.Fatalf("seed %d: peak %d, want %d", seed, peak, book.peak)
		}
		got.EachStack(func(id uint32, c *recording.Counters) {
			if c.PeakBytes != book.atPeak[id] {
				t.Errorf("seed %d: stack %d has %d bytes at the peak, want %d", seed, id, c.PeakBytes, book.atPeak[id])
			}
			if c.LiveBytes() != book.live[id] {
				t.Errorf("seed %d: stack %d has %d live bytes, want %d", seed, id, c.LiveBytes(), book.live[id])
			}
		})
		if t.Failed() {
			return
		}
	}
}
