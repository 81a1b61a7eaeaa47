package rewrites

import (
	"bytes"
	"crypto/sha256"
)

// Stream hashes what it collected.
func Stream(words []string, tail []byte) [32]byte {
	var all bytes.Buffer
	for _, w := range words {
		all.WriteString(w) // rewrite: bytes.(*Buffer).WriteString
	}
	all.Write(tail)
	sum := sha256.Sum256(all.Bytes())
	return sum
}
