//go:build mallow_runtime

// This file joins package runtime beside the one that counts. It samples where
// the CPU time goes, by the runtime's own timers on the CPU time of each thread,
// in a mapped file. No goroutine reads the samples: one would hide a deadlock.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	mallowSampleVersion = 1
	mallowSampleRate    = 100
	mallowSampleSlots   = 4096
	mallowSampleDepth   = 61
	mallowSampleProbes  = 64
)

type mallowSampleHeader struct {
	magic    [8]byte
	version  uint64
	rate     uint64
	lost     uint64 // samples that found no room
	text     uint64 // run-time address of the code
	reserved [3]uint64
}

// mallowSampleSlot is a stack. It is free while hash is 0, and counts from
// when depth is not.
type mallowSampleSlot struct {
	hash  uint64
	count uint64
	depth uint64
	pcs   [mallowSampleDepth]uint64
}

type mallowSampleFile struct {
	header mallowSampleHeader
	slots  [mallowSampleSlots]mallowSampleSlot
}

var mallowSamples *mallowSampleFile

// mallowStartSampling samples into the file FOLDER/PID.cpu, whose name, with
// another ending, path has.
func mallowStartSampling(path []byte) {
	const ofCounts = ".counts\x00"
	ending := path[len(path)-len(ofCounts):]
	copy(ending, ".cpu\x00")
	const readWrite, create, exclusive = 0x2, 0x40, 0x80
	fd := open(&path[0], readWrite|create|exclusive|0x80000, 0600)
	copy(ending, ofCounts) // by which the other file is opened again when it grows
	if fd < 0 {
		return
	}
	for at := uintptr(0); at < unsafe.Sizeof(*mallowSamples); at += uintptr(len(mallowZeros)) {
		if write1(uintptr(fd), unsafe.Pointer(&mallowZeros[0]), int32(len(mallowZeros))) != int32(len(mallowZeros)) {
			closefd(fd)
			return
		}
	}
	const shared = 0x1
	p, err := mmap(nil, unsafe.Sizeof(*mallowSamples), _PROT_READ|_PROT_WRITE, shared, fd, 0)
	closefd(fd)
	if err != 0 {
		return
	}
	mallowSamples = (*mallowSampleFile)(p)
	h := &mallowSamples.header
	h.version, h.rate, h.text = mallowSampleVersion, mallowSampleRate, uint64(firstmoduledata.text)
	copy(h.magic[:], "MALLOWCP")
	setcpuprofilerate(mallowSampleRate)
	// The timer of the process would survive an exec, and those of the threads suffice.
	var none itimerval
	setitimer(_ITIMER_PROF, &none, nil)
}

// mallowSample counts a stack, in the handler of a signal. It tells whether the
// runtime has nothing to do with the sample.
//
//go:nowritebarrierrec
func mallowSample(stack []uintptr) bool {
	f := mallowSamples
	if f == nil {
		return false
	}
	n := min(len(stack), mallowSampleDepth)
	hash := uint64(n)
	for _, pc := range stack[:n] {
		hash = (hash ^ uint64(pc)) * 0x9e3779b97f4a7c15
		hash ^= hash >> 29
	}
	hash |= 1
	for probe := range uint64(mallowSampleProbes) {
		s := &f.slots[(hash+probe)%mallowSampleSlots]
		if atomic.Load64(&s.hash) == 0 && atomic.Cas64(&s.hash, 0, hash) {
			for i, pc := range stack[:n] {
				s.pcs[i] = uint64(pc)
			}
			atomic.Xadd64(&s.count, 1)
			atomic.Store64(&s.depth, uint64(n))
			return !cpuprof.on
		}
		if atomic.Load64(&s.hash) == hash && atomic.Load64(&s.depth) == uint64(n) && mallowSampleSame(s, stack[:n]) {
			atomic.Xadd64(&s.count, 1)
			return !cpuprof.on
		}
	}
	atomic.Xadd64(&f.header.lost, 1)
	return !cpuprof.on
}

func mallowSampleSame(s *mallowSampleSlot, stack []uintptr) bool {
	for i, pc := range stack {
		if s.pcs[i] != uint64(pc) {
			return false
		}
	}
	return true
}
