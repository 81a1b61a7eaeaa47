package recordingtest

import "fmt"

func imageName(pid, start uint64) string { return fmt.Sprintf("image-%d-%d-0", pid, start) }

// Process counts allocations and releases as the recorder does, with the one
// difference that every thread tells the others each change at once: its peak
// is exact.
type Process struct {
	Image   *Image
	threads []*Thread
	live    sum
	peak    sum
	epoch   uint64
	atPeak  bool
	records map[recordKey]*record
	order   []recordKey
}

type sum struct{ all, program int64 }

type recordKey struct {
	shard, kind, block uint32
}

// record is a counter page: 64 records of eight figures.
type record [64][8]uint64

// NewProcess begins to record a process into an image.
func NewProcess(im *Image) *Process {
	return &Process{Image: im, atPeak: true, records: map[recordKey]*record{}}
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
}

// Block is a live block.
type Block struct {
	stack  Stack
	size   uint64
	thread *Thread
	event  uint64
	births uint64
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

func (p *Process) record(t *Thread, kind uint32, stack uint32) *[8]uint64 {
	key := recordKey{t.shard, kind, stack / 64}
	r := p.records[key]
	if r == nil {
		r = new(record)
		p.records[key] = r
		p.order = append(p.order, key)
	}
	return &r[stack%64]
}

// Positions within births and deaths.
const (
	birthCalls, birthBytes, birthUsable, birthAtPeak, birthEpoch, birthMin, birthMax, birthFailed = 0, 1, 2, 3, 4, 5, 6, 7
	deathReleases, deathBytes, deathAtPeak, deathEpoch                                            = 0, 1, 2, 3
	deathTemporary, deathShort, deathRealloc, deathForeign                                        = 4, 5, 6, 7
)

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

func (p *Process) save(r *[8]uint64, bytes, atPeak, epoch int) {
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
	r := p.record(t, 1, s.ID)
	p.save(r, birthBytes, birthAtPeak, birthEpoch)
	if r[birthCalls] == 0 || size < r[birthMin] {
		r[birthMin] = size
	}
	r[birthMax] = max(r[birthMax], size)
	r[birthCalls]++
	r[birthBytes] += size
	r[birthUsable] += (size + 15) / 16 * 16
	p.rise(t)
	t.figures[figCaptures]++
	return Block{stack: s, size: size, thread: t, event: t.events, births: t.births}
}

// Fail counts a call that returned no block.
func (t *Thread) Fail(s Stack) {
	t.process.record(t, 1, s.ID)[birthFailed]++
	t.figures[figFailed]++
}

// FreeNull counts a free of NULL.
func (t *Thread) FreeNull(s Stack) {
	t.process.record(t, 1, s.ID)[birthCalls]++
	t.figures[figFreeNulls]++
}

// Free counts a free by the program, FreeByLibc one by libc.
func (t *Thread) Free(b Block) { t.release(b, true, false) }

// FreeByLibc counts a free whose caller is libc.
func (t *Thread) FreeByLibc(b Block) { t.release(b, true, true) }

// Realloc counts a realloc of b that returned a block.
func (t *Thread) Realloc(b Block, s Stack, size uint64) Block {
	t.release(b, false, false)
	t.events-- // one call, one event
	return t.Alloc(s, size)
}

func (t *Thread) release(b Block, free, libc bool) {
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
	r := p.record(t, 2, b.stack.ID)
	p.save(r, deathBytes, deathAtPeak, deathEpoch)
	r[deathReleases]++
	r[deathBytes] += b.size
	if !free {
		r[deathRealloc]++
	}
	if b.thread != t {
		r[deathForeign]++
		return
	}
	if b.births == t.births && free {
		r[deathTemporary]++
	}
	if t.events-b.event <= 32 {
		r[deathShort]++
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
	r := t.process.record(t, 64, region)
	r[regionEntries]++
	r[regionOpen] = 1
	for i, figure := range t.ofRegions() {
		r[regionSums+3+i] = figure
	}
}

// Leave ends it.
func (t *Thread) Leave(region uint32) {
	r := t.process.record(t, 64, region)
	r[regionOpen] = 0
	for i, figure := range t.ofRegions() {
		r[regionSums+i] += figure - r[regionSums+3+i]
	}
}

// InFlight marks a call as being counted, as a kill at that moment leaves it.
func (t *Thread) InFlight(s Stack) { t.figures[figInFlight] = uint64(s.ID) + 1 }

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
	for _, key := range p.order {
		im.dir = le.AppendUint32(im.dir, key.kind<<24|(key.shard-im.parentShards))
		im.dir = le.AppendUint32(im.dir, key.block)
		for _, r := range p.records[key] {
			for _, v := range r {
				im.pages = le.AppendUint64(im.pages, v)
			}
		}
	}
	return im
}
