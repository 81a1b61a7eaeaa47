package announced

import (
	"bytes"
	"io"
)

var files = []byte("file:")

func moved(texts [][]byte, render func(io.Writer, []byte)) (all []*bytes.Buffer, n int) {
	for _, text := range texts {
		var buf bytes.Buffer // moved: buf reuse
		render(&buf, text)
		n += buf.Len()
	}
	for range texts {
		var kept bytes.Buffer // moved: kept slab
		all = append(all, &kept)
	}
	var once bytes.Buffer // moved: once other
	render(&once, nil)
	return all, n + once.Len()
}

func folded(s []byte) (bool, []byte) {
	equal := bytes.Equal(bytes.ToLower(s[:len(files)]), files) // fold: bytes.EqualFold, where
	return equal, bytes.ToLower(s)                             // fold: bytes.EqualFold to compare
}
