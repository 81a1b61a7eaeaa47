//go:build mallow_runtime

// This file joins package runtime of the program that is measured. It counts
// every allocation by its call stack, in a file that is mapped, so that what
// was counted outlives the process in whatever way that ends.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	mallowVersion  = 2
	mallowDepth    = 128     // frames of a stack; the outermost beyond are left out
	mallowTypeName = 160     // bytes of a type's name
	mallowSlots    = 1 << 18 // of the index; a full one ends the counting of new stacks
	mallowStep     = 1 << 20 // the file grows by
	mallowMost     = 1 << 30 // and at most to
	mallowLongest  = 1 << 12 // bytes of a benchmark's name
	mallowUntimed  = 1 << 31 // joins the number of a benchmark whose timer stands still
)

// mallowMark is the size of a record that begins a benchmark, or begins it anew,
// which no allocation has: its name stands where that of a type does, and allocs
// are the cycles of the collector until then.
const mallowMark = ^uintptr(0) - 1

// mallowHeader is the beginning of the file.
type mallowHeader struct {
	magic   [8]byte
	version uint64
	pid     uint64
	used    uint64 // bytes of the file, records and header
	lost    uint64 // allocations that found no room
	before  uint64 // allocations before counting began
	// Of the moment at which the program left in good order, all zero otherwise:
	checked    uint64 // 1 when the following are set
	mallocs    uint64 // of runtime.MemStats
	counted    uint64 // of the records
	collected  uint64 // cycles of the collector
	pause      uint64 // ns
	totalAlloc uint64
	text       uint64 // run-time address of the code
	codeSize   uint64 // bytes of it, by which programs are told apart
	reserved   [2]uint64
}

// mallowRecord is one stack with one size and type. It is followed by its
// return addresses, the innermost first, and by the name of the type.
type mallowRecord struct {
	length    uint64 // bytes with all that follows, a multiple of 8
	hash      uint64
	allocs    uint64
	bytes     uint64
	size      uint64
	depth     uint16
	typeLen   uint16
	benchmark uint32 // 0 outside of any
	typ       uint64 // address of the type, 0 where it is not known
}

var (
	mallowOn     bool
	mallowBase   *mallowHeader
	mallowRoom   uintptr // bytes that the file has
	mallowPath   *byte
	mallowIndex  *[mallowSlots]*mallowRecord
	mallowStacks uintptr
	mallowLock   mutex
	mallowStats  MemStats
	mallowZeros  [4096]byte

	mallowBenchmarks uint32 // that began
	mallowNow        uint32 // the one that runs, 0 for none
)

