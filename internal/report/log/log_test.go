package log_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"mallow/internal/eventlog"
	"mallow/internal/eventlog/eventlogtest"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/report/log"
)

var update = flag.Bool("update", false, "write testdata anew")

// opened is the log of a program that never was: two processes, of which the
// first has two threads, call every kind of function.
func opened(t testing.TB) (*recording.Recording, *eventlog.Log) {
	t.Helper()
	folder := t.TempDir()
	demo := func(pid uint64) (*recordingtest.Image, func(f recording.Function, offset uint64) uint32) {
		im := recordingtest.NewImage(pid, "/opt/demo/bin/demo")
		im.Log = recording.LogKept
		program := im.Module(recordingtest.Module{
			Path: "/opt/demo/bin/demo", BuildID: []byte{0xde, 0x30}, Kind: recording.ModuleExecutable,
			Start: 0x5500_0000_0000, End: 0x5500_0001_0000, Bias: 0x5500_0000_0000,
		})
		library := im.Module(recordingtest.Module{
			Path: "/opt/demo/lib/libtable.so.1", BuildID: []byte{0x7a, 0xb1, 0xe0}, Kind: recording.ModuleLibrary,
			Start: 0x7f00_0000_0000, End: 0x7f00_0002_0000, Bias: 0x7f00_0000_0000,
		})
		request := im.Region(0, "request")
		return im, func(f recording.Function, offset uint64) uint32 {
			frames := []recordingtest.Frame{recordingtest.Call(program, 0x5500_0000_1180), recordingtest.Call(program, 0x5500_0000_0000+offset)}
			if offset >= 0x2000 {
				frames[1] = recordingtest.Call(library, 0x7f00_0000_0000+offset)
			}
			if f == recording.Strdup || f == recording.New {
				return im.StackIn(request, f, frames...).ID
			}
			return im.Stack(f, frames...).ID
		}
	}
	im, stack := demo(4711)
	file := eventlogtest.New()
	one, two := file.Stream(0, 4711), file.Stream(1, 4712)
	at := uint64(0)
	add := func(s *eventlogtest.Stream, e eventlog.Event) {
		at += 1_000_500
		s.Event(at, e)
	}
	add(one, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.Malloc, 0x1210), Size: 16, Address: 0x7f0010})
	add(one, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.Calloc, 0x1220), Size: 400, Argument: 100, Address: 0x7f0400})
	add(two, eventlog.Event{Kind: eventlog.Move, Stack: stack(recording.Realloc, 0x1230), Size: 800, Old: 0x7f0400, Address: 0x7f0800})
	add(one, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.Realloc, 0x1230), Size: 8, Address: 0x7f0008})
	add(one, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.Strdup, 0x2010), Size: 7, Argument: 0x550123, Address: 0x7f0040})
	add(two, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.Wcsdup, 0x1248), Size: 44, Argument: 0x550456, Address: 0x7f0080})
	add(two, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.PosixMemalign, 0x1260), Size: 100, Argument: 4096, Address: 0x7f1000})
	add(one, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.New, 0x2020), Size: 48, Address: 0x7f0100})
	add(one, eventlog.Event{Kind: eventlog.Failure, Stack: stack(recording.Malloc, 0x1210), Size: 1 << 62})
	add(one, eventlog.Event{Kind: eventlog.Failure, Stack: stack(recording.Calloc, 0x1220), Size: eventlog.UnknownSize})
	add(two, eventlog.Event{Kind: eventlog.Birth, Stack: 0, Size: 5, Address: 0x7f0200})
	add(two, eventlog.Event{Kind: eventlog.Birth, Stack: 1 << 30, Size: 6, Address: 0x7f0300})
	node := im.Path(recordingtest.Call(1, 0x5500_0000_1180), recordingtest.Call(1, 0x5500_0000_1270))
	add(one, eventlog.Event{Kind: eventlog.Death, Caller: node, Old: 0x7f0010})
	add(one, eventlog.Event{Kind: eventlog.NullRelease, Caller: node})
	file.End, file.EndStamp = eventlog.EndLimit, at+2_000_000
	add(one, eventlog.Event{Kind: eventlog.Death, Caller: node, Old: 0x7f0100})
	p := recordingtest.NewProcess(im)
	p.Thread()
	p.Thread()
	write(t, p.Finish(), file, folder)

	child, stack := demo(4720)
	file = eventlogtest.New()
	alone := file.Stream(0, 4720)
	at = 5_500_000
	add(alone, eventlog.Event{Kind: eventlog.Birth, Stack: stack(recording.NewArrayAligned, 0x2010), Size: 256, Argument: 64, Address: 0x7f0400})
	add(alone, eventlog.Event{Kind: eventlog.Death, Caller: 0, Old: 0x7f0400})
	write(t, child, file, folder)

	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	l, err := eventlog.Open(rec, func(*recording.Image) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return rec, l
}

