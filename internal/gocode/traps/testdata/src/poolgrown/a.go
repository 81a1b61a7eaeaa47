package a

import "sync"

var pool = sync.Pool{New: func() any { return new([]byte) }}

func lost(words []string) string {
	p := pool.Get().(*[]byte)
	defer pool.Put(p) // want `p goes back to the pool without the array that append may have made`
	b := (*p)[:0]
	for _, w := range words {
		b = append(b, w...)
	}
	return string(b)
}

func kept(words []string) string {
	p := pool.Get().(*[]byte)
	b := (*p)[:0]
	for _, w := range words {
		b = append(b, w...)
	}
	text := string(b)
	*p = b
	pool.Put(p)
	return text
}

func keptLater(words []string) string {
	p := pool.Get().(*[]byte)
	b := append((*p)[:0], words[0]...)
	defer func() {
		*p = b
		pool.Put(p)
	}()
	return string(b)
}

func onlyRead() int {
	p := pool.Get().(*[]byte)
	defer pool.Put(p)
	b := *p
	return len(b)
}
