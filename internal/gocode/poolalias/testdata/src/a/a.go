package a

import (
	"bytes"
	"sync"
	"unsafe"
)

var (
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	slices  = sync.Pool{New: func() any { b := make([]byte, 0, 255); return &b }}
	kept    []byte
	sent    = make(chan []byte, 1)
)

type owner struct{ text []byte }

// A string without a copy, of a buffer that a deferred Put gives back.
func unsafeString(n int) string {
	p := slices.Get().(*[]byte)
	defer slices.Put(p)
	b := (*p)[:0]
	for range n {
		b = append(b, 'x')
	}
	return unsafe.String(&b[0], len(b)) // want `unsafe.String\(&b\[0\], len\(b\)\) is returned, but its memory goes back to the pool in line 21: the next Get may write over it`
}

func punned(n int) string {
	p := slices.Get().(*[]byte)
	defer func() { slices.Put(p) }()
	b := append((*p)[:0], "words"...)
	s := *(*string)(unsafe.Pointer(&b))
	return s // want `s is returned`
}

func slice() []byte {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	buf.WriteString("words")
	b := buf.Bytes()[1:]
	buffers.Put(buf)
	return b // want `b is returned`
}

func stored(o *owner) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	o.text = buf.Bytes() // want `buf.Bytes\(\) is kept in o.text`
	kept = buf.Bytes()   // want `buf.Bytes\(\) is kept in kept`
	sent <- buf.Bytes()  // want `buf.Bytes\(\) is sent`
}

func itself() *bytes.Buffer {
	buf := buffers.Get().(*bytes.Buffer)
	buffers.Put(buf)
	return buf // want `buf is returned`
}

// What follows is sound.

func copied() string {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	return buf.String()
}

func converted() string {
	p := slices.Get().(*[]byte)
	defer slices.Put(p)
	b := append((*p)[:0], "words"...)
	return string(b)
}

func cloned() []byte {
	p := slices.Get().(*[]byte)
	defer slices.Put(p)
	b := append((*p)[:0], "words"...)
	return append([]byte(nil), b...)
}

func handedOver() *bytes.Buffer {
	return buffers.Get().(*bytes.Buffer) // the caller puts it back
}

func length() int {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	return buf.Len()
}

func local() (n int) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	var o owner
	o.text = buf.Bytes()
	return len(o.text)
}

func letter() byte {
	p := slices.Get().(*[]byte)
	defer slices.Put(p)
	return (*p)[:1][0]
}
