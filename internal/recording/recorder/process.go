package recorder

import (
	"fmt"
	"math"
	"math/bits"

	"mallow/internal/recording"
)

func imageName(pid, start uint64) string { return fmt.Sprintf("image-%d-%d-0", pid, start) }

// Process counts allocations and releases as libmallow does, with the one
// difference that every thread tells the others each change at once: its peak
// is exact.
type Process struct {
	Image *Image
	// Detailed makes it count what is usual of stacks, too: of every call,
	// where libmallow looks at some.
	Detailed bool
	// Granule is what usable sizes are multiples of: 16 unless it is changed
	// before the first allocation.
	Granule uint64

	threads []*Thread
	live    sum
	peak    sum
	epoch   uint64
	atPeak  bool
	pages   []counterPage
	course  course
}

type sum struct{ all, program int64 }

// figures are a record of births, deaths, reallocs or regions.
type figures [8]uint64

// NewProcess begins to record a process into an image.
func NewProcess(im *Image) *Process {
	return &Process{Image: im, Granule: 16, atPeak: true}
}

// Fork begins to record a fork child, which has one thread. Blocks of the
// parent may be released in it.
func (p *Process) Fork(pid uint64) (*Process, *Thread) {
	im := p.Image.fork(pid)
	im.parentShards = p.Image.parentShards + uint32(len(p.threads))
	child := NewProcess(im)
	return child, child.Thread()
}

// Thread is one recorded thread.
type Thread struct {
	process *Process
	shard   uint32
	tid     uint32
	events  uint64
	births  uint64
	figures [22]uint64 // from offset 8 of the shard on

	lastBorn, lastFreed uint32 // stacks
	run                 uint32

	birthsOf, deathsOf, reallocsOf, regionsOf table[figures]
	traitsOf                                  table[traits]
	lifetimesOf                               table[lifetimes]
	weightsOf                                 table[[8]float64]
}

// Block is a live block.
type Block struct {
	stack  Stack
	size   uint64
	thread *Thread
	event  uint64
	births uint64
}

// Birth is what tells blocks of one size and stack apart, where there are too
// many to keep them whole.
type Birth struct{ event, births uint64 }

// Birth returns that of the block.
func (b *Block) Birth() Birth { return Birth{b.event, b.births} }

// Block returns the block that the thread allocated then.
func (t *Thread) Block(s Stack, size uint64, at Birth) Block {
	return Block{stack: s, size: size, thread: t, event: at.event, births: at.births}
}

// Figures of a shard, as indexes of eight bytes from its offset 8 on.
const (
	figInFlight = iota
	figThreads
	figEvents
	figLiveBytes
	figLiveBlocks
	figLiveProgram
	figPeak
	figPeakProgram
	figFrees
	figFreeNulls
	figFailed
	figFreesLibc
	figInheritedFrees
	figAtPeak
	figCaptures
)

// Thread starts a thread.
func (p *Process) Thread() *Thread {
	t := &Thread{process: p, shard: p.Image.parentShards + uint32(len(p.threads)), tid: uint32(p.Image.PID) + uint32(len(p.threads))}
	t.figures[figThreads] = 1
	p.threads = append(p.threads, t)
	p.Image.mostThreads = uint64(len(p.threads))
	return t
}

// Positions within births and deaths.
const (
	birthCalls, birthBytes, birthUsable, birthAtPeak, birthEpoch, birthMin, birthMax, birthFailed = 0, 1, 2, 3, 4, 5, 6, 7
	deathReleases, deathBytes, deathAtPeak, deathEpoch                                            = 0, 1, 2, 3
	deathTemporary, deathShort, deathRealloc, deathForeign                                        = 4, 5, 6, 7
)

func (t *Thread) birthsAt(stack uint32) *figures {
	return t.birthsOf.at(stack, func(page *[64]figures, block uint32) { t.addPage(pageBirths, block, encode(page)) })
}

func (t *Thread) deathsAt(stack uint32) *figures {
	return t.deathsOf.at(stack, func(page *[64]figures, block uint32) { t.addPage(pageDeaths, block, encode(page)) })
}

func (t *Thread) regionAt(region uint32) *figures {
	return t.regionsOf.at(region, func(page *[64]figures, block uint32) { t.addPage(pageRegions, block, encode(page)) })
}

// change counts a change of the live sum before the records change.
func (p *Process) change(t *Thread, by int64, blocks int64, libc bool) {
	if by < 0 && p.atPeak {
		p.atPeak = false
		p.epoch++
	}
	p.live.all += by
	t.figures[figLiveBytes] += uint64(by)
	t.figures[figLiveBlocks] += uint64(blocks)
	if !libc {
		p.live.program += by
		t.figures[figLiveProgram] += uint64(by)
	}
	if p.live.program > p.peak.program {
		p.peak.program = p.live.program
		t.figures[figPeakProgram] = uint64(p.live.program)
	}
}

