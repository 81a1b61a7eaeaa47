// Package importer makes recordings from what other tools wrote: curl's memory
// logs, heaptrack's files, and heap profiles in pprof's formats. The recordings
// are symbolic: their frames are names, or places in the source.
//
// A file is read once, from its beginning on. What it claims is not trusted:
// memory is bounded by limits of how many places, frames and blocks there can
// be, and nothing is left behind when a file cannot be read.
package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
)

// Options of an import.
type Options struct {
	Output string // the folder to make
	Name   string // of the file, as it is told
	Mallow string // version of mallow
}

// Result is what was imported.
type Result struct {
	Format string
	recorder.Totals
	Notes []string // what the recording lacks, in sentences
}

// FormatError is what is wrong with a file.
type FormatError struct{ error }

func (e *FormatError) Unwrap() error { return e.error }

// Limits of what an import holds in memory.
const (
	mostPlaces  = 1 << 18 // different lines of code
	mostStacks  = 1 << 20
	mostNodes   = 1 << 23 // different frames of stacks
	mostBlocks  = 1 << 22 // addresses that were ever used
	mostProfile = 1 << 27 // bytes of a profile, which is read at once
	mostParts   = 1 << 23 // of a profile, each some hundred bytes in memory
)

// target is the recording in the making.
type target struct {
	image   *recorder.Image
	process *recorder.Process
	thread  *recorder.Thread
	folder  string // a temporary one
	meta    recording.Meta
}

// Import reads a file and makes a recording of it. An error names the line
// that is not what it should be; nothing is written then, nor when ctx is done
// before all is read.
func Import(ctx context.Context, r io.Reader, o Options) (*Result, error) {
	if _, err := os.Lstat(o.Output); err == nil {
		return nil, fmt.Errorf("%s is there already; remove it, or choose another name with -o", o.Output)
	}
	r, end := until(ctx, r)
	defer end()
	source, err := open(r)
	if err != nil {
		return nil, &FormatError{err}
	}
	defer source.close()
	read, format, err := detect(source)
	if err != nil {
		return nil, failure(ctx, err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(o.Output), ".import-")
	if err != nil {
		return nil, fmt.Errorf("cannot make the recording %s: %w; choose another place with -o", o.Output, errors.Unwrap(err))
	}
	defer os.RemoveAll(folder) // not there any more when all went well
	t := newTarget(folder)
	t.meta.Imported = &recording.Imported{Format: format, File: o.Name}
	t.meta.Mallow = o.Mallow
	result := &Result{Format: format}
	if err := read(source, t, result); err != nil {
		return nil, failure(ctx, err)
	}
	if format != recording.ImportedProfile { // which may be one of samples
		result.Totals = t.process.Totals()
	}
	if err := t.finish(result); err != nil {
		return nil, err
	}
	return result, os.Rename(folder, o.Output)
}

var errInterrupted = errors.New("interrupted: nothing was imported")

// failure is what ended the reading of a file.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return &FormatError{err}
}

// until reads r until ctx is done, even while nothing comes.
func until(ctx context.Context, r io.Reader) (_ io.Reader, end func()) {
	in, out := io.Pipe()
	go func() {
		_, err := io.CopyBuffer(out, struct{ io.Reader }{r}, make([]byte, headBytes))
		out.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { out.CloseWithError(errInterrupted) })
	return in, func() {
		stop()
		in.Close()
	}
}

func newTarget(folder string) *target {
	im := recorder.NewImage(0, "")
	im.ParentPID, im.StartRealtime = 0, 0
	im.Name = "image-0-0-0"
	im.Flags = recording.FlagSymbolic
	p := recorder.NewProcess(im)
	p.Detailed, p.Granule = true, 1
	return &target{image: im, process: p, thread: p.Thread(), folder: folder}
}

// finish writes the image and meta.json.
func (t *target) finish(result *Result) error {
	im := t.process.Finish()
	path := filepath.Join(t.folder, im.Name)
	if err := im.Write(t.folder, recorder.Sparse); err != nil {
		return err
	}
	if err := recording.Pack(path); err != nil {
		return err
	}
	t.meta.Version = 1
	t.meta.Notes = append(t.meta.Notes, result.Notes...)
	b, err := json.Marshal(&t.meta)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.folder, "meta.json"), append(b, '\n'), 0o600)
}

// reader reads a file of one format into a recording.
type reader func(s *source, t *target, r *Result) error

// detect finds out what a file is by how it begins.
func detect(s *source) (reader, string, error) {
	head, err := s.head()
	switch {
	case err != nil:
		return nil, "", err
	case isHeaptrack(head):
		return readHeaptrack, recording.ImportedHeaptrack, nil
	case isMemoryLog(head):
		return readMemoryLog, recording.ImportedMemoryLog, nil
	case isProfile(head):
		return readProfile, recording.ImportedProfile, nil
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return nil, "", fmt.Errorf("line 1: expected a record of curl's memory log (MEM FILE:LINE malloc(N) = 0x...), the version of a heaptrack file (v 10400 3) or a pprof profile, and found %q",
		line[:min(len(line), 60)])
}
