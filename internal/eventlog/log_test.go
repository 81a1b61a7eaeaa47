package eventlog_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/internal/eventlog"
	"mallow/internal/eventlog/eventlogtest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// written is a recording of one image for each log.
func written(t testing.TB, logs ...[]byte) *recording.Recording {
	t.Helper()
	folder := t.TempDir()
	for i, log := range logs {
		im := recordingtest.NewImage(uint64(100+i), "/opt/demo/bin/demo")
		im.Log = recording.LogKept
		if err := im.Write(folder, recordingtest.Packed); err != nil {
			t.Fatal(err)
		}
		if log == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, eventlog.FileName(im.Name)), log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func open(t testing.TB, rec *recording.Recording) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(rec, func(*recording.Image) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func all(l *eventlog.Log) (events []eventlog.Event) {
	var e eventlog.Event
	for l.Next(&e) {
		events = append(events, e)
	}
	return events
}

// random returns an event of any kind, whose address may be anything that a
// block can have.
func random(r *rand.Rand) eventlog.Event {
	address := func() uint64 { return r.Uint64() >> (17 + r.UintN(40)) &^ 7 }
	size := r.Uint64() >> r.UintN(64)
	stack := r.Uint32() >> (8 + r.UintN(24))
	switch r.IntN(6) {
	case 0:
		return eventlog.Event{Kind: eventlog.Death, Caller: stack, Old: address()}
	case 1:
		return eventlog.Event{Kind: eventlog.Move, Stack: stack, Size: size, Address: address(), Old: address()}
	case 2:
		return eventlog.Event{Kind: eventlog.Failure, Stack: stack, Size: size}
	case 3:
		return eventlog.Event{Kind: eventlog.NullRelease, Caller: stack}
	case 4:
		return eventlog.Event{Kind: eventlog.Birth, Stack: stack, Size: size, Address: address(), Argument: 1 + r.Uint64()>>r.UintN(63)}
	}
	return eventlog.Event{Kind: eventlog.Birth, Stack: stack, Size: size, Address: address()}
}

// TestMergesThreadsAndProcesses writes the events of some threads of some
// processes and wants them back in order.
func TestMergesThreadsAndProcesses(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		var logs []*eventlogtest.Log
		var streams []*eventlogtest.Stream
		var want []eventlog.Event
		var pids, tids []int
		for pid := range 1 + r.IntN(4) {
			log := eventlogtest.New()
			log.BlockBytes = 256 + r.IntN(2000)
			logs = append(logs, log)
			for thread := range 1 + r.IntN(5) {
				streams = append(streams, log.Stream(uint32(thread), uint32(1000*pid+thread)))
				pids, tids = append(pids, 100+pid), append(tids, 1000*pid+thread)
			}
		}
		stamp := uint64(0)
		for range r.IntN(3000) {
			stamp += 1 + r.Uint64N(1000)
			i := r.IntN(len(streams))
			if r.IntN(100) == 0 {
				tids[i] += 100
				streams[i].Thread(uint32(tids[i]))
			}
			e := random(r)
			streams[i].Event(stamp, e)
			e.Thread, e.Stamp, e.Nanoseconds = uint32(tids[i]), eventlogtest.Start+stamp, uint64(pids[i])
			want = append(want, e)
		}
		files := make([][]byte, len(logs))
		for i, log := range logs {
			files[i] = log.Bytes()
		}
		l := open(t, written(t, files...))
		got := all(l)
		for i := range got {
			if d := int64(got[i].Nanoseconds - got[i].Stamp); d < -2000 || d > 2000 {
				t.Fatalf("seed %d: event %d at %d is said to be at %d", seed, i, got[i].Stamp, got[i].Nanoseconds)
			}
			got[i].Nanoseconds, got[i].Image = got[i].Image.PID, nil
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d events, want %d", seed, len(got), len(want))
		}
		if len(l.Warnings)+len(l.Ends()) > 0 || !l.Ordered {
			t.Errorf("seed %d: %q %q", seed, l.Warnings, l.Ends())
		}
	}
}

// ascending writes n births, one a microsecond, whose sizes count from 0.
func ascending(log *eventlogtest.Log, streams, n int) {
	all := make([]*eventlogtest.Stream, streams)
	for i := range all {
		all[i] = log.Stream(uint32(i), uint32(1+i))
	}
	for i := range n {
		all[i%streams].Event(uint64(1000*i), eventlog.Event{Kind: eventlog.Birth, Stack: 1, Size: uint64(i), Address: uint64(16 * i)})
	}
}

func TestNothingBehindTheEnd(t *testing.T) {
	log := eventlogtest.New()
	ascending(log, 3, 1000)
	log.End, log.EndStamp = eventlog.EndLimit, 600_500
	l := open(t, written(t, log.Bytes()))
	if got := all(l); len(got) != 601 {
		t.Errorf("%d events, want 601", len(got))
	}
	if ends := l.Ends(); len(ends) != 1 || !strings.Contains(ends[0], "ends at 0.000600 s, after 601 events: its limit") {
		t.Errorf("ends %q", ends)
	}
}

func TestSkipBefore(t *testing.T) {
	log := eventlogtest.New()
	log.BlockBytes = 1000
	ascending(log, 2, 5000)
	l := open(t, written(t, log.Bytes()))
	l.SkipBefore(0.004)
	got := all(l)
	if len(got) < 1000 || len(got) > 1100 {
		t.Errorf("%d events were read, of which 1000 are wanted", len(got))
	}
	for i, e := range got[len(got)-1000:] {
		if e.Size != uint64(4000+i) {
			t.Fatalf("event %d has size %d", i, e.Size)
		}
	}
}

func TestTrimmedReadsTheSame(t *testing.T) {
	log := eventlogtest.New()
	ascending(log, 3, 3000)
	b := log.Bytes()
	sparse := append(slices.Clone(b), make([]byte, 1<<20)...)
	rec := written(t, sparse)
	want := all(open(t, rec))
	path := filepath.Join(rec.Path, eventlog.FileName(rec.Images[0].Name))
	for range 2 {
		if err := eventlog.Trim(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() >= int64(len(b)) {
			t.Errorf("%d of %d bytes (%v)", info.Size(), len(sparse), err)
		}
		got := all(open(t, rec))
		if !slices.Equal(got, want) || len(want) != 3000 {
			t.Errorf("%d events, want %d", len(got), len(want))
		}
	}
}

func TestWithoutALog(t *testing.T) {
	folder := t.TempDir()
	im := recordingtest.NewImage(1, "demo")
	if err := im.Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Open(rec, func(*recording.Image) bool { return true }); !errors.Is(err, eventlog.ErrNone) {
		t.Errorf("%v", err)
	}
	if _, err := eventlog.Open(rec, func(*recording.Image) bool { return false }); err == nil || !strings.HasSuffix(err.Error(), "there is no such process in it; there are 1") {
		t.Errorf("%v", err)
	}
	log := eventlogtest.New()
	ascending(log, 1, 10)
	l := open(t, written(t, log.Bytes(), nil))
	if n := len(all(l)); n != 10 || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "missing") {
		t.Errorf("%d events, warnings %q", n, l.Warnings)
	}
}

// TestDamage holds what a damaged file may cost: its own events, with a
// warning, and not those of other blocks.
func TestDamage(t *testing.T) {
	const block = 32 << 10
	for name, test := range map[string]struct {
		damage  func(b []byte) []byte
		err     string
		warning string
		least   int
	}{
		"whole":          {func(b []byte) []byte { return b }, "", "", 12000},
		"newer":          {func(b []byte) []byte { b[8] = 2; return b }, "newer", "", 0},
		"foreign":        {func(b []byte) []byte { b[0] = 0; return b }, "no log", "", 0},
		"short":          {func(b []byte) []byte { return b[:100] }, "cut", "", 0},
		"tiny blocks":    {func(b []byte) []byte { b[17] = 0; return b }, "damaged", "", 0},
		"unknown clock":  {func(b []byte) []byte { b[24] = 9; return b }, "damaged", "", 0},
		"unknown record": {func(b []byte) []byte { b[block+64] = 7; return b }, "", "damaged", 10000},
		"used":           {func(b []byte) []byte { b[block+7] = 0xff; return b }, "", "", 6000},
		"next itself":    {func(b []byte) []byte { b[block+8] = 1; return b }, "", "", 6000},
		"next of other":  {func(b []byte) []byte { b[block+8]++; return b }, "", "another thread", 6000},
		"cut":            {func(b []byte) []byte { return b[:3*block] }, "", "", 1500},
		"no blocks":      {func(b []byte) []byte { clear(b[128:136]); return b }, "", "", 0},
		"many blocks":    {func(b []byte) []byte { b[135] = 0xff; return b }, "", "", 12000},
	} {
		t.Run(name, func(t *testing.T) {
			log := eventlogtest.New()
			ascending(log, 2, 12000)
			rec := written(t, test.damage(log.Bytes()))
			l, err := eventlog.Open(rec, func(*recording.Image) bool { return true })
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := len(all(l)); n < test.least || n > 12000 {
				t.Errorf("%d events, want %d at least", n, test.least)
			}
			if text := fmt.Sprint(l.Warnings); (test.warning == "") != (len(l.Warnings) == 0) || !strings.Contains(text, test.warning) {
				t.Errorf("warnings %s, want %q", text, test.warning)
			}
		})
	}
}

// TestAHugeClaimCostsNothing reads a sparse file whose numbers speak of
// terabytes.
func TestAHugeClaimCostsNothing(t *testing.T) {
	log := eventlogtest.New()
	ascending(log, 2, 100)
	b := log.Bytes()
	binary.LittleEndian.PutUint64(b[128:], 1<<60)
	rec := written(t, b)
	path := filepath.Join(rec.Path, eventlog.FileName(rec.Images[0].Name))
	if err := os.Truncate(path, 1<<42); err != nil {
		t.Skipf("the file system has no sparse files of 4 TiB: %v", err)
	}
	if n := len(all(open(t, rec))); n != 100 {
		t.Errorf("%d events", n)
	}
}

func FuzzLog(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		log := eventlogtest.NewWith(4 << 10)
		log.BlockBytes = 1500
		streams := []*eventlogtest.Stream{log.Stream(0, 1), log.Stream(1, 2)}
		for i := range 60 {
			streams[i%2].Event(uint64(1000*i), random(r))
		}
		f.Add(log.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		events, last := 0, uint64(0)
		err := eventlog.ReadAll(b, func(e *eventlog.Event) {
			events++
			if e.Nanoseconds < last {
				t.Fatalf("the time went back from %d to %d", last, e.Nanoseconds)
			}
			last = e.Nanoseconds
		})
		// The shortest record is of three bytes.
		if err == nil && events > len(b)/3 {
			t.Fatalf("%d events in %d bytes", events, len(b))
		}
	})
}
