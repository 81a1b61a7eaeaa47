// Mixed allocates in Go, in C that Go calls, and in C on Go's behalf.
package main

/*
#cgo CFLAGS: -O0 -g
#include <stdlib.h>

static void *node(size_t n) {
	char *p = malloc(n); // in C
	p[0] = 1;
	return p;
}

static void fill(int count) {
	for (int i = 0; i < count; i++)
		free(node(100));
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

type pair struct{ a, b int }

var sink *pair

func names(n int) {
	for i := range n {
		s := C.CString("a name") // copied to C
		if i >= 10 {
			C.free(unsafe.Pointer(s))
		}
	}
}

func room(n int) {
	for range n {
		p := C.malloc(64) // of C
		C.free(p)
	}
}

func pairs(n int) {
	for i := range n {
		sink = &pair{i, i} // of Go
	}
}

func fill(n int) {
	C.fill(C.int(n))
}

func main() {
	names(1000)
	room(500)
	for range 3 {
		fill(200)
	}
	pairs(2000)
	fmt.Println(sink.a)
}
