package symbolize

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"

	"mallow/internal/symbolize/debuginfod"
)

var (
	errNoProgram   = errors.New("what it sends is no program, nor of one")
	errOtherBuild  = errors.New("what it sends has another build id")
	errWithoutInfo = errors.New("what it sends has no debug information")
)

// fetched opens a file that was fetched by build id, nil if there is none. Its
// own build id must be the one asked for, whoever put it into the cache.
func (s *Symbolizer) fetched(img *image, id []byte, kind FetchKind) *object {
	if s.fetch == nil || len(id) < leastBuildID {
		return nil
	}
	open := func(path string) (*object, error) {
		o, err := openObject(path)
		var format *elf.FormatError
		if errors.As(err, &format) || errors.Is(err, io.EOF) {
			return nil, errNoProgram
		} else if err != nil {
			return nil, err
		}
		switch {
		case !bytes.Equal(o.buildID, id):
			err = errOtherBuild
		case kind == debuginfod.Debuginfo && !o.hasDebugInfo():
			err = errWithoutInfo
		}
		if err != nil {
			o.close()
			return nil, err
		}
		return o, nil
	}
	path, err := s.fetch(id, kind, img.module.name(), func(path string) error {
		o, err := open(path)
		if err == nil {
			o.close()
		}
		return err
	})
	if err == nil {
		var o *object
		if o, err = open(path); err == nil {
			return o
		}
	}
	if !errors.Is(err, debuginfod.ErrNotFound) {
		s.warn(img, "its debug information could not be fetched: %v", err)
	}
	return nil
}
