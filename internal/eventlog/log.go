// Package eventlog reads the ordered logs of a recording, as
// format/recording.md specifies them: every event of every process, one by
// one, in order, in memory that does not grow with their number.
//
// A log may be cut, damaged or still growing. Reading never trusts a number
// and reports what it had to leave out as Warnings.
package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/recording"
)

// Log is the events of a recording. It is not safe for use by several
// goroutines.
type Log struct {
	// Ordered tells whether the events of different processes are in order by
	// the processor's counter; otherwise they are by a clock of a few
	// milliseconds. Those of one process are in order in any case.
	Ordered bool
	// Warnings say what is missing; there may be more when all is read.
	Warnings []string

	processes []*process
	row       []*process // those with events left, a heap; nil before the first
	start     uint64
	read      uint64
}

// ErrNone is the error for a recording without a log.
var ErrNone = errors.New("it has no log; record with mallow record --log")

// FileName returns the name of the log of an image, whether there is one or
// not.
func FileName(image string) string {
	return "log" + strings.TrimPrefix(image, "image")
}

// Open opens the logs of those images of a recording that want accepts, of all
// where it is nil.
func Open(rec *recording.Recording, want func(*recording.Image) bool) (*Log, error) {
	l := &Log{Ordered: true}
	asked, chosen := false, false
	for _, im := range rec.Images {
		asked = asked || im.Log != recording.NoLog
		if want != nil && !want(im) {
			if nanos, err := startOf(rec, im); err == nil {
				l.begin(nanos)
			}
			continue
		}
		chosen = true
		if im.UnrecordedChildren > 0 {
			l.warner(im)("forked children that could not be recorded: %d", im.UnrecordedChildren)
		}
		p, err := openProcess(rec, im, l.warner(im))
		switch {
		case errors.Is(err, recording.ErrNewerVersion):
			l.Close()
			return nil, fmt.Errorf("%s: %w", rec.Path, err)
		case im.Log == recording.LogRefused:
			l.warner(im)("its log could not be made: the disk was full or a limit was met")
		case errors.Is(err, fs.ErrNotExist) && im.Log == recording.NoLog:
		case errors.Is(err, fs.ErrNotExist):
			l.warner(im)("its log is missing")
		case err != nil:
			l.warner(im)("its log cannot be read: %v", err)
		default:
			l.add(p)
		}
	}
	if want == nil {
		l.Warnings = append(l.Warnings, unlogged(rec)...)
	}
	switch {
	case len(l.processes) > 0:
		return l, nil
	case chosen && !asked:
		return nil, fmt.Errorf("%s: %w", rec.Path, ErrNone)
	case len(l.Warnings) > 0:
		return nil, fmt.Errorf("%s: %s", rec.Path, l.Warnings[0])
	}
	return nil, fmt.Errorf("%s: there is no such process in it; there are %s", rec.Path, processesOf(rec))
}

// processesOf lists those of a recording, of many the first.
func processesOf(rec *recording.Recording) string {
	const most = 8
	var names []string
	for _, im := range rec.Images {
		// One that executed another program is still the same.
		if name := strconv.FormatUint(im.PID, 10); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// unlogged names what left no image, and so has no log either.
func unlogged(rec *recording.Recording) []string {
	warnings := slices.Clone(rec.Warnings)
	if rec.Meta == nil {
		return warnings
	}
	for _, u := range rec.Meta.Unrecorded {
		name := recording.ProgramName(u.Executable)
		if u.Processes > 1 {
			name += fmt.Sprintf(", %d processes", u.Processes)
		}
		warnings = append(warnings, name+", not recorded: "+u.Reason)
	}
	return warnings
}

func (l *Log) warner(im *recording.Image) func(string, ...any) {
	return func(format string, args ...any) {
		l.Warnings = append(l.Warnings, fmt.Sprintf("process %d: ", im.PID)+fmt.Sprintf(format, args...))
	}
}

func (l *Log) add(p *process) {
	l.processes = append(l.processes, p)
	l.Ordered = l.Ordered && p.clock == clockCycles
	l.begin(p.startNanos)
}

// begin notes when the log of a process began. The first of them all is where
// times begin, whether its events are wanted or not.
func (l *Log) begin(nanos uint64) {
	if l.start == 0 || nanos < l.start {
		l.start = nanos
	}
}

// Close closes the files.
func (l *Log) Close() error {
	for _, p := range l.processes {
		p.file.close()
	}
	return nil
}

// SkipBefore tells that events before these seconds are not wanted: what can
// be skipped unread is. Call it before Next.
func (l *Log) SkipBefore(seconds float64) {
	for _, p := range l.processes {
		p.skipBefore(l.start + uint64(max(0, seconds)*1e9))
	}
}

// Seconds returns when an event was, since the log began.
func (l *Log) Seconds(e *Event) float64 { return float64(int64(e.Nanoseconds-l.start)) / 1e9 }

// Threads tells whether a process of the log had several threads.
func (l *Log) Threads() bool {
	return slices.ContainsFunc(l.processes, func(p *process) bool { return p.image.MostThreads > 1 })
}

// Processes returns how many processes the log is of.
func (l *Log) Processes() int { return len(l.processes) }

// Next fills in the next event; false at the end.
func (l *Log) Next(e *Event) bool {
	if l.row == nil {
		l.lineUp()
	}
	for len(l.row) > 0 {
		p := l.row[0]
		next := p.peek()
		if next == nil {
			last := len(l.row) - 1
			l.row[0] = l.row[last]
			l.row = l.row[:last]
			sift(l.row, 0, l.before)
			continue
		}
		if key := l.key(next); key > p.key && len(l.row) > 1 {
			p.key = key
			sift(l.row, 0, l.before)
			continue
		}
		*e = *next
		p.pop()
		l.read++
		return true
	}
	return false
}

func (l *Log) lineUp() {
	l.row = slices.Clone(l.processes)
	for _, p := range l.row {
		p.key = p.startNanos
		if l.Ordered {
			p.key = p.startStamp
		}
	}
	slices.SortStableFunc(l.row, func(a, b *process) int { return cmp.Compare(a.key, b.key) })
}

// before puts processes in the order of their next events.
func (l *Log) before(a, b *process) bool { return a.key < b.key }

func (l *Log) key(e *Event) uint64 {
	if l.Ordered {
		return e.Stamp
	}
	return e.Nanoseconds
}

// Read returns how many events Next has returned.
func (l *Log) Read() uint64 { return l.read }

// Ends says in a sentence each which logs end before their processes do, and
// why. Call it when Next has returned false.
func (l *Log) Ends() []string {
	var ends []string
	for _, p := range l.processes {
		if p.end == EndNone {
			continue
		}
		at := float64(int64(max(p.nanos, p.startNanos)-l.start)) / 1e9
		ends = append(ends, fmt.Sprintf("process %d: the log ends at %.6f s, after %d events: %s", p.image.PID, at, p.read, p.describeEnd()))
	}
	return ends
}

// EndOf says why the log in a file ends before its process; "" where it does
// not.
func EndOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h, err := readHeader(f, info.Size())
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	p := process{header: h}
	return p.describeEnd(), nil
}