// mallowStart begins to count if the environment names a file.
func mallowStart() {
	folder := gogetenv("MALLOW_GO_COUNTS")
	if folder == "" {
		return
	}
	path := make([]byte, 0, len(folder)+32)
	path = append(path, folder...)
	path = append(path, '/')
	var digits [20]byte
	path = append(path, itoa(digits[:], uint64(getpid()))...)
	path = append(path, ".counts\x00"...)
	mallowPath = &path[0]
	const readWrite, create, exclusive = 0x2, 0x40, 0x80
	fd := open(mallowPath, readWrite|create|exclusive|0x80000, 0600)
	if fd < 0 {
		return
	}
	if !mallowExtend(fd) {
		closefd(fd)
		return
	}
	const shared = 0x1
	p, err := mmap(nil, mallowMost, _PROT_READ|_PROT_WRITE, shared, fd, 0)
	closefd(fd)
	if err != 0 {
		return
	}
	index, err := mmap(nil, unsafe.Sizeof(*mallowIndex), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
	if err != 0 {
		return
	}
	mallowIndex = (*[mallowSlots]*mallowRecord)(index)
	mallowBase = (*mallowHeader)(p)
	mallowBase.version = mallowVersion
	mallowBase.pid = uint64(getpid())
	mallowBase.used = uint64(unsafe.Sizeof(*mallowBase))
	mallowBase.text = uint64(firstmoduledata.text)
	mallowBase.codeSize = uint64(firstmoduledata.etext - firstmoduledata.text)
	copy(mallowBase.magic[:], "MALLOWGO")
	stw := stopTheWorld(stwReadMemStats)
	systemstack(func() {
		readmemstats_m(&mallowStats)
		mallowBase.before = mallowStats.Mallocs
		mallowOn = true
	})
	startTheWorld(stw)
	if gogetenv("MALLOW_GO_CPU") != "" {
		mallowStartSampling(path)
	}
}

// mallowExtend makes the file longer by writing, so that a full disk is an
// error and no fault.
func mallowExtend(fd int32) bool {
	for range mallowStep / len(mallowZeros) {
		if write1(uintptr(fd), unsafe.Pointer(&mallowZeros[0]), int32(len(mallowZeros))) != int32(len(mallowZeros)) {
			return false
		}
	}
	mallowRoom += mallowStep
	return true
}

// mallowCount counts an allocation under its caller's stack. It must not
// allocate, and not call anything before the stack was walked: a stack that
// grows moves.
func mallowCount(size uintptr, typ *_type) {
	var pcs [mallowDepth]uintptr
	gp := getg()
	mp := gp.m
	low, high := gp.stack.lo, gp.stack.hi
	benchmark := mallowNow
	hash := uint64(size)*0x9e3779b97f4a7c15 ^ uint64(uintptr(unsafe.Pointer(typ))) ^ uint64(benchmark)<<48
	depth := 0
	for fp := getfp(); fp > low && fp < high && depth < mallowDepth; {
		pc := *(*uintptr)(unsafe.Pointer(fp + 8))
		if pc == 0 {
			break
		}
		pcs[depth] = pc
		depth++
		hash = (hash ^ uint64(pc)) * 0x9e3779b97f4a7c15
		hash ^= hash >> 29
		next := *(*uintptr)(unsafe.Pointer(fp))
		if next <= fp {
			if gp != mp.curg && mp.curg != nil && low == gp.stack.lo {
				low, high = mp.curg.stack.lo, mp.curg.stack.hi
				fp = next
				continue
			}
			break
		}
		fp = next
	}
	for slot := hash % mallowSlots; ; slot = (slot + 1) % mallowSlots {
		r := (*mallowRecord)(atomic.Loadp(unsafe.Pointer(&mallowIndex[slot])))
		if r == nil {
			break
		}
		if r.hash == hash && r.size == uint64(size) && r.typ == uint64(uintptr(unsafe.Pointer(typ))) && r.benchmark == benchmark && mallowSame(r, &pcs, depth) {
			atomic.Xadd64(&r.allocs, 1)
			atomic.Xadd64(&r.bytes, int64(size))
			return
		}
	}
	name := ""
	if typ != nil {
		name = toRType(typ).string()
		name = name[:min(len(name), mallowTypeName)]
	}
	mallowInsert(hash, benchmark, size, uint64(size), uintptr(unsafe.Pointer(typ)), name, &pcs, depth)
}

func mallowSame(r *mallowRecord, pcs *[mallowDepth]uintptr, depth int) bool {
	if int(r.depth) != depth {
		return false
	}
	of := (*[mallowDepth]uintptr)(unsafe.Add(unsafe.Pointer(r), unsafe.Sizeof(*r)))
	for i := 0; i < depth; i++ {
		if of[i] != pcs[i] {
			return false
		}
	}
	return true
}

// mallowInsert adds a record, or counts in the one that another thread was
// faster to add.
func mallowInsert(hash uint64, benchmark uint32, size uintptr, bytes uint64, typ uintptr, name string, pcs *[mallowDepth]uintptr, depth int) {
	mp := acquirem()
	lock(&mallowLock)
	slot := hash % mallowSlots
	for ; mallowIndex[slot] != nil; slot = (slot + 1) % mallowSlots {
		r := mallowIndex[slot]
		if r.hash == hash && r.size == uint64(size) && r.typ == uint64(typ) && r.benchmark == benchmark && mallowSame(r, pcs, depth) {
			atomic.Xadd64(&r.allocs, 1)
			atomic.Xadd64(&r.bytes, int64(bytes))
			unlock(&mallowLock)
			releasem(mp)
			return
		}
	}
	var r *mallowRecord
	if mallowStacks < mallowSlots*3/4 {
		r = mallowNew(size, 1, bytes, name, pcs, depth)
	}
	if r == nil {
		atomic.Xadd64(&mallowBase.lost, 1)
		unlock(&mallowLock)
		releasem(mp)
		return
	}
	r.hash, r.benchmark, r.typ = hash, benchmark, uint64(typ)
	mallowStacks++
	atomic.Store64(&mallowBase.used, mallowBase.used+r.length)
	atomic.StorepNoWB(unsafe.Pointer(&mallowIndex[slot]), unsafe.Pointer(r))
	unlock(&mallowLock)
	releasem(mp)
}

// mallowNew writes a record behind those in use, under the lock. It returns nil
// where there is no room.
func mallowNew(size uintptr, allocs, bytes uint64, name string, pcs *[mallowDepth]uintptr, depth int) *mallowRecord {
	length := (unsafe.Sizeof(mallowRecord{}) + uintptr(depth)*8 + uintptr(len(name)) + 7) &^ 7
	if !mallowReserve(uintptr(mallowBase.used) + length) {
		return nil
	}
	r := (*mallowRecord)(unsafe.Add(unsafe.Pointer(mallowBase), mallowBase.used))
	r.length, r.size, r.allocs, r.bytes = uint64(length), uint64(size), allocs, bytes
	r.depth, r.typeLen = uint16(depth), uint16(len(name))
	of := unsafe.Add(unsafe.Pointer(r), unsafe.Sizeof(*r))
	for i := 0; i < depth; i++ {
		*(*uintptr)(unsafe.Add(of, i*8)) = pcs[i]
	}
	of = unsafe.Add(of, depth*8)
	for i := 0; i < len(name); i++ {
		*(*byte)(unsafe.Add(of, i)) = name[i]
	}
	return r
}

// mallowBenchmark counts for a benchmark from now on, for none when name is "".
// Package testing calls it.
//
//go:linkname mallowBenchmark
func mallowBenchmark(name string) {
	if !mallowOn {
		return
	}
	if len(name) > mallowLongest {
		name = name[:mallowLongest]
	}
	mp := acquirem()
	lock(&mallowLock)
	mallowNow = 0
	if r := mallowNew(mallowMark, uint64(memstats.numgc), 0, name, nil, 0); r != nil {
		if name != "" {
			mallowBenchmarks++
			mallowNow = mallowBenchmarks
		}
		r.benchmark = mallowNow
		atomic.Store64(&mallowBase.used, mallowBase.used+r.length)
	}
	unlock(&mallowLock)
	releasem(mp)
}

// mallowTimer counts apart what the benchmark allocates until its timer is
// started again: package testing does not count it either.
//
//go:linkname mallowTimer
func mallowTimer(on bool) {
	switch {
	case mallowNow == 0:
	case on:
		mallowNow &^= mallowUntimed
	default:
		mallowNow |= mallowUntimed
	}
}

// mallowReset counts for the same benchmark from its beginning on: package
// testing forgets what it has counted. The mark has no name.
//
//go:linkname mallowReset
func mallowReset() {
	if mallowNow == 0 {
		return
	}
	mp := acquirem()
	lock(&mallowLock)
	if r := mallowNew(mallowMark, uint64(memstats.numgc), 0, "", nil, 0); r != nil {
		mallowBenchmarks++
		mallowNow = mallowNow&mallowUntimed | mallowBenchmarks
		r.benchmark = mallowBenchmarks
		atomic.Store64(&mallowBase.used, mallowBase.used+r.length)
	}
	unlock(&mallowLock)
	releasem(mp)
}

func mallowReserve(end uintptr) bool {
	if end <= mallowRoom {
		return true
	}
	if mallowRoom+mallowStep > mallowMost {
		return false
	}
	const writeOnly, appending = 0x1, 0x400
	fd := open(mallowPath, writeOnly|appending|0x80000, 0)
	if fd < 0 {
		return false
	}
	ok := mallowExtend(fd)
	closefd(fd)
	return ok
}

// mallowCheck notes what the runtime itself counted.
func mallowCheck() {
	if !mallowOn {
		return
	}
	stw := stopTheWorld(stwReadMemStats)
	systemstack(func() {
		readmemstats_m(&mallowStats)
		h := mallowBase
		h.counted = 0
		for at := uint64(unsafe.Sizeof(*h)); at < h.used; {
			r := (*mallowRecord)(unsafe.Add(unsafe.Pointer(h), at))
			if r.size != uint64(mallowCallSize) && r.size != uint64(mallowMark) {
				h.counted += r.allocs
			}
			at += r.length
		}
		h.mallocs = mallowStats.Mallocs
		h.collected = uint64(mallowStats.NumGC)
		h.pause = mallowStats.PauseTotalNs
		h.totalAlloc = mallowStats.TotalAlloc
		h.checked = 1
	})
	startTheWorld(stw)
}
