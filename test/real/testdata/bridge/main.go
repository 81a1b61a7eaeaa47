// Goroutines that allocate in C: 64 of them, 500 blocks each.
package main

/*
#include <stdlib.h>
#include <string.h>

static char *make_block(int bytes) {
  char *block = malloc(bytes);
  memset(block, 'x', bytes);
  return block;
}
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

func main() {
	var group sync.WaitGroup
	var sum atomic.Int64
	for worker := range 64 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 500 {
				block := C.make_block(C.int(16 + worker + i%7))
				text := C.CString("some text")
				sum.Add(int64(C.strlen(text)) + int64(*(*byte)(unsafe.Pointer(block))))
				C.free(unsafe.Pointer(text))
				C.free(unsafe.Pointer(block))
			}
		}()
	}
	group.Wait()
	fmt.Println(sum.Load())
	os.Exit(8)
}
