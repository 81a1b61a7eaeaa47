package eventlog

import (
	"bytes"

	"mallow/internal/recording"
)

// ReadAll reads a log that is no file.
func ReadAll(b []byte, visit func(e *Event)) error {
	p, err := newProcess(bytes.NewReader(b), int64(len(b)), new(recording.Image), func(string, ...any) {})
	if err != nil {
		return err
	}
	for e := p.peek(); e != nil; e = p.peek() {
		visit(e)
		p.pop()
	}
	return nil
}
