package recording

// block is what 64 stacks in a row counted.
type block struct {
	counters *[stacksPerPage]Counters
	known    []knowledgePage // in the order of the directory
}

// blocks finds blocks by the number of their first stack / 64.
type blocks struct {
	all   []block
	index Index      // in all
	room  []Counters // of blocks to come
}

const blocksAtOnce = 64 // as their counters are allocated

// at returns the block of a number; nil where there is none.
func (b *blocks) at(number uint32) *block {
	at := b.index.At(number)
	if at < 0 {
		return nil
	}
	return &b.all[at]
}

// make returns the block of a number, a new one if there is none.
func (b *blocks) make(number uint32) *block {
	if old := b.at(number); old != nil {
		return old
	}
	b.index.Set(number, int32(len(b.all)))
	b.all = append(b.all, block{})
	return &b.all[len(b.all)-1]
}

// counters returns the counters of a block, which is made if there is none.
func (b *blocks) counters(number uint32) *[stacksPerPage]Counters {
	of := b.make(number)
	if of.counters == nil {
		if len(b.room) == 0 {
			b.room = make([]Counters, stacksPerPage*min(blocksAtOnce, max(1, len(b.all))))
		}
		of.counters = (*[stacksPerPage]Counters)(b.room)
		b.room = b.room[stacksPerPage:]
		// Memory that is read before it is written costs two faults a page, and
		// an interrupt of every other processor.
		clear(of.counters[:])
	}
	return of.counters
}

// each visits the blocks in the order of their numbers.
func (b *blocks) each(visit func(number uint32, of *block)) {
	b.index.Each(func(number uint32, at int32) { visit(number, &b.all[at]) })
}
