package eventlog

import (
	"errors"
	"fmt"
	"io"

	"mallow/internal/recording"
)

// process reads the log of one image: its streams merged by stamp.
type process struct {
	header
	image   *recording.Image
	file    *file     // nil in tests
	streams []*stream // a heap by key
	read    uint64    // events so far
	key     uint64    // where the next event stands among those of all processes, or less
	ended   bool
	nanos   uint64 // of the latest event: time never goes back
	warn    func(format string, args ...any)
}

func openProcess(rec *recording.Recording, im *recording.Image, warn func(string, ...any)) (*process, error) {
	f := &file{recording: rec, name: FileName(im.Name)}
	defer f.close()
	size, err := f.size()
	if err != nil {
		return nil, err
	}
	p, err := newProcess(f, size, im, warn)
	if err != nil {
		return nil, err
	}
	p.file = f
	return p, nil
}

// startOf returns when the log of an image began.
func startOf(rec *recording.Recording, im *recording.Image) (uint64, error) {
	f := &file{recording: rec, name: FileName(im.Name)}
	defer f.close()
	size, err := f.size()
	if err != nil {
		return 0, err
	}
	h, err := readHeader(f, size)
	return h.startNanos, err
}

// file is open from its first read to close, and again after it: there may be
// more processes than descriptors.
type file struct {
	recording *recording.Recording
	name      string
	open      *recording.File
}

func (f *file) size() (int64, error) {
	if err := f.reopen(); err != nil {
		return 0, err
	}
	return f.open.Size(), nil
}

func (f *file) reopen() (err error) {
	if f.open == nil {
		f.open, err = f.recording.OpenFile(f.name)
	}
	return err
}

func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.reopen(); err != nil {
		return 0, err
	}
	return f.open.ReadAt(b, offset)
}

func (f *file) close() {
	if f != nil && f.open != nil {
		f.open.Close()
		f.open = nil
	}
}

func newProcess(r io.ReaderAt, size int64, im *recording.Image, warn func(string, ...any)) (*process, error) {
	h, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	p := &process{header: h, image: im, warn: warn}
	heads, latest := p.findStreams(r)
	rate := p.rate(latest)
	for number, head := range heads {
		p.streams = append(p.streams, &stream{
			source: r, header: &p.header, number: number, rate: rate, next: head.block, key: head.stamp,
			event: Event{Image: im},
		})
	}
	for i := len(p.streams)/2 - 1; i >= 0; i-- {
		sift(p.streams, i, earlierStream)
	}
	return p, nil
}

func (p *process) skipBefore(nanos uint64) {
	for _, s := range p.streams {
		s.skip = func(until uint64) bool { return until < nanos }
	}
}

func earlierStream(a, b *stream) bool {
	return a.key < b.key || a.key == b.key && a.number < b.number
}

// peek returns the next event, which stays valid until pop; nil at the end.
func (p *process) peek() *Event {
	for len(p.streams) > 0 && !p.ended {
		s := p.streams[0]
		if !s.loaded {
			p.advance(s)
			continue
		}
		if p.end != EndNone && s.event.Stamp >= p.endStamp {
			break
		}
		if s.event.Nanoseconds < p.nanos {
			s.event.Nanoseconds = p.nanos
		}
		return &s.event
	}
	p.ended = true
	p.file.close()
	return nil
}

func (p *process) pop() {
	p.read++
	p.nanos = p.streams[0].event.Nanoseconds
	p.advance(p.streams[0])
}

// advance reads the next event of the first stream, which takes its place by
// it.
func (p *process) advance(s *stream) {
	for {
		err := s.advance()
		if err == nil {
			break
		}
		if errors.Is(err, io.EOF) {
			last := len(p.streams) - 1
			p.streams[0] = p.streams[last]
			p.streams[last] = nil
			p.streams = p.streams[:last]
			sift(p.streams, 0, earlierStream)
			return
		}
		p.warn("%v: its events are missing", err)
	}
	// A damaged stamp must not take the order of the others along.
	s.key, s.loaded = max(s.key, s.event.Stamp), true
	sift(p.streams, 0, earlierStream)
}

// EndReason tells why a log ends before its process.
type EndReason uint32

const (
	EndNone   EndReason = iota
	EndLimit            // it had as many bytes as it may
	EndDisk             // the disk was full, or a file limit was met
	EndMemory           // a thread could not keep a stream, or the process limited its address space
)

func (p *process) describeEnd() string {
	switch p.end {
	case EndNone:
		return ""
	case EndLimit:
		return fmt.Sprintf("its limit of %d bytes was reached (record --log-limit raises it)", p.limit)
	case EndDisk:
		return "the disk was full or a file limit was met"
	case EndMemory:
		return "there was no memory for more of it, or its address space was limited"
	}
	return fmt.Sprintf("of reason %d", p.end)
}
