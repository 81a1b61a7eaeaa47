//go:build ignore

package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

type small struct {
	next *small
	n    int
}

var (
	sink   any
	text   string
	list   *small
	buffer []byte
	table  = map[string]int{}
)

//go:noinline
func known() {
	for i := 0; i < 50_000; i++ {
		list = &small{n: i}
	}
	for i := 0; i < 50_000; i++ {
		text = strings.Clone("tiny!"[:1+i%5])
	}
}

//go:noinline
func others() {
	for i := 0; i < 2_000; i++ {
		sink = i
		buffer = append(buffer, make([]byte, i)...)
		buffer = buffer[:0:0]
		table[fmt.Sprint("key", i%100)] = i
		sink = make([]*small, i%300)
	}
	buffer = make([]byte, 1<<20)
}

func main() {
	var done sync.WaitGroup
	for range 4 {
		done.Add(1)
		go func() {
			defer done.Done()
			local := map[int]*small{}
			for i := 0; i < 5_000; i++ {
				local[i] = &small{n: i}
			}
		}()
	}
	known()
	others()
	done.Wait()
	runtime.GC()
}
