package rule

import (
	"fmt"
	"math"
	"path"
	"slices"

	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/signature"
)

// Share divides; nothing is a share of nothing.
func Share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Bytes writes a size in full, so that it can be copied into code.
func Bytes(n uint64) string { return figure.Counted(n, "byte", "bytes") }

// Sizes writes what a site asks for: "16 bytes", "16 to 80 bytes".
func Sizes(s *Site) string { return sizes(&s.Counters) }

func sizes(n *recording.Counters) string {
	if n.SizeMin == n.SizeMax {
		return Bytes(n.SizeMax)
	}
	return fmt.Sprintf("%s to %s", figure.Count(n.SizeMin), Bytes(n.SizeMax))
}

// Blocks writes a number of blocks of a site with their sizes.
func Blocks(n uint64, s *Site) string { return blocks(n, &s.Counters) }

// BlocksOf writes all blocks that were counted together.
func BlocksOf(n *recording.Counters) string { return blocks(n.Calls, n) }

func blocks(n uint64, of *recording.Counters) string {
	return figure.Counted(n, "block", "blocks") + " of " + sizes(of)
}

// SoonGone writes how many blocks of a site are freed within a few heap events,
// and of how many where these are not all.
func SoonGone(s *Site) string {
	n := &s.Counters
	if n.ShortLived >= n.Calls {
		return figure.Count(n.Calls)
	}
	return fmt.Sprintf("%s of %s", figure.Count(n.ShortLived), figure.Count(n.Calls))
}

// AtLeast writes a share that is known to be no less.
func AtLeast(share float64) string {
	if share == 1 {
		return "all"
	}
	return fmt.Sprintf("at least %.0f %%", math.Floor(100*share))
}

// Name names a line of code within a sentence: by file and line where they
// are known, else by function. Names are as the program has them: whoever
// shows them escapes them.
func Name(f *profile.Frame) string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
	case f.Function != "":
		return Function(f.Function)
	}
	return "an unknown function"
}

// Function names a function within a sentence, without what it takes and returns.
func Function(name string) string {
	if short := signature.WithoutReturnType(signature.WithoutParameters(name)); short != "" {
		return short
	}
	return name
}

// Places lists lines of code, each once, the line to change first. What is
// not known is left out.
func Places(frames ...profile.Frame) []profile.Frame {
	var places []profile.Frame
	for _, f := range frames {
		if f != (profile.Frame{}) && !slices.Contains(places, f) {
			places = append(places, f)
		}
	}
	return places
}
