package a

import (
	"bytes"
	"sync"
)

var pool sync.Pool

type pair struct{ a, b int }

func puts(b []byte, s string, p pair, n [4]int) {
	pool.Put(b)     // want `b is put into the pool by value`
	pool.Put(b[:0]) // want `by value`
	pool.Put(s)     // want `by value`
	pool.Put(p)     // want `by value`
	pool.Put(n)     // want `by value`
	pool.Put(&b)
	pool.Put(&p)
	pool.Put(new(bytes.Buffer))
	pool.Put(map[int]int{})
	pool.Put(any(&n))
}
