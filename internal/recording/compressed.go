package recording

import (
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// A packed file holds its large sections compressed. What these bounds do not
// allow is stored as it is, so that a small file never unpacks to a large one.
const (
	leastCompressed = chunkBytes // bytes of a section
	mostRatio       = 64
	mostWindow      = 8 << 20
)

// reader returns what a section holds, from its first item on, and a function
// to call at the end.
func (s section) reader(r io.ReaderAt) (io.Reader, func(), error) {
	if s.stored == 0 {
		return io.NewSectionReader(r, s.offset, s.bytes()), func() {}, nil
	}
	z, err := zstd.NewReader(io.NewSectionReader(r, s.offset, s.stored), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// unpack unpacks a compressed section into room, which is as long. It costs a
// third less than to read it. False means that not all of it can be had like
// this, and says nothing of what can be read.
func (s section) unpack(r io.ReaderAt, room []byte) bool {
	stored := make([]byte, s.stored)
	if _, err := io.ReadFull(io.NewSectionReader(r, s.offset, s.stored), stored); err != nil {
		return false
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return false
	}
	defer z.Close()
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
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(mostWindow/2))
	if err != nil {
		return 0, err
	}
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
