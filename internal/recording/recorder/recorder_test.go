package recorder_test

import (
	"bytes"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
)

func read(t *testing.T, im *recorder.Image) *recording.Image {
	t.Helper()
	b := im.Bytes()
	got, err := recording.ReadImage(im.Name, bytes.NewReader(b), int64(len(b)))
	if err != nil || len(got.Warnings) > 0 {
		t.Fatal(err, got.Warnings)
	}
	return got
}

func newProcess() (*recorder.Process, *recorder.Thread, recorder.Stack, recorder.Stack) {
	im := recorder.NewImage(1, "/bin/prog")
	p := recorder.NewProcess(im)
	p.Detailed = true
	outer := im.Path(im.Symbolic("main", "main.c", "prog", 1))
	return p, p.Thread(), im.StackAt(outer, recording.Malloc, false), im.StackAt(outer, recording.Calloc, false)
}

// A million events are 512 to 1024 samples, in order, that lead to the end.
func TestTimeline(t *testing.T) {
	p, thread, first, second := newProcess()
	var kept []recorder.Block
	for i := range uint32(500_000) {
		p.At(i / 1000)
		if i%100 == 0 {
			kept = append(kept, thread.Alloc(second, 1000))
		}
		thread.Free(thread.Alloc(first, 16))
	}
	for _, b := range kept[:2000] {
		thread.Free(b)
	}
	im := read(t, p.Finish())
	if !im.Timed() {
		t.Error("the image has no times")
	}
	samples := im.Timeline()
	if len(samples) < 512 || len(samples) > 1025 {
		t.Fatalf("%d samples", len(samples))
	}
	last := samples[len(samples)-1]
	if last.Births != 505_000 || last.LiveBlocks != 3000 || last.LiveBytes != 3000_000 || last.Ms != 499 {
		t.Errorf("ends with %+v", last)
	}
	var grown int64 // what the changes sum up to is what lives
	for i, s := range samples[:len(samples)-1] {
		if i > 0 && (s.Births < samples[i-1].Births || s.Ms < samples[i-1].Ms) {
			t.Fatalf("%+v after %+v", s, samples[i-1])
		}
		for _, change := range s.Changes {
			grown += change.Bytes
		}
		if grown != s.LiveBytes {
			t.Fatalf("%+v, and the changes so far are %d bytes", s, grown)
		}
	}
}

// Without a clock there is no timeline, and times mean nothing.
func TestUntimed(t *testing.T) {
	p, thread, first, _ := newProcess()
	p.Image.Flags = recording.FlagSymbolic
	for range 1000 {
		thread.Free(thread.Alloc(first, 16))
	}
	if im := read(t, p.Finish()); im.Timed() || im.Timeline() != nil {
		t.Error("the image has times")
	}
}

// Lifetimes of more than 65,535 blocks carry over.
func TestLifetimes(t *testing.T) {
	p, thread, first, second := newProcess()
	const n = 200_000
	for range n {
		b := thread.Alloc(first, 8)
		thread.Free(thread.Alloc(second, 8))
		thread.Free(b)
	}
	im := read(t, p.Finish())
	if k := im.Knowledge(first.ID); k.Lifetimes[1] != n || k.Runs != n || k.LongestRun != 1 || k.Births != n || k.Deaths != n {
		t.Errorf("%+v", k)
	}
	k := im.Knowledge(second.ID)
	if k.Lifetimes[0] != n || len(k.BornAfter) != 1 || k.BornAfter[0].Candidate != first.ID || k.BornAfter[0].Lead != n {
		t.Errorf("%+v", k)
	}
}

// Sums are as good as events, but for what only events tell.
func TestCount(t *testing.T) {
	p, thread, first, second := newProcess()
	thread.Count(first, &recording.Counters{Calls: 10, Bytes: 100, UsableBytes: 160, SizeMin: 5, SizeMax: 20, Releases: 4, ReleasedBytes: 30})
	thread.Count(first, &recording.Counters{Calls: 1, Bytes: 2, SizeMin: 2, SizeMax: 2, Failed: 1})
	thread.Count(second, &recording.Counters{Calls: 1, Bytes: 1000, SizeMin: 1000, SizeMax: 1000})
	if sum := p.Totals(); sum != (recorder.Totals{Allocations: 12, Frees: 4, Failed: 1, LiveBlocks: 8, LiveBytes: 1072}) {
		t.Errorf("%+v", sum)
	}
	im := read(t, p.Finish())
	if peak, _ := im.PeakBytes(); peak != 1072 {
		t.Errorf("peak %d", peak)
	}
	im.EachStack(func(id uint32, c *recording.Counters) {
		want := recording.Counters{Calls: 1, Bytes: 1000, SizeMin: 1000, SizeMax: 1000, PeakBytes: 1000}
		if id == first.ID {
			want = recording.Counters{
				Calls: 11, Bytes: 102, UsableBytes: 160, SizeMin: 2, SizeMax: 20, Failed: 1, Releases: 4, ReleasedBytes: 30, PeakBytes: 72,
			}
		}
		if *c != want {
			t.Errorf("stack %d: %+v", id, *c)
		}
	})
}
