package eventlog

import (
	"errors"
	"fmt"
	"io"

	"mallow/internal/recording"
)

// header is what block 0 says.
type header struct {
	flags                    uint32
	blockBytes               int64
	blocks                   int64 // block 0 included, as far as the file has them
	clock                    uint32
	end                      EndReason
	endStamp                 uint64
	limit                    uint64
	startStamp, startNanos   uint64
	secondStamp, secondNanos uint64
	raw                      [blockHeader]byte // of the block that is looked at
}

func readHeader(r io.ReaderAt, size int64) (h header, err error) {
	b := make([]byte, headerBytes)
	if _, err := r.ReadAt(b, 0); err != nil {
		return h, fmt.Errorf("cut within its header: %d of %d bytes", size, headerBytes)
	}
	if string(b[:8]) != magic {
		return h, errors.New("no log of a recording")
	}
	if v := le.Uint32(b[8:]); v > major {
		return h, fmt.Errorf("%w (log format %d, this one reads %d)", recording.ErrNewerVersion, v, major)
	}
	h = header{
		blockBytes:  int64(le.Uint32(b[16:])),
		flags:       le.Uint32(b[20:]),
		clock:       le.Uint32(b[24:]),
		end:         EndReason(le.Uint32(b[28:])),
		endStamp:    le.Uint64(b[32:]),
		limit:       le.Uint64(b[40:]),
		startStamp:  le.Uint64(b[48:]),
		startNanos:  le.Uint64(b[56:]),
		secondStamp: le.Uint64(b[64:]),
		secondNanos: le.Uint64(b[72:]),
	}
	if h.blockBytes < leastBlockBytes || h.blockBytes > mostBlockBytes || h.blockBytes%leastBlockBytes != 0 {
		return h, fmt.Errorf("damaged header: blocks of %d bytes", h.blockBytes)
	}
	if h.clock != clockCycles && h.clock != clockCounter {
		return h, fmt.Errorf("damaged header: clock %d", h.clock)
	}
	// The last block of a trimmed file ends with what is in use of it.
	h.blocks = (size + h.blockBytes - 1) / h.blockBytes
	if taken := le.Uint64(b[128:]); taken < uint64(h.blocks) {
		h.blocks = int64(taken)
	}
	return h, nil
}

// block is the header of one.
type block struct {
	stream, used, next, first, thread uint32
	stamp, nanos                      uint64
}

func (h *header) readBlock(r io.ReaderAt, number int64) (b block, ok bool) {
	raw := h.raw[:]
	if _, err := r.ReadAt(raw, number*h.blockBytes); err != nil {
		return b, false
	}
	b = block{
		stream: le.Uint32(raw[0:]),
		used:   le.Uint32(raw[4:]),
		next:   le.Uint32(raw[8:]),
		first:  le.Uint32(raw[12:]),
		thread: le.Uint32(raw[16:]),
		stamp:  le.Uint64(raw[24:]),
		nanos:  le.Uint64(raw[32:]),
	}
	return b, b.used >= blockHeader && int64(b.used) <= h.blockBytes
}

// mostUnopened ends the search for blocks: a thread takes one and opens it
// before it takes another.
const mostUnopened = 2 * mostStreams

// findStreams returns the first block of every stream, and the block with the
// latest stamp.
func (h *header) findStreams(r io.ReaderAt) (heads map[uint32]head, latest block) {
	heads = make(map[uint32]head)
	unopened := 0
	for number := int64(1); number < h.blocks && unopened < mostUnopened && len(heads) < mostStreams; number++ {
		b, ok := h.readBlock(r, number)
		if !ok {
			unopened++
			continue
		}
		unopened = 0
		if b.stamp > latest.stamp {
			latest = b
		}
		if _, twice := heads[b.stream]; b.first == 1 && !twice {
			heads[b.stream] = head{number, b.stamp}
		}
	}
	return heads, latest
}

type head struct {
	block int64
	stamp uint64
}

// rate returns how many nanoseconds a stamp is. Over the longest distance
// that the file knows it is exact enough; before the second block there are
// the two readings that were taken when the file was made.
func (h *header) rate(latest block) float64 {
	if h.clock != clockCycles {
		return 0
	}
	const longEnough = 10_000_000
	stamp, nanos := h.secondStamp, h.secondNanos
	if latest.nanos > h.startNanos+longEnough {
		stamp, nanos = latest.stamp, latest.nanos
	}
	if stamp <= h.startStamp || nanos <= h.startNanos {
		return 0
	}
	return float64(nanos-h.startNanos) / float64(stamp-h.startStamp)
}