func write(t testing.TB, im *recordingtest.Image, file *eventlogtest.Log, folder string) {
	t.Helper()
	if err := im.Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	if err := file.Write(folder, im.Name); err != nil {
		t.Fatal(err)
	}
}

func TestGolden(t *testing.T) {
	for name, o := range map[string]log.Options{
		"plain.txt":  {},
		"stack.txt":  {Stack: true, Time: true},
		"all.json":   {JSON: true},
		"stack.json": {JSON: true, Stack: true},
		"site.txt":   {Site: regexp.MustCompile(`^demo\.c:2`)},
		"size.txt":   {Size: log.SizeRange{Set: true, Least: 5, Most: 44}},
		"thread.txt": {Threads: []uint32{4712, 4720}},
		"time.txt":   {From: 0.004, To: 0.0075, Time: true},
	} {
		t.Run(name, func(t *testing.T) {
			rec, l := opened(t)
			var got bytes.Buffer
			namer := profile.NewNamer([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
			if err := log.Write(&got, l, namer, o); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s:\n%s\nwant\n%s", path, got.Bytes(), want)
			}
		})
	}
}

// TestMemoryDoesNotGrow prints logs of different lengths.
func TestMemoryDoesNotGrow(t *testing.T) {
	allocated := func(events int) float64 {
		folder := t.TempDir()
		im := recordingtest.NewImage(1, "/opt/demo/bin/demo")
		im.Log = recording.LogKept
		stack := im.Stack(recording.Malloc, recordingtest.Call(0, 0x1234))
		file := eventlogtest.New()
		s := file.Stream(0, 1)
		for i := range events {
			s.Event(uint64(i), eventlog.Event{Kind: eventlog.Birth, Stack: stack.ID, Size: uint64(i), Address: 16})
		}
		write(t, im, file, folder)
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			l, err := eventlog.Open(rec, func(*recording.Image) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			namer := profile.NewNamer([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
			var lines counter
			if err := log.Write(&lines, l, namer, log.Options{}); err != nil || int(lines) != events {
				t.Errorf("%d lines of %d events: %v", lines, events, err)
			}
		})
	}
	few, many := allocated(1000), allocated(300_000)
	if many > few+200 {
		t.Errorf("%g allocations for 1,000 events, %g for 300,000", few, many)
	}
}

// counter counts the lines that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(bytes.Count(b, []byte{'\n'}))
	return len(b), nil
}

// FuzzWrite prints whatever a log file may say beside a sound image.
func FuzzWrite(f *testing.F) {
	im := recordingtest.NewImage(1, "/opt/demo/bin/demo")
	im.Log = recording.LogKept
	stack := im.Stack(recording.Calloc, recordingtest.Call(0, 0x1234))
	file := eventlogtest.NewWith(4 << 10)
	s := file.Stream(0, 1)
	for i := range uint64(20) {
		s.Event(i, eventlog.Event{Kind: eventlog.Kind(1 + i%5), Stack: stack.ID, Caller: 1, Size: i, Address: 16 * i, Argument: i})
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		folder := t.TempDir()
		if err := im.Write(folder, recordingtest.Packed); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, eventlog.FileName(im.Name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []log.Options{{Stack: true, Time: true}, {JSON: true, From: 1}} {
			l, err := eventlog.Open(rec, func(*recording.Image) bool { return true })
			if err != nil {
				return
			}
			namer := profile.NewNamer([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
			if err := log.Write(io.Discard, l, namer, o); err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
	})
}

// A thread that is not there is no empty log.
func TestNoSuchThread(t *testing.T) {
	rec, l := opened(t)
	namer := profile.NewNamer([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
	var got bytes.Buffer
	err := log.Write(&got, l, namer, log.Options{Threads: []uint32{1}})
	if err == nil || err.Error() != "--thread 1: there is none; there are 4711, 4712, 4720" {
		t.Errorf("%v: %s", err, got.String())
	}
}
