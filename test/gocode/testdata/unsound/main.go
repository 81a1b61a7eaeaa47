// Unsound returns a string whose memory it has given back to a pool.
package main

import (
	"fmt"
	"sync"
	"unsafe"
)

var pool = sync.Pool{New: func() any {
	b := make([]byte, 0, 255)
	return &b
}}

func word(n int) string {
	p := pool.Get().(*[]byte)
	defer pool.Put(p)
	b := (*p)[:0]
	for i := range n {
		b = append(b, byte('a'+i))
	}
	return unsafe.String(&b[0], len(b))
}

func main() {
	first := word(20)
	second := word(10)
	fmt.Println(first, second)
}
