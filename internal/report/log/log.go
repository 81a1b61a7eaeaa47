// Package log prints the ordered log of a recording: one line a call, in the
// manner of curl's memory log, or as JSON lines of schema "mallow.log/1".
//
// Its memory grows with the number of different stacks, not with that of
// events.
package log

import (
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/eventlog"
	"mallow/internal/profile"
)

// Options of a log.
type Options struct {
	JSON  bool
	Stack bool // with the frames of every call
	Time  bool // seconds since the log began; JSON always has them

	// What to print; the zero values stand for everything.
	Site    *regexp.Regexp // function, or file:line
	Size    SizeRange
	Threads []uint32
	From    float64 // seconds
	To      float64
}

// SizeRange is a range of requested sizes, in bytes. What releases a block
// asks for no size and is in no range but the whole one.
type SizeRange struct {
	Set         bool
	Least, Most uint64
}

func (r SizeRange) has(e *eventlog.Event) bool {
	if !r.Set {
		return true
	}
	return asks(e) && e.Size >= r.Least && e.Size <= r.Most
}

func asks(e *eventlog.Event) bool {
	return e.Kind == eventlog.Birth || e.Kind == eventlog.Move || e.Kind == eventlog.Failure
}

// form writes what a log consists of.
type form interface {
	head(b []byte) []byte
	describe(c *call)
	event(b []byte, e *eventlog.Event, c *call) []byte
	note(b []byte, text string) []byte
}

// atOnce events are read before they are printed, so that the places that are
// new among them are looked up together.
const atOnce = 16 << 10

// Write prints the events of l to w, and at its end what is missing. That a
// thread which was asked for has no event is an error.
func Write(w io.Writer, l *eventlog.Log, namer *profile.Namer, o Options) error {
	if o.From > 0 {
		l.SkipBefore(o.From)
	}
	p := &printer{options: o, log: l, calls: newCalls(namer, o), threads: make(map[uint32]bool)}
	if o.JSON {
		p.form = &jsonLines{log: l, stacks: o.Stack}
	} else {
		p.form = newText(l, o)
	}
	p.calls.describe = p.form.describe
	return p.write(w)
}

type printer struct {
	options Options
	log     *eventlog.Log
	calls   *calls
	form    form
	buffer  []byte
	threads map[uint32]bool // whose events were read
}

func (p *printer) write(w io.Writer) error {
	p.buffer = p.form.head(p.buffer)
	events := make([]eventlog.Event, 0, atOnce)
	for more := true; more; {
		if events, more = p.read(events[:0]); len(events) > 0 {
			p.calls.prepare(events)
		}
		for i := range events {
			e := &events[i]
			if c := p.calls.of(e); c.wanted {
				p.buffer = p.form.event(p.buffer, e, c)
			}
			if len(p.buffer) >= 256<<10 {
				if err := p.flush(w); err != nil {
					return err
				}
			}
		}
		// What was read is shown before the next is waited for.
		if err := p.flush(w); err != nil {
			return err
		}
	}
	for _, text := range slices.Concat(p.log.Warnings, p.log.Ends()) {
		p.buffer = p.form.note(p.buffer, text)
	}
	if err := p.flush(w); err != nil {
		return err
	}
	return p.checkThreads()
}

// checkThreads knows no thread that may be idle in a part of the time.
func (p *printer) checkThreads() error {
	if p.options.From > 0 || p.options.To > 0 || len(p.threads) == 0 {
		return nil
	}
	for _, wanted := range p.options.Threads {
		if !p.threads[wanted] {
			return fmt.Errorf("--thread %d: there is none; there are %s", wanted, threadNames(p.threads))
		}
	}
	return nil
}

func threadNames(threads map[uint32]bool) string {
	const most = 8
	var names []string
	for _, thread := range slices.Sorted(maps.Keys(threads)) {
		names = append(names, strconv.FormatUint(uint64(thread), 10))
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func (p *printer) flush(w io.Writer) error {
	_, err := w.Write(p.buffer)
	p.buffer = p.buffer[:0]
	return err
}

// read adds events that are wanted; false at the end.
func (p *printer) read(events []eventlog.Event) ([]eventlog.Event, bool) {
	o := &p.options
	until := o.To
	if until == 0 {
		until = math.Inf(1)
	}
	var e eventlog.Event
	for len(events) < cap(events) {
		if !p.log.Next(&e) {
			return events, false
		}
		if o.From > 0 || o.To > 0 {
			seconds := p.log.Seconds(&e)
			if seconds > until && p.log.Processes() == 1 {
				return events, false
			}
			if seconds < o.From || seconds > until {
				continue
			}
		}
		p.threads[e.Thread] = true
		if o.Size.has(&e) && (o.Threads == nil || slices.Contains(o.Threads, e.Thread)) {
			events = append(events, e)
		}
	}
	return events, true
}
