// Package rule has what rules of advice are written with: a Case, which is a
// profile as rules see it, and the Finding that a rule returns.
package rule

import "mallow/internal/profile"

// Rule finds one kind of waste. Its page is docs/manual/advice/NAME.md.
type Rule struct {
	Name string
	Find func(*Case) []Finding
}

// Means is what a remedy does, the best first. Of two remedies for the same
// allocations the better one is told.
type Means int

const (
	Avoid  Means = iota // the allocation is not made
	Reuse               // the block of the time before serves again
	Pool                // many allocations become one
	Faster              // each allocation costs less
)

// Finding is what a rule found.
type Finding struct {
	Means    Means
	Title    string          // what is so, one line with its numbers
	Remedy   string          // what to do, one or two sentences
	Evidence string          // the figures that show it, one sentence
	Places   []profile.Frame // the line to change first, then the others that take part
	Claims   []Claim
	// Needs are allocations that the remedy does not save but must find as they
	// are: once they are gone it saves nothing.
	Needs []Claim
	// Nanoseconds are CPU time that is saved besides the allocations: copying,
	// calls that allocate nothing. Basis says how they are known.
	Nanoseconds float64
	Basis       string
	// Takes is the part of the allocations' CPU time that the remedy takes itself,
	// 0..1.
	Takes float64
	// Memory is what is no longer held at the peak.
	Memory uint64
	// Notable keeps a finding that saves no or few allocations: it is about
	// memory, or a defect.
	Notable bool
	// Named tells that the remedy is for what the blocks are known to be, by the
	// names of functions: it is told before one that goes by their habits.
	Named bool
	// AtMost tells that the claims are the most that can be saved: nothing says
	// which of the copies are changed, so that they are needed, or how many of
	// the blocks are there at once.
	AtMost bool
	// Libc is the function of libc whose own allocations these are, called from the
	// first place: a part of all, and not of those of the program and its libraries.
	Libc string
	// ForSpeed drops a finding that is known to save no CPU time that is worth
	// it: a pool takes as many steps as a good malloc.
	ForSpeed bool
	// OnlyTime drops a finding unless it saves CPU time that is worth it; where
	// no time is known, unless it saves a good part of the allocations.
	OnlyTime bool
}

// Claim is allocations of a site, or of a part of one, that the remedy saves.
type Claim struct {
	Site  *Site
	Calls uint64
	Bytes uint64
}
