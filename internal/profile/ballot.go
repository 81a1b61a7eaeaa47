package profile

import (
	"slices"

	"mallow/internal/recording"
)

// ballot sums up votes by value. It can be used again, in the same memory,
// once it was closed.
type ballot struct {
	voters  uint64
	tallies []tally
	index   recording.Index // of the values' tallies
}

// votes are what was voted.
type votes struct {
	voters  uint64
	tallies []tally
}

type tally struct {
	value       uint32
	least, most uint64
}

// add counts votes for the values of their candidates, as far as they have one.
func (b *ballot) add(votes []recording.Vote, valueOf func(candidate uint32) (value uint32, ok bool)) {
	for i := range votes {
		v := &votes[i]
		b.voters += v.Voters
		if v.Lead == 0 {
			continue
		}
		if value, ok := valueOf(v.Candidate); ok {
			t := b.tally(value)
			t.least += v.Least()
			t.most += v.Most()
		}
	}
}

func (b *ballot) tally(value uint32) *tally {
	at := b.index.At(value)
	if at < 0 {
		at = int32(len(b.tallies))
		b.tallies = append(b.tallies, tally{value: value})
		b.index.Set(value, at)
	}
	return &b.tallies[at]
}

// least returns how many voted for a value for sure.
func (b *ballot) least(value uint32) uint64 {
	if at := b.index.At(value); at >= 0 {
		return b.tallies[at].least
	}
	return 0
}

// close returns the value with most votes for sure, the lesser by before of
// two that have as many; nil without votes.
func (b *ballot) close(before func(a, b uint32) bool) (value uint32, c *Common) {
	var best *tally
	for i := range b.tallies {
		t := &b.tallies[i]
		if best == nil || t.least > best.least || t.least == best.least && before(t.value, best.value) {
			best = t
		}
		b.index.Remove(t.value)
	}
	if best != nil {
		value, c = best.value, &Common{Least: best.least, Most: best.most, OutOf: b.voters}
	}
	b.voters, b.tallies = 0, b.tallies[:0]
	return value, c
}

// take returns what was voted, and closes the ballot.
func (b *ballot) take() votes {
	taken := votes{b.voters, slices.Clone(b.tallies)}
	b.close(func(_, _ uint32) bool { return false })
	return taken
}
