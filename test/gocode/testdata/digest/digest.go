// Package digest makes words of numbers, wastefully.
package digest

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"strings"
)

// Word makes a word of n.
func Word(n int) string {
	var text bytes.Buffer
	for range 2000 {
		text.WriteString(strconv.Itoa(n)) // 2000 tiny strings
	}
	sum := sha256.Sum256(text.Bytes())
	var word []byte
	for i := range 20 {
		word = append(word, strings.Repeat("abcdefghijklmnop", 20)[int(sum[i])]) // 20 alphabets
	}
	return string(word)
}
