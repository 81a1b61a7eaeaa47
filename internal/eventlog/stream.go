package eventlog

import (
	"errors"
	"fmt"
	"io"
)

// stream reads the events of one thread, block by block.
type stream struct {
	source io.ReaderAt
	header *header
	number uint32
	rate   float64
	// skip tells whether a whole block that ends at these nanoseconds, or
	// sooner, is not wanted.
	skip func(nanos uint64) bool

	next   int64 // block to read after this one; 0 none
	data   []byte
	at     int
	used   int
	event  Event
	key    uint64 // stamp of event, or of the first block before that is read
	loaded bool

	stamp     uint64
	baseStamp uint64
	baseNanos uint64
	address   uint64
	count     uint64 // counted events since the block began
	last      *place
	*tables
}

// place is what was last seen of a stack, or of a frame that released.
type place struct {
	address, size uint64
	name, next    uint32
}

// tables are what predictions are made from; the recorder has the same.
type tables struct {
	births, deaths [places]place
	ring           [longestAge + 1]uint64 // addresses of births, by count
}

// beyond is how far a field may be read past the end of a block.
const beyond = 64

var errDamaged = errors.New("damaged")

// advance reads the next event into s.event. It returns io.EOF at the end of
// the stream, and another error where a block is damaged: the stream goes on
// with the next one.
func (s *stream) advance() error {
	for {
		for s.at >= s.used {
			if err := s.nextBlock(); err != nil {
				return err
			}
		}
		isEvent, err := s.record()
		if err != nil {
			s.at = s.used
			return fmt.Errorf("a block of thread %d: %w", s.event.Thread, err)
		}
		if isEvent {
			return nil
		}
	}
}

func (s *stream) nextBlock() error {
	number := s.next
	if number == 0 {
		return io.EOF
	}
	s.next = 0
	b, ok := s.header.readBlock(s.source, number)
	if !ok {
		return fmt.Errorf("block %d: %w", number, errDamaged)
	}
	if b.stream != s.number {
		return fmt.Errorf("block %d belongs to another thread: %w", number, errDamaged)
	}
	// Blocks are handed out in order: no stream runs in a circle.
	if next := int64(b.next); next > number && next < s.header.blocks {
		s.next = next
	}
	if s.next != 0 && s.skip != nil {
		if after, ok := s.header.readBlock(s.source, s.next); ok && after.stream == s.number && s.skip(after.nanos) {
			s.event.Thread = after.thread
			return nil
		}
	}
	if s.tables == nil {
		s.tables = new(tables)
	}
	size := int(b.used)
	if cap(s.data) < size+beyond {
		s.data = make([]byte, size+beyond)
	}
	s.data = s.data[:size+beyond]
	if n, err := s.source.ReadAt(s.data[:size], number*s.header.blockBytes); n < size {
		return fmt.Errorf("block %d: %w", number, err)
	}
	clear(s.data[size:])
	s.at, s.used = blockHeader, size
	s.event.Thread = b.thread
	s.stamp, s.baseStamp, s.baseNanos = b.stamp, b.stamp, b.nanos
	s.address, s.count = 0, 0
	clear(s.births[:])
	clear(s.deaths[:])
	s.last = &s.births[0]
	return nil
}

var widths = [8]uint64{0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xff_ffff_ffff, 0xffff_ffff_ffff, 0xff_ffff_ffff_ffff}

// take reads an unsigned number of n bytes, 0..7.
func (s *stream) take(n uint32) uint64 {
	v := le.Uint64(s.data[s.at:]) & widths[n&7]
	s.at += int(n & 7)
	return v
}

// record reads one record; false for one that is no event.
func (s *stream) record() (bool, error) {
	head := uint32(le.Uint16(s.data[s.at:]))
	s.at += 2
	kind := head & 7
	if kind == recordControl {
		return false, s.control(head >> 3)
	}
	if kind > recordBirthWithArgument {
		return false, errDamaged
	}
	e := &s.event
	s.stamp += s.take(head>>3&3 + 1)
	name := s.last.next
	switch head >> 5 & 3 {
	case 1:
		name = uint32(s.take(1))
	case 2:
		name = uint32(s.take(2))
	case 3:
		name = uint32(s.take(4))
	}
	s.last.next = name
	group := &s.births
	if kind == recordDeath || kind == recordNullRelease {
		group = &s.deaths
	}
	p := &group[name%places]
	if p.name != name+1 {
		*p = place{address: s.address, name: name + 1}
	}
	s.last = p
	switch head >> 7 & 3 {
	case 1:
		p.size = s.take(1)
	case 2:
		p.size = s.take(2)
	case 3:
		p.size = le.Uint64(s.data[s.at:])
		s.at += 8
	}
	difference := s.take(head >> 9 & 7)
	old := s.take(head >> 12 & 7)
	isAge := head>>15 != 0

	e.Stack, e.Caller, e.Size, e.Address, e.Old, e.Argument = 0, 0, 0, 0, 0, 0
	switch kind {
	case recordBirth, recordBirthWithArgument:
		s.count++
		e.Kind, e.Stack, e.Size = Birth, name, p.size
		p.address += displacement(difference)
		e.Address = p.address
		s.ring[s.count&longestAge] = e.Address
		s.address = e.Address
		if kind == recordBirthWithArgument {
			n := int(s.data[s.at])
			s.at++
			if n > 8 {
				return false, errDamaged
			}
			var number [8]byte
			copy(number[:n], s.data[s.at:])
			e.Argument = le.Uint64(number[:])
			s.at += n
		}
	case recordDeath:
		s.count++
		e.Kind, e.Caller = Death, name
		e.Old = s.old(p, old, isAge)
		p.address, s.address = e.Old, e.Old
	case recordMove:
		s.count += 2
		e.Kind, e.Stack, e.Size = Move, name, p.size
		e.Old = s.old(p, old, isAge)
		e.Address = e.Old + displacement(difference)
		s.ring[s.count&longestAge] = e.Address
		p.address, s.address = e.Address, e.Address
	case recordFailure:
		e.Kind, e.Stack, e.Size = Failure, name, p.size
	case recordNullRelease:
		e.Kind, e.Caller = NullRelease, name
	}
	if s.at > s.used {
		return false, errDamaged
	}
	e.Stamp = s.stamp
	e.Nanoseconds = s.baseNanos + uint64(float64(s.stamp-s.baseStamp)*s.rate)
	return true, nil
}

// old returns the address of a block that was released: by its age, in
// counted events, or by its distance from the one before at this place.
func (s *stream) old(p *place, v uint64, isAge bool) uint64 {
	if isAge {
		return s.ring[(s.count-v)&longestAge]
	}
	return p.address + displacement(v)
}

// displacement undoes the recorder's Difference: a signed number of words of
// 8 bytes, the sign in the lowest bit.
func displacement(v uint64) uint64 { return uint64(int64(v>>1)^-int64(v&1)) << 3 }

func (s *stream) control(what uint32) error {
	switch what {
	case controlClock:
		stamp, nanos := le.Uint64(s.data[s.at:]), le.Uint64(s.data[s.at+8:])
		s.at += 16
		if stamp < s.stamp || s.at > s.used {
			return errDamaged
		}
		s.stamp, s.baseStamp, s.baseNanos = stamp, stamp, nanos
	case controlThread:
		s.event.Thread = uint32(s.take(4))
	default:
		return errDamaged
	}
	if s.at > s.used {
		return errDamaged
	}
	return nil
}
