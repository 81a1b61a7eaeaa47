package recording

import "io"

// Counters are the figures of one stack, summed over all threads.
type Counters struct {
	Calls       uint64 // that returned a block
	Failed      uint64 // that returned none
	Bytes       uint64 // requested
	UsableBytes uint64
	SizeMin     uint64
	SizeMax     uint64
	PeakBytes   int64 // live when the process was at its peak

	Releases      uint64
	ReleasedBytes uint64
	Temporary     uint64 // released with nothing else allocated in between by the thread
	ShortLived    uint64 // released by the thread within its next 32 events
	ByRealloc     uint64 // releases that a realloc made
	Foreign       uint64 // releases by another thread

	// Of what was sampled the above are estimates, made from so many calls.
	Samples  uint64
	Variance Variance
}

// LiveBlocks returns how many blocks of the stack were not released. In a
// recording that is read while its process runs a release can be seen before
// its birth, never for long: less than nothing counts as nothing.
func (c *Counters) LiveBlocks() int64 { return max(0, int64(c.Calls-c.Releases)) }

// LiveBytes returns the requested bytes of the live blocks.
func (c *Counters) LiveBytes() int64 { return max(0, int64(c.Bytes-c.ReleasedBytes)) }

// Waste returns the bytes that the blocks have beyond those asked for.
func (c *Counters) Waste() int64 { return max(0, int64(c.UsableBytes-c.Bytes)) }

// Add sums the figures of two stacks, or of one in two processes.
func (c *Counters) Add(o *Counters) {
	if o.Calls > 0 {
		c.addSizes(c.Calls > 0, o.SizeMin, o.SizeMax)
	}
	c.Calls += o.Calls
	c.Failed += o.Failed
	c.Bytes += o.Bytes
	c.UsableBytes += o.UsableBytes
	c.PeakBytes += o.PeakBytes
	c.Releases += o.Releases
	c.ReleasedBytes += o.ReleasedBytes
	c.Temporary += o.Temporary
	c.ShortLived += o.ShortLived
	c.ByRealloc += o.ByRealloc
	c.Foreign += o.Foreign
	if o.Samples > 0 {
		c.Samples += o.Samples
		c.Variance.add(&o.Variance)
	}
}

type directoryItem struct {
	kind  uint32
	shard uint32 // of this image
	block uint32 // first stack / 64
}

func (im *Image) readDirectory(r io.ReaderAt) {
	im.read(r, sectionPageDirectory, func(chunk []byte) {
		for ; len(chunk) >= 8; chunk = chunk[8:] {
			im.pages = append(im.pages, directoryItem{
				kind: le.Uint32(chunk) >> 24, shard: le.Uint32(chunk) & (1<<24 - 1), block: le.Uint32(chunk[4:]),
			})
		}
	})
}

// readCounters sums the counter pages of all shards. A page that the
// directory does not describe is not in use.
func (im *Image) readCounters(r io.ReaderAt) {
	im.readDirectory(r)
	s := im.sections[sectionCounterPages]
	im.regionFigures = make(map[uint32]*RegionFigures)
	described := min(int64(len(im.pages)), s.used)
	if lost := int64(len(im.pages)) - described; lost > 0 {
		im.warn("cut or damaged: the last %d counter pages are missing", lost)
	}
	added := int64(0)
	err := s.readAhead(r, described, func(chunk []byte) {
		for ; len(chunk) > 0; chunk = chunk[pageBytes:] {
			im.addPage(im.pages[added], chunk[:pageBytes])
			added++
		}
	})
	if err != nil {
		im.warn("%d counter pages cannot be read: %v", described-added, err)
	}
	im.finishSizes()
	im.finishGivenUp()
}

func (im *Image) addPage(item directoryItem, page []byte) {
	const blocks = (1 << 32) / stacksPerPage
	if item.block >= blocks {
		return
	}
	if item.kind == pageRegions && im.counts(item.shard) {
		im.addRegions(item, page)
		return
	}
	if allZero(page) {
		return
	}
	im.addCounters(item, page)
	if !im.counts(item.shard) {
		return
	}
	switch item.kind {
	case pageWeights:
		im.addWeights(item, page)
	case pageTraits, pageLifetimes, pageLifetimeCarries, pageReallocs, pageFewTraits:
		// Neighbours of samples are strangers.
		if im.Sampling == nil {
			im.addKnowledge(item, page)
		}
	case pageWideTraits:
		im.addWideTraits(item, page)
	case pageNumberedReallocs:
		if im.Sampling == nil {
			im.addNumberedReallocs(page)
		}
	case pageTimeline:
		im.addTimeline(item, page)
	}
}