// rise raises the peak after the records changed.
func (p *Process) rise(t *Thread) {
	if p.live.all > p.peak.all {
		p.peak.all = p.live.all
		p.atPeak = true
		t.figures[figPeak] = uint64(p.live.all)
	}
}

func (p *Process) save(r *figures, bytes, atPeak, epoch int) {
	if r[epoch] < p.epoch {
		r[atPeak] = r[bytes]
		r[epoch] = p.epoch
	}
}

// Alloc counts a call that returned a block of size bytes.
func (t *Thread) Alloc(s Stack, size uint64) Block {
	p := t.process
	t.events++
	t.births++
	p.change(t, int64(size), 1, s.libc)
	r := t.birthsAt(s.ID)
	p.save(r, birthBytes, birthAtPeak, birthEpoch)
	if r[birthCalls] == 0 || size < r[birthMin] {
		r[birthMin] = size
	}
	r[birthMax] = max(r[birthMax], size)
	r[birthCalls]++
	r[birthBytes] += size
	r[birthUsable] += (size + p.Granule - 1) / p.Granule * p.Granule
	p.rise(t)
	t.figures[figCaptures]++
	if p.Detailed {
		t.noteBirth(s.ID, size)
	}
	return Block{stack: s, size: size, thread: t, event: t.events, births: t.births}
}

// Count counts what is known of a stack in sums alone. Its peak is what lives
// at the end.
func (t *Thread) Count(s Stack, c *recording.Counters) {
	p := t.process
	t.events += c.Calls + c.Releases
	t.births += c.Calls
	t.figures[figFrees] += c.Releases - c.ByRealloc
	t.figures[figFailed] += c.Failed
	p.change(t, int64(c.Bytes-c.ReleasedBytes), int64(c.Calls-c.Releases), s.libc)
	r := t.birthsAt(s.ID)
	if c.Calls > 0 && (r[birthCalls] == 0 || c.SizeMin < r[birthMin]) {
		r[birthMin] = c.SizeMin
	}
	r[birthMax] = max(r[birthMax], c.SizeMax)
	r[birthCalls] += c.Calls
	r[birthBytes] += c.Bytes
	r[birthUsable] += c.UsableBytes
	r[birthFailed] += c.Failed
	if c.Releases > 0 {
		r = t.deathsAt(s.ID)
		r[deathReleases] += c.Releases
		r[deathBytes] += c.ReleasedBytes
		r[deathTemporary] += c.Temporary
		r[deathShort] += c.ShortLived
		r[deathRealloc] += c.ByRealloc
		r[deathForeign] += c.Foreign
	}
	p.rise(t)
}

// Weigh adds what the samples of a stack stand for, in the order of the
// format; the image has to be Sampled.
func (t *Thread) Weigh(s Stack, weights [8]float64) {
	r := t.weightsOf.at(s.ID, func(page *[64][8]float64, block uint32) {
		t.addPage(pageWeights, block, func(b []byte, _ bool) []byte {
			for i := range page {
				for _, w := range page[i] {
					b = le.AppendUint64(b, math.Float64bits(w))
				}
			}
			return b
		})
	})
	for i, w := range weights {
		r[i] += w
	}
}

// Fail counts a call that returned no block.
func (t *Thread) Fail(s Stack) {
	t.birthsAt(s.ID)[birthFailed]++
	t.figures[figFailed]++
}

// FreeNull counts a free of NULL.
func (t *Thread) FreeNull(s Stack) {
	t.birthsAt(s.ID)[birthCalls]++
	t.figures[figFreeNulls]++
}

// Free counts a free by the program, FreeByLibc one by libc.
func (t *Thread) Free(b Block) { t.release(b, true, false, 0) }

// FreeByLibc counts a free whose caller is libc.
func (t *Thread) FreeByLibc(b Block) { t.release(b, true, true, 0) }

// FreeFrom counts a free by a caller, which is the node of a path of one frame.
func (t *Thread) FreeFrom(b Block, caller uint32) { t.release(b, true, false, caller) }

// Realloc counts a realloc of b that returned a block elsewhere.
func (t *Thread) Realloc(b Block, s Stack, size uint64) Block {
	return t.ReallocFrom(b, s, size, true, 0)
}

