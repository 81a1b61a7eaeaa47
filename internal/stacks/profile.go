package stacks

import (
	"fmt"
	"os"
	"regexp"

	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
	"mallow/internal/symbolize"
)

// Profile makes a profile of the set that can be compared with others, without
// what libc allocates, which OfLibc has. Its peak is what lives at the end: Sites
// knows the sites' own.
func (s *Set) Profile(wrappers []*regexp.Regexp) (*profile.Profile, error) {
	folder, err := os.MkdirTemp("", "mallow-stacks-")
	if err != nil {
		return nil, fmt.Errorf("no room for stacks: %w", err)
	}
	defer os.RemoveAll(folder)
	if err := s.image().Write(folder, recorder.Packed); err != nil {
		return nil, fmt.Errorf("no room for stacks: %w", err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		return nil, err
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: nameless{}, Wrappers: wrappers}), nil
}

func (s *Set) image() *recorder.Image {
	im := recorder.NewImage(0, "")
	im.ParentPID, im.StartRealtime = 0, 0
	im.Name = "image-0-0-0"
	im.Flags = recording.FlagSymbolic
	process := recorder.NewProcess(im)
	process.Granule = 1
	thread := process.Thread()
	for i := range s.Stacks {
		st := &s.Stacks[i]
		if st.Libc {
			continue
		}
		var node uint32
		for k := len(st.Frames) - 1; k >= 0; k-- {
			f := &st.Frames[k]
			node = im.Inside(node, im.Symbolic(f.Function, f.File, f.Module, uint32(f.Line)))
		}
		thread.Count(im.StackAt(node, max(recording.Malloc, st.Function), false), &recording.Counters{
			Calls: st.Calls, Bytes: st.Bytes, UsableBytes: st.Bytes, SizeMin: st.SizeMin, SizeMax: st.SizeMax,
			Releases: st.Calls - st.LiveBlocks, ReleasedBytes: st.Bytes - st.LiveBytes,
		})
	}
	for _, u := range s.Units {
		source := recording.UnitOfProgram
		if u.Function {
			source = recording.UnitOfFunction
		}
		im.Unit(recording.Unit{Name: u.Name, Source: source, Amount: u.Count, Calls: u.Count})
	}
	return process.Finish()
}

// nameless is asked for nothing: all frames are named.
type nameless struct{}

func (nameless) Frames(_ symbolize.Module, addresses []uint64) [][]symbolize.Frame {
	return make([][]symbolize.Frame, len(addresses))
}
func (nameless) HasLines(symbolize.Module) bool { return false }
func (nameless) Warnings() []string             { return nil }