// addCounters adds what a page has of the counters of its stacks.
func (im *Image) addCounters(item directoryItem, page []byte) {
	of := &im.blocks
	if !im.counts(item.shard) {
		of = im.others
	}
	var add func(c *Counters, b *[recordBytes]byte)
	switch item.kind {
	case pageCounts:
		add = im.addCounts
	case pageRareCounts:
		add = im.addRareCounts
	case pageReallocs:
		add = addGivenUp
	case pageBirths:
		add = im.addBirths
	case pageDeaths:
		add = im.addDeaths
	case pageNumberedReallocs:
		im.noteGivenUp(of, page)
		return
	default:
		return
	}
	counters := of.counters(item.block)
	for i := range counters {
		if b := (*[recordBytes]byte)(page[i*recordBytes:]); !allZero(b[:]) {
			add(&counters[i], b)
		}
	}
}

// addWeights sums those of all threads.
func (im *Image) addWeights(item directoryItem, page []byte) {
	for i := range stacksPerPage {
		record := page[i*recordBytes:][:recordBytes]
		if allZero(record) {
			continue
		}
		id := item.block*stacksPerPage + uint32(i)
		if im.weights == nil {
			im.weights = make(map[uint32]*weights)
		}
		if im.weights[id] == nil {
			im.weights[id] = new(weights)
		}
		w := parseWeights(record)
		im.weights[id].add(&w)
	}
}

// hugeSize stands in counts for itself and all greater sizes, which are in the
// rare counts.
const hugeSize = 1<<32 - 1

func (im *Image) addCounts(c *Counters, b *[recordBytes]byte) {
	calls, bytes, released := uint64(le.Uint32(b[0:])), le.Uint64(b[8:]), le.Uint64(b[16:])
	if calls > 0 {
		c.addSizes(c.Calls > 0, uint64(le.Uint32(b[44:])), uint64(le.Uint32(b[48:])))
	}
	c.Calls += calls
	c.Releases += uint64(le.Uint32(b[4:]))
	c.Bytes += bytes
	c.ReleasedBytes += released
	c.PeakBytes += int64(im.bytesAtPeak(bytes-released, le.Uint64(b[24:]), le.Uint64(b[32:])))
	c.UsableBytes += bytes + uint64(le.Uint32(b[40:]))
	c.Temporary += uint64(le.Uint32(b[52:]))
	c.ShortLived += uint64(le.Uint32(b[56:]))
	c.Foreign += uint64(le.Uint32(b[60:]))
}

// addRareCounts adds what did not fit into counts.
func (im *Image) addRareCounts(c *Counters, b *[recordBytes]byte) {
	carried := func(at int) uint64 { return uint64(le.Uint32(b[at:])) << 30 }
	if c.Calls == 0 && carried(0) > 0 {
		c.SizeMin = hugeSize // until the counts tell
	}
	c.Calls += carried(0)
	c.Releases += carried(4)
	c.UsableBytes += carried(8)
	c.Temporary += carried(12)
	c.ShortLived += carried(16)
	c.Foreign += carried(20)
	c.Failed += le.Uint64(b[24:])
	if least, most := le.Uint64(b[32:]), le.Uint64(b[40:]); most > 0 {
		c.SizeMax = max(c.SizeMax, most)
		if im.hugeLeast == nil {
			im.hugeLeast = make(map[*Counters]uint64)
		}
		if before, known := im.hugeLeast[c]; !known || least < before {
			im.hugeLeast[c] = least
		}
	}
}

// finishSizes gives those stacks their least size that have huge ones alone.
func (im *Image) finishSizes() {
	for c, least := range im.hugeLeast {
		if c.SizeMin == hugeSize {
			c.SizeMin = least
		}
	}
	im.hugeLeast = nil
}

// addGivenUp adds those releases that a realloc made, of an older recorder.
func addGivenUp(c *Counters, b *[recordBytes]byte) { c.ByRealloc += le.Uint64(b[48:]) }

// givenUp is how many blocks of a stack a realloc released, as far as one shard
// counted.
type givenUp struct {
	of    *blocks
	stack uint32
	count uint64
}

