package recorder

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// course takes the samples of a timeline, as soon as somebody has told the
// time. At most one in every so many events is kept: of 1024 every second one
// goes.
type course struct {
	now     uint32 // ms
	timed   bool
	every   uint64
	pending uint64 // events since the last sample
	changed map[uint32]int64
	samples []sample
}

type sample struct {
	ms, stacks uint32
	births     uint64
	blocks     int64
	bytes      int64
	changes    []change
}

type change struct {
	stack uint32
	bytes int64
}

const (
	firstDistance  = 256 // events
	mostSamples    = 1024
	changesKept    = 4
	changesOfTwo   = 2 * changesKept
	timelineRecord = 64
)

// At tells how many milliseconds after its start the process is now. Without
// it there is no timeline.
func (p *Process) At(ms uint32) {
	c := &p.course
	c.now = max(c.now, ms)
	if !c.timed {
		c.timed, c.every, c.changed = true, firstDistance, make(map[uint32]int64)
	}
}

func (c *course) note(p *Process, stack uint32, bytes int64) {
	if !c.timed {
		return
	}
	c.changed[stack] += bytes
	if c.pending++; c.pending < c.every {
		return
	}
	c.pending = 0
	s := sample{ms: c.now, stacks: uint32(len(p.Image.stacks) / 4), bytes: p.live.all}
	for _, t := range p.threads {
		s.births += t.births
		s.blocks += int64(t.figures[figLiveBlocks])
	}
	s.changes = greatest(c.changed)
	clear(c.changed)
	c.samples = append(c.samples, s)
	if len(c.samples) == mostSamples {
		c.halve()
	}
}

// halve keeps the later one of each two samples, with the changes of both.
func (c *course) halve() {
	for i := range mostSamples / 2 {
		first, second := &c.samples[2*i], c.samples[2*i+1]
		changed := make(map[uint32]int64, changesOfTwo)
		for _, ch := range slices.Concat(first.changes, second.changes) {
			changed[ch.stack] += ch.bytes
		}
		second.changes = greatest(changed)
		c.samples[i] = second
	}
	c.samples = c.samples[:mostSamples/2]
	c.every *= 2
}

// greatest returns the stacks with the greatest changes.
func greatest(changed map[uint32]int64) []change {
	var all []change
	for _, stack := range slices.Sorted(maps.Keys(changed)) {
		if bytes := changed[stack]; bytes != 0 {
			all = append(all, change{stack, bytes})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(abs(b.bytes), abs(a.bytes)) })
	return slices.Clone(all[:min(len(all), changesKept)])
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// write puts the samples into the image.
func (c *course) write(im *Image) {
	for i, s := range c.samples {
		if i%64 == 0 {
			im.describe(pageTimeline, 0, uint32(i/64))
		}
		b := make([]byte, timelineRecord)
		le.PutUint32(b[0:], s.ms)
		le.PutUint32(b[4:], s.stacks)
		le.PutUint64(b[8:], s.births)
		le.PutUint64(b[16:], uint64(s.blocks))
		le.PutUint64(b[24:], uint64(s.bytes))
		for k, ch := range s.changes {
			le.PutUint32(b[32+8*k:], ch.stack)
			le.PutUint32(b[36+8*k:], uint32(int32(max(math.MinInt32, min(math.MaxInt32, ch.bytes)))))
		}
		im.pages = append(im.pages, b...)
	}
	im.pages = append(im.pages, make([]byte, (page-len(im.pages)%page)%page)...)
	im.samples = len(c.samples)
}
