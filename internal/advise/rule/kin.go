package rule

import (
	"math"
	"path"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Kin tells whether two sites are written by the same hand: they are in one
// function, one is called by the other's, or both are by the same.
func Kin(a, b *Site) bool {
	if sameFunction(&a.Frame, &b.Frame) {
		return true
	}
	for _, f := range a.near() {
		for _, g := range b.near() {
			if sameFunction(&f, &g) {
				return true
			}
		}
	}
	return false
}

func sameFunction(f, g *profile.Frame) bool { return f.Function == g.Function && f.Module == g.Module }

// near are the site's own function and its only caller, if it has only one.
func (s *Site) near() []profile.Frame {
	outer := s.Outer()
	return append([]profile.Frame{s.Frame}, outer[:min(len(outer), 1)]...)
}

// Alike tells whether two numbers differ by no more than a share of the
// greater.
func Alike(a, b uint64, share float64) bool {
	return float64(max(a, b)-min(a, b)) <= share*float64(max(a, b))
}

// LiveAlike tells whether the blocks of two sites live about equally long, as
// far as their own thread releases them: within so many doublings on average.
func LiveAlike(a, b *Site, doublings float64) bool {
	ofA, diedA := a.usualLife()
	ofB, diedB := b.usualLife()
	return diedA == diedB && math.Abs(ofA-ofB) <= doublings
}

// usualLife is the average logarithm of the lifetimes.
func (s *Site) usualLife() (log float64, died bool) {
	var sum, blocks uint64
	for i, n := range s.Knowledge().Lifetimes {
		sum += uint64(i) * n
		blocks += n
	}
	return Share(sum, blocks), blocks > 0
}

// Kept tells that hardly any block of the site was released.
func (s *Site) Kept() bool { return Share(s.Counters.Releases, s.Counters.Calls) < 0.1 }

// InCpp tells that most of the site's blocks come from operator new.
func (s *Site) InCpp() bool {
	return Share(s.CallsOf(recording.GroupNew), s.Counters.Calls) > 0.5
}

// InRust tells that the site is a line of Rust, or that most of its blocks were
// made by Rust's library.
func (s *Site) InRust() bool {
	return strings.HasSuffix(s.File, ".rs") || Share(s.c.passage.Calls(s.Part, uint64(ofRust)), s.Counters.Calls) > 0.5
}

// Malloc is what the site's language calls an allocation.
func (s *Site) Malloc() string {
	switch strings.ToLower(path.Ext(s.File)) {
	case ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".adb", ".ads", ".nim", ".zig", ".d", ".pas", ".pp", ".hs", ".ml", ".vala", ".swift", ".cr":
		return "an allocation"
	}
	return "malloc"
}
