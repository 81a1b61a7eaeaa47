package recording

import (
	"maps"
	"slices"
)

// block is what 64 stacks in a row counted.
type block struct {
	counters *[stacksPerPage]Counters
	known    []knowledgePage // in the order of the directory
}

// blocks finds blocks by the number of their first stack / 64. Most images
// have all of them from 0 on, or from where the parent's end; a damaged one may
// have any.
type blocks struct {
	all  []block
	near []int32          // of each number: its index in all, plus 1
	far  map[uint32]int32 // the same, of numbers from mostNear on
	room []Counters       // of blocks to come
}

const (
	mostNear     = 1 << 16
	blocksAtOnce = 64 // as their counters are allocated
)

// at returns the block of a number; nil where there is none.
func (b *blocks) at(number uint32) *block {
	index := int32(0)
	if number < uint32(len(b.near)) {
		index = b.near[number]
	} else if number >= mostNear {
		index = b.far[number]
	}
	if index == 0 {
		return nil
	}
	return &b.all[index-1]
}

// make returns the block of a number, a new one if there is none.
func (b *blocks) make(number uint32) *block {
	if old := b.at(number); old != nil {
		return old
	}
	b.all = append(b.all, block{})
	index := int32(len(b.all))
	if number >= mostNear {
		if b.far == nil {
			b.far = make(map[uint32]int32)
		}
		b.far[number] = index
	} else {
		if more := int(number) + 1 - len(b.near); more > 0 {
			b.near = append(b.near, make([]int32, more)...)
		}
		b.near[number] = index
	}
	return &b.all[index-1]
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
	}
	return of.counters
}

// each visits the blocks in the order of their numbers.
func (b *blocks) each(visit func(number uint32, of *block)) {
	for number, index := range b.near {
		if index > 0 {
			visit(uint32(number), &b.all[index-1])
		}
	}
	for _, number := range slices.Sorted(maps.Keys(b.far)) {
		visit(number, &b.all[b.far[number]-1])
	}
}