func (im *Image) noteGivenUp(of *blocks, page []byte) {
	eachReallocs(page, func(stack uint32, record []byte) {
		if count := le.Uint64(record[48:]); count > 0 {
			im.givenUp = append(im.givenUp, givenUp{of, stack, count})
		}
	})
}

// finishGivenUp adds those releases when all counts are known: only a shard
// that has counts of a stack can have them.
func (im *Image) finishGivenUp() {
	for _, g := range im.givenUp {
		if b := g.of.at(g.stack / stacksPerPage); b != nil && b.counters != nil {
			b.counters[g.stack%stacksPerPage].ByRealloc += g.count
		}
	}
	im.givenUp = nil
}

func (im *Image) addBirths(c *Counters, b *[recordBytes]byte) {
	calls, bytes := le.Uint64(b[0:]), le.Uint64(b[8:])
	if calls > 0 {
		c.addSizes(c.Calls > 0, le.Uint64(b[40:]), le.Uint64(b[48:]))
	}
	c.Calls += calls
	c.Bytes += bytes
	c.UsableBytes += le.Uint64(b[16:])
	c.PeakBytes += int64(im.bytesAtPeak(bytes, le.Uint64(b[24:]), le.Uint64(b[32:])))
	c.Failed += le.Uint64(b[56:])
}

// addSizes widens the range of sizes; known tells that there is one.
func (c *Counters) addSizes(known bool, least, most uint64) {
	if !known || least < c.SizeMin {
		c.SizeMin = least
	}
	c.SizeMax = max(c.SizeMax, most)
}

func (im *Image) addDeaths(c *Counters, b *[recordBytes]byte) {
	released := le.Uint64(b[8:])
	c.Releases += le.Uint64(b[0:])
	c.ReleasedBytes += released
	c.PeakBytes -= int64(im.bytesAtPeak(released, le.Uint64(b[16:]), le.Uint64(b[24:])))
	c.Temporary += le.Uint64(b[32:])
	c.ShortLived += le.Uint64(b[40:])
	c.ByRealloc += le.Uint64(b[48:])
	c.Foreign += le.Uint64(b[56:])
}

// bytesAtPeak returns the bytes of a record as they were at the last peak: a
// record that did not change since still has them. The epoch of a record is
// beyond the header's only while the process runs.
func (im *Image) bytesAtPeak(bytes, saved, epoch uint64) uint64 {
	if epoch >= im.PeakEpoch && !im.atPeak() {
		return saved
	}
	return bytes
}

// EachStack calls visit for every stack that counted something, in the order
// of stack ids. Stack 0 is what could be given no stack.
func (im *Image) EachStack(visit func(id uint32, c *Counters)) {
	im.blocks.each(func(number uint32, of *block) {
		if of.counters == nil {
			return
		}
		for i := range of.counters {
			if c := &of.counters[i]; c.Calls != 0 || *c != (Counters{}) {
				visit(number*stacksPerPage+uint32(i), c)
			}
		}
	})
}

// StackCount returns how many stacks counted something, or somewhat more.
func (im *Image) StackCount() int {
	return min(len(im.blocks.all)*stacksPerPage, int(im.ParentStacks)+len(im.stacks)+1)
}

// checkSums holds the counters of the stacks against those of the threads,
// which count the same calls on their own: what differs was damaged. Only of
// a process that ended in good order must they agree.
func (im *Image) checkSums() {
	if im.Chosen || im.Sampling != nil || im.Flags&FlagPacked == 0 || im.Incomplete != 0 || im.inFlight() > 0 || len(im.Warnings) > 0 {
		return
	}
	var blocks, bytes int64
	im.EachStack(func(id uint32, c *Counters) {
		if c.Calls == c.Releases && c.Bytes == c.ReleasedBytes {
			return // whatever was called
		}
		if tail, _ := im.Node(im.StackNode(id)); tail.Tag() == TagFunction && tail.Function() == FreeNull {
			return
		}
		blocks += int64(c.Calls - c.Releases)
		bytes += int64(c.Bytes - c.ReleasedBytes)
	})
	for i := range im.Shards {
		blocks -= im.Shards[i].LiveBlocks
		bytes -= im.Shards[i].LiveBytes
	}
	if blocks != 0 || bytes != 0 {
		im.warn("damaged: its stacks and its threads disagree by %d live blocks and %d bytes", blocks, bytes)
	}
}
