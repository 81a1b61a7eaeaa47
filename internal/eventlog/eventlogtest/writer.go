// Package eventlogtest writes logs for tests, by the rules of
// format/recording.md. It predicts nothing: every record says all of itself.
package eventlogtest

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"mallow/internal/eventlog"
)

var le = binary.LittleEndian

const (
	blockHeader = 64
	room        = 64
)

// Log is a log file in the making, of clock 1: a stamp is a nanosecond.
type Log struct {
	// End and EndStamp say that the log lacks what comes from the stamp on.
	End      eventlog.EndReason
	EndStamp uint64
	// BlockBytes of a block that are used before the next one is taken.
	BlockBytes int

	fileBlock int // bytes of a block in the file
	blocks    []byte
}

// Start is the stamp, and the nanoseconds, at which every log begins.
const Start = 1_000_000_000

// New begins a log with blocks of the size that the recorder's have.
func New() *Log { return NewWith(32 << 10) }

// NewWith begins a log with blocks of any size that a reader takes.
func NewWith(blockBytes int) *Log {
	return &Log{BlockBytes: blockBytes, fileBlock: blockBytes, blocks: make([]byte, blockBytes)}
}

// Stream writes the events of one thread.
type Stream struct {
	log     *Log
	number  uint32
	thread  uint32
	block   int // 0 before the first
	used    int
	stamp   uint64
	address map[placeKey]uint64
	slots   map[placeKey]uint32
	latest  uint64
}

type placeKey struct {
	death bool
	slot  uint32
}

// Stream begins the stream of a thread.
func (l *Log) Stream(number, thread uint32) *Stream {
	return &Stream{log: l, number: number, thread: thread}
}

// Thread says that another thread goes on with the stream.
func (s *Stream) Thread(tid uint32) {
	s.thread = tid
	if s.block != 0 {
		s.put(le.AppendUint32(le.AppendUint16(nil, 2<<3), tid))
	}
}

// Event writes an event; the stamp is nanoseconds after Start.
func (s *Stream) Event(stamp uint64, e eventlog.Event) {
	stamp += Start
	if s.block == 0 || s.used+room > s.log.BlockBytes {
		s.newBlock(stamp)
	}
	kind := map[eventlog.Kind]uint32{eventlog.Birth: 1, eventlog.Death: 2, eventlog.Move: 3, eventlog.Failure: 4, eventlog.NullRelease: 5}[e.Kind]
	if kind == 1 && e.Argument != 0 {
		kind = 6
	}
	head := kind | 3<<3 | 3<<5
	fields := le.AppendUint32(nil, uint32(stamp-s.stamp))
	s.stamp = stamp
	place := e.Stack
	death := kind == 2 || kind == 5
	if death {
		place = e.Caller
	}
	fields = le.AppendUint32(fields, place)
	key := placeKey{death, place % 256}
	if s.slots[key] != place+1 {
		s.slots[key], s.address[key] = place+1, s.latest
	}
	if !death {
		head |= 3 << 7
		fields = le.AppendUint64(fields, e.Size)
	}
	switch kind {
	case 1, 6:
		head |= 6 << 9
		fields = appendDifference(fields, e.Address, s.address[key])
		s.address[key], s.latest = e.Address, e.Address
	case 2:
		head |= 6 << 12
		fields = appendDifference(fields, e.Old, s.address[key])
		s.address[key], s.latest = e.Old, e.Old
	case 3:
		head |= 6<<9 | 6<<12
		fields = appendDifference(fields, e.Address, e.Old)
		fields = appendDifference(fields, e.Old, s.address[key])
		s.address[key], s.latest = e.Address, e.Address
	}
	if kind == 6 {
		fields = le.AppendUint64(append(fields, 8), e.Argument)
	}
	s.put(append(le.AppendUint16(nil, uint16(head)), fields...))
}

func appendDifference(b []byte, to, from uint64) []byte {
	words := int64(to-from) >> 3
	return append(b, le.AppendUint64(nil, uint64(words<<1^words>>63))[:6]...)
}

func (s *Stream) newBlock(stamp uint64) {
	number := len(s.log.blocks) / s.log.fileBlock
	first := uint32(1)
	if s.block != 0 {
		first = 0
		le.PutUint32(s.log.blocks[s.block*s.log.fileBlock+8:], uint32(number))
	}
	s.log.blocks = append(s.log.blocks, make([]byte, s.log.fileBlock)...)
	b := s.log.blocks[number*s.log.fileBlock:]
	le.PutUint32(b[0:], s.number)
	le.PutUint32(b[12:], first)
	le.PutUint32(b[16:], s.thread)
	le.PutUint64(b[24:], stamp)
	le.PutUint64(b[32:], stamp)
	s.block, s.used, s.stamp, s.latest = number, blockHeader, stamp, 0
	s.address, s.slots = map[placeKey]uint64{}, map[placeKey]uint32{}
	s.publish()
}

func (s *Stream) put(record []byte) {
	copy(s.log.blocks[s.block*s.log.fileBlock+s.used:], record)
	s.used += len(record)
	s.publish()
}

func (s *Stream) publish() { le.PutUint32(s.log.blocks[s.block*s.log.fileBlock+4:], uint32(s.used)) }

// Bytes returns the file.
func (l *Log) Bytes() []byte {
	b := append([]byte(nil), l.blocks...)
	copy(b, "MALLOWLG")
	le.PutUint32(b[8:], 1)
	le.PutUint32(b[16:], uint32(l.fileBlock))
	le.PutUint32(b[24:], 1)
	le.PutUint32(b[28:], uint32(l.End))
	if l.End != eventlog.EndNone {
		le.PutUint64(b[32:], Start+l.EndStamp)
	}
	le.PutUint64(b[40:], 1<<30)
	le.PutUint64(b[48:], Start)
	le.PutUint64(b[56:], Start)
	le.PutUint64(b[64:], Start+1000)
	le.PutUint64(b[72:], Start+1000)
	le.PutUint64(b[128:], uint64(len(b)/l.fileBlock))
	return b
}

// Write writes the log of an image into the folder of its recording.
func (l *Log) Write(folder, image string) error {
	return os.WriteFile(filepath.Join(folder, eventlog.FileName(image)), l.Bytes(), 0o600)
}
