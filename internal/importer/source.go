package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// source is a file, unpacked, that is read line by line.
type source struct {
	in    *bufio.Reader
	end   func()
	line  int  // number of the line read last
	cut   bool // that line has no end
	long  []byte
	cause error // why reading ended, unless at the end
}

const (
	headBytes = 64 << 10
	// No tool writes a longer line; heaptrack's strings are the longest.
	mostLine = 1 << 20
)

// open unpacks what is packed, whatever its name is.
func open(r io.Reader) (*source, error) {
	in := bufio.NewReaderSize(r, headBytes)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("begins as a gzip file and is none: %w", err)
		}
		return &source{in: bufio.NewReaderSize(z, headBytes), end: func() { z.Close() }}, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, fmt.Errorf("begins as a zstd file and is none: %w", err)
		}
		return &source{in: bufio.NewReaderSize(z, headBytes), end: z.Close}, nil
	}
	return &source{in: in, end: func() {}}, nil
}

func (s *source) close() { s.end() }

// head returns the first bytes without taking them. An error says why there are
// none.
func (s *source) head() ([]byte, error) {
	head, err := s.in.Peek(headBytes)
	if len(head) > 0 {
		return head, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	return nil, unpacking(err)
}

// next returns the next line without its end; false at the end of the file, or
// where it cannot be read any further. It is good until the next call.
func (s *source) next() ([]byte, bool) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = append(s.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(s.long) < mostLine {
			line, err = s.in.ReadSlice('\n')
			s.long = append(s.long, line...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			s.line++
			s.cause = fmt.Errorf("line %d: expected an end of the line within its first %d bytes", s.line, mostLine)
			return nil, false
		}
		line = s.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.cause = fmt.Errorf("line %d: %w", s.line+1, unpacking(err))
		return nil, false
	}
	if len(line) == 0 {
		return nil, false
	}
	s.line++
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	s.cut = !ended
	return line, true
}

// all returns the rest of the file, if it is no longer than limit.
func (s *source) all(limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s.in, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("has more than %d bytes, unpacked", limit)
	}
	return b, unpacking(err)
}

// unpacking says of an error of packed data that ends too early what it means.
func unpacking(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the packed file is cut off: its end is missing")
	}
	return err
}

// wrong is the error for a line that is not what the format says.
func (s *source) wrong(expected string, line []byte) error {
	return fmt.Errorf("line %d: expected %s, and found %q", s.line, expected, line[:min(len(line), 60)])
}
