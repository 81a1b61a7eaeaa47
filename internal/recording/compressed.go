package recording

import (
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A packed file holds its large sections compressed. What these bounds do not
// allow is stored as it is, so that a small file never unpacks to a large one.
const (
	leastCompressed = chunkBytes // bytes of a section
	mostRatio       = 64
	mostWindow      = 8 << 20
)

// Coders are used again: each takes megabytes, and a recording of many
// processes has many sections.
var (
	// One goroutine finds what repeats while another writes the block before:
	// somebody waits for it.
	encoders = coders(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
			zstd.WithWindowSize(mostWindow/2))
	})
	streamDecoders = coders(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow),
			zstd.WithDecoderLowmem(true))
	})
	blockDecoders = coders(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow),
			zstd.WithDecodeAllCapLimit(true))
	})
)

// coders is a pool of what newCoder makes, which fails only on options that do
// not exist.
func coders[T any](newCoder func() (T, error)) *sync.Pool {
	return &sync.Pool{New: func() any {
		coder, err := newCoder()
		if err != nil {
			panic(err)
		}
		return coder
	}}
}

// reader returns what a section holds, from its first item on, and a function
// to call at the end.
func (s section) reader(r io.ReaderAt) (io.Reader, func(), error) {
	if s.stored == 0 {
		return io.NewSectionReader(r, s.offset, s.bytes()), func() {}, nil
	}
	z := streamDecoders.Get().(*zstd.Decoder)
	if err := z.Reset(io.NewSectionReader(r, s.offset, s.stored)); err != nil {
		return nil, nil, err
	}
	return z, func() {
		if z.Reset(nil) == nil {
			streamDecoders.Put(z)
		}
	}, nil
}

// unpack unpacks a compressed section into room, which is as long. It costs a
// third less than to read it. False means that not all of it can be had like
// this, and says nothing of what can be read.
func (s section) unpack(r io.ReaderAt, room []byte) bool {
	stored := make([]byte, s.stored)
	if _, err := io.ReadFull(io.NewSectionReader(r, s.offset, s.stored), stored); err != nil {
		return false
	}
	z := blockDecoders.Get().(*zstd.Decoder)
	defer blockDecoders.Put(z)
	b, err := z.DecodeAll(stored, room[:0:len(room)])
	return err == nil && len(b) == len(room)
}

// compress writes a section's items to the end of target, which is at an
// offset, and returns how many bytes that took; 0, and nothing is written, when
// it brings too little, or more than a reader would believe.
func compress(target *os.File, to int64, source io.ReaderAt, s section) (int64, error) {
	if s.bytes() < leastCompressed {
		return 0, nil
	}
	out := &counter{w: io.NewOffsetWriter(target, to)}
	z := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(z)
	z.Reset(out)
	if _, err := io.Copy(z, io.NewSectionReader(source, s.offset, s.bytes())); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	if out.n > s.bytes()/2 || out.n < s.bytes()/mostRatio+1 {
		return 0, target.Truncate(to)
	}
	return out.n, nil
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
