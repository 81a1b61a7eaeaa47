package recording

import (
	"maps"
	"slices"
)

// Index finds an index by a number that a file has given: it may be any, but
// nearly all lie close together, from 0 on. The zero value is empty. It may be
// read by several goroutines while none changes it.
type Index struct {
	near []int32 // by number: the index, plus 1
	// far has those that are not below len(near), plus 1.
	far map[uint32]int32
}

const (
	leastNear = 1 << 10
	mostNear  = 1 << 20 // however many there are: a damaged file may have any
)

// At returns the index of a number, -1 where there is none. A nil Index has
// none.
func (x *Index) At(number uint32) int32 {
	switch {
	case x == nil:
		return -1
	case int(number) < len(x.near):
		return x.near[number] - 1
	}
	return x.far[number] - 1
}

// Set sets the index of a number.
func (x *Index) Set(number uint32, index int32) {
	have := len(x.near)
	if wide := min(2*have+leastNear, mostNear); int(number) >= have && int(number) < wide {
		x.near = append(x.near, make([]int32, wide-have)...)
		for n, index := range x.far {
			if int(n) < wide {
				x.near[n] = index
				delete(x.far, n)
			}
		}
	}
	if int(number) < len(x.near) {
		x.near[number] = index + 1
		return
	}
	if x.far == nil {
		x.far = make(map[uint32]int32)
	}
	x.far[number] = index + 1
}

// Remove forgets a number.
func (x *Index) Remove(number uint32) {
	if int(number) < len(x.near) {
		x.near[number] = 0
	} else {
		delete(x.far, number)
	}
}

// Each visits all numbers in their order.
func (x *Index) Each(visit func(number uint32, index int32)) {
	for number, index := range x.near {
		if index > 0 {
			visit(uint32(number), index-1)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(x.far)) {
		visit(number, x.far[number]-1)
	}
}
