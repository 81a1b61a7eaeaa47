//go:build mallow_runtime

// This file joins package runtime beside the one that counts. It counts the
// calls of C by the Go stack that makes them: C's own stacks end where the
// runtime changes to another stack.

package runtime

import "unsafe"

// mallowCallSize marks a record of calls, by what no allocation has.
const mallowCallSize = ^uintptr(0)

// mallowCalled counts a call of a C function. The stack of its caller must not
// grow: another is used. first is what the first word of the arguments says, for
// malloc how many bytes.
//
//go:nosplit
func mallowCalled(fn, arg unsafe.Pointer) {
	fp := getfp()
	gp := getg()
	first := uint64(0)
	if arg != nil {
		first = *(*uint64)(arg)
	}
	systemstack(func() {
		var pcs [mallowDepth]uintptr
		depth := 0
		hash := uint64(uintptr(fn)) * 0x9e3779b97f4a7c15
		for fp > gp.stack.lo && fp < gp.stack.hi && depth < mallowDepth {
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
				break
			}
			fp = next
		}
		mallowInsert(hash, 0, mallowCallSize, first, uintptr(fn), "", &pcs, depth)
	})
}
