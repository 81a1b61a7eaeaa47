package recorder

import "math"

// traits are a record of what is usual of a stack: its 32-bit figures in the
// order of the format.
type traits [16]uint32

// Positions within them; a vote takes two.
const (
	traitStudied, traitRuns, traitLongest      = 0, 1, 2
	traitSize, traitBornAfter                  = 3, 5
	traitFirst, traitLast                      = 7, 8
	traitDeaths, traitDeathRuns                = 9, 10
	traitFreedAfter, traitFreedBy, traitParted = 11, 13, 15
)

// lifetimes count deaths by the logarithm of the lifetime.
type lifetimes [32]uint32

// Positions within reallocs.
const reallocResized, reallocGrown, reallocShrunk, reallocMoved, reallocCopied, reallocChained = 0, 1, 2, 3, 4, 5

func (t *Thread) traitsAt(stack uint32) *traits {
	return t.traitsOf.at(stack, func(page *[64]traits, block uint32) {
		t.addPage(pageTraits, block, func(b []byte, _ bool) []byte {
			for i := range page {
				for _, v := range page[i] {
					b = le.AppendUint32(b, v)
				}
			}
			return b
		})
	})
}

func (t *Thread) lifetimesAt(stack uint32) *lifetimes {
	return t.lifetimesOf.at(stack, func(page *[64]lifetimes, block uint32) {
		t.addPage(pageLifetimes, block, func(b []byte, carry bool) []byte {
			shift := 0
			if carry {
				shift = 16
			}
			for i := range page {
				for _, v := range page[i] {
					b = le.AppendUint16(b, uint16(v>>shift))
				}
			}
			return b
		})
	})
}

func (t *Thread) reallocsAt(stack uint32) *figures {
	return t.reallocsOf.at(stack, func(page *[64]figures, block uint32) { t.addPage(pageReallocs, block, encode(page)) })
}

// cast counts a vote.
func (r *traits) cast(at int, candidate uint32) {
	switch {
	case r[at] == candidate:
		r[at+1]++
	case r[at+1] > 0:
		r[at+1]--
	default:
		r[at], r[at+1] = candidate, 1
	}
}

func (t *Thread) noteBirth(stack uint32, size uint64) {
	r := t.traitsAt(stack)
	if r[traitStudied] == 0 {
		r[traitFirst] = t.process.course.now
	}
	r[traitLast] = t.process.course.now
	r[traitStudied]++
	r.cast(traitSize, uint32(min(size, math.MaxUint32)))
	if t.run == 0 || t.lastBorn != stack {
		r[traitRuns]++
		r.cast(traitBornAfter, t.lastBorn)
		t.run, t.lastBorn = 0, stack
	}
	t.run++
	r[traitLongest] = max(r[traitLongest], t.run)
	t.process.course.note(t.process, stack, int64(size))
}

func (t *Thread) noteDeath(stack uint32, size, life uint64, caller uint32) {
	r := t.traitsAt(stack)
	r[traitParted] = t.process.course.now
	r[traitDeaths]++
	r.cast(traitFreedBy, caller)
	if stack != t.lastFreed {
		r[traitDeathRuns]++
		r.cast(traitFreedAfter, t.lastFreed)
		t.lastFreed = stack
	}
	if life > 0 {
		t.lifetimesAt(stack)[log2(life)]++
	}
	t.process.course.note(t.process, stack, -int64(size))
}

func (t *Thread) noteRealloc(old Block, stack uint32, size uint64, moved bool) {
	r := t.reallocsAt(stack)
	r[reallocResized]++
	switch {
	case size > old.size:
		r[reallocGrown]++
	case size < old.size:
		r[reallocShrunk]++
	}
	if moved {
		r[reallocMoved]++
		r[reallocCopied] += min(size, old.size)
	}
	if old.stack.ID == stack {
		r[reallocChained]++
	}
}
