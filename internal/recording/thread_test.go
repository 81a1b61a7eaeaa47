package recording_test

import (
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// TestThreads reads what one of two threads did that release each other's
// blocks.
func TestThreads(t *testing.T) {
	path := filepath.Join(handmade, "two-threads.mallow")
	for _, c := range []struct {
		selector string
		function recording.Function
	}{{recording.MainThread, recording.New}, {"4800", recording.New}, {"4801", recording.Malloc}} {
		rec, err := recording.OpenThreads(path, []string{c.selector})
		if err != nil {
			t.Fatal(err)
		}
		im := rec.Images[0]
		if len(im.Shards) != 1 || !im.Chosen || im.Mixed != 0 || len(im.Warnings) > 0 {
			t.Errorf("%s: %d shards, chosen %v, mixed %d, %v", c.selector, len(im.Shards), im.Chosen, im.Mixed, im.Warnings)
		}
		im.EachStack(func(id uint32, counters *recording.Counters) {
			tail, _ := im.Node(im.StackNode(id))
			if tail.Function() != c.function || counters.Calls != 500 || counters.Releases != 500 || counters.LiveBytes() != 0 {
				t.Errorf("%s: stack %d, %v: %+v", c.selector, id, tail.Function(), counters)
			}
		})
	}
	both, err := recording.OpenThreads(path, []string{"4800", "4801"})
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := recording.Open(path)
	sum := func(im *recording.Image) (c recording.Counters) {
		im.EachStack(func(_ uint32, s *recording.Counters) { c.Add(s) })
		return c
	}
	if got, want := sum(both.Images[0]), sum(whole.Images[0]); got != want {
		t.Errorf("both threads: %+v, want %+v", got, want)
	}
}

func TestThreadThatIsNot(t *testing.T) {
	_, err := recording.OpenThreads(filepath.Join(handmade, "two-threads.mallow"), []string{"7"})
	if err == nil || !strings.Contains(err.Error(), "--thread 7: there is none; there are main, 480") {
		t.Error(err)
	}
}

// ofMainThread is the image of a process as far as its first thread goes.
func ofMainThread(t *testing.T, p *recordingtest.Process) *recording.Image {
	t.Helper()
	folder := t.TempDir()
	if err := p.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.OpenThreads(folder, []string{recording.MainThread})
	if err != nil {
		t.Fatal(err)
	}
	return rec.Images[0]
}

// TestSharedStack has two threads that allocate with one stack: what lives of
// the blocks of one is known as long as each releases its own.
func TestSharedStack(t *testing.T) {
	for _, c := range []struct {
		foreign, mixed uint64
		live           int64
	}{{0, 0, 1}, {1, 10, 2}} {
		im := recordingtest.NewImage(1, "/bin/x")
		p := recordingtest.NewProcess(im)
		first, second := p.Thread(), p.Thread()
		stack := im.Stack(recording.Malloc, recordingtest.Frame{Tag: recording.TagInterrupted, Value: 1})
		for i := range uint64(10) {
			of := first.Alloc(stack, 8)
			other := second.Alloc(stack, 8)
			switch {
			case i < c.foreign:
				first.Free(other)
			case i < 9:
				first.Free(of)
				second.Free(other)
			}
		}
		got := ofMainThread(t, p)
		got.EachStack(func(_ uint32, s *recording.Counters) {
			if s.Calls != 10 || s.LiveBlocks() != c.live || s.LiveBytes() != 8*c.live || got.Mixed != c.mixed {
				t.Errorf("%d foreign: %+v, mixed %d", c.foreign, s, got.Mixed)
			}
		})
	}
}

// TestHandedOn has two threads that allocate with one stack and release all of
// each other's blocks: none lives, whoever made it.
func TestHandedOn(t *testing.T) {
	for kept, mixed := range map[int]uint64{0: 0, 3: 10} {
		im := recordingtest.NewImage(1, "/bin/x")
		p := recordingtest.NewProcess(im)
		first, second := p.Thread(), p.Thread()
		stack := im.Stack(recording.Malloc, recordingtest.Frame{Tag: recording.TagInterrupted, Value: 1})
		for i := range 10 {
			of, other := first.Alloc(stack, 8), second.Alloc(stack, 8)
			first.Free(other)
			if i >= kept {
				second.Free(of)
			}
		}
		got := ofMainThread(t, p)
		got.EachStack(func(_ uint32, s *recording.Counters) {
			if s.Calls != 10 || s.LiveBlocks() != int64(kept) || s.LiveBytes() != int64(8*kept) || got.Mixed != mixed {
				t.Errorf("%d kept: %+v, mixed %d", kept, s, got.Mixed)
			}
		})
	}
}