// ReallocFrom counts a realloc of b that returned a block; moved tells that it
// lies elsewhere.
func (t *Thread) ReallocFrom(b Block, s Stack, size uint64, moved bool, caller uint32) Block {
	t.release(b, false, false, caller)
	if t.process.Detailed {
		t.noteRealloc(b, s.ID, size, moved)
	}
	return t.Alloc(s, size)
}

func (t *Thread) release(b Block, free, libc bool, caller uint32) {
	p := t.process
	t.events++
	if free {
		t.figures[figFrees]++
		if libc {
			t.figures[figFreesLibc]++
		}
	}
	if b.thread.process != p {
		t.figures[figInheritedFrees]++
		return
	}
	p.change(t, -int64(b.size), -1, b.stack.libc)
	r := t.deathsAt(b.stack.ID)
	p.save(r, deathBytes, deathAtPeak, deathEpoch)
	r[deathReleases]++
	r[deathBytes] += b.size
	if !free {
		r[deathRealloc]++
	}
	var life uint64
	if b.thread == t {
		life = t.events - b.event
		if b.births == t.births {
			r[deathTemporary]++
		}
		if life <= 32 {
			r[deathShort]++
		}
	} else {
		r[deathForeign]++
	}
	if p.Detailed {
		t.noteDeath(b.stack.ID, b.size, life, caller)
	}
}

// Positions within the figures of a region: each sum is followed, three
// further on, by the thread's own figure at entry.
const regionEntries, regionOpen, regionSums = 0, 1, 2

func (t *Thread) ofRegions() [3]uint64 {
	return [3]uint64{t.figures[figFrees], t.figures[figLiveBlocks], t.figures[figLiveBytes]}
}

// Enter begins a region.
func (t *Thread) Enter(region uint32) {
	r := t.regionAt(region)
	r[regionEntries]++
	r[regionOpen] = 1
	for i, figure := range t.ofRegions() {
		r[regionSums+3+i] = figure
	}
}

// Inherit makes a thread that a fork began one that is inside of a region.
func (t *Thread) Inherit(region uint32) { t.regionAt(region)[regionOpen] = 1 }

// Leave ends it.
func (t *Thread) Leave(region uint32) {
	r := t.regionAt(region)
	r[regionOpen] = 0
	for i, figure := range t.ofRegions() {
		r[regionSums+i] += figure - r[regionSums+3+i]
	}
}

// InFlight marks a call as being counted, as a kill at that moment leaves it.
func (t *Thread) InFlight(s Stack) { t.figures[figInFlight] = uint64(s.ID) + 1 }

// Totals are what was counted so far.
type Totals struct {
	Allocations, Frees, Failed uint64
	LiveBlocks, LiveBytes      int64
}

// Totals returns what was counted so far.
func (p *Process) Totals() Totals {
	var sum Totals
	for _, t := range p.threads {
		sum.Allocations += t.births
		sum.Frees += t.figures[figFrees]
		sum.Failed += t.figures[figFailed]
		sum.LiveBlocks += int64(t.figures[figLiveBlocks])
		sum.LiveBytes += int64(t.figures[figLiveBytes])
	}
	return sum
}

// Finish writes what was counted into the image.
func (p *Process) Finish() *Image {
	im := p.Image
	im.peakEpoch = p.epoch
	for _, t := range p.threads {
		b := make([]byte, 512)
		le.PutUint32(b[0:], 1)
		le.PutUint32(b[4:], t.tid)
		t.figures[figEvents] = t.events
		for i, v := range t.figures {
			le.PutUint64(b[8+8*i:], v)
		}
		if t.shard == im.parentShards && p.atPeak {
			le.PutUint64(b[112:], 1)
		}
		im.shards = append(im.shards, b...)
	}
	for _, page := range p.pages {
		im.addPage(page.kind, page.shard-im.parentShards, page.block, page.encode)
	}
	p.course.write(im)
	return im
}

// addPage adds a counter page, and one of carries where it has any.
func (im *Image) addPage(kind, shard, block uint32, encode func(b []byte, carry bool) []byte) {
	from := len(im.pages)
	im.pages = encode(im.pages, false)
	im.describe(kind, shard, block)
	if kind != pageLifetimes {
		return
	}
	from = len(im.pages)
	im.pages = encode(im.pages, true)
	for _, c := range im.pages[from:] {
		if c != 0 {
			im.describe(pageCarries, shard, block)
			return
		}
	}
	im.pages = im.pages[:from]
}

func (im *Image) describe(kind, shard, block uint32) {
	im.dir = le.AppendUint32(im.dir, kind<<24|shard)
	im.dir = le.AppendUint32(im.dir, block)
}

// log2 is the item of a lifetime.
func log2(n uint64) int { return min(bits.Len64(n)-1, 31) }
