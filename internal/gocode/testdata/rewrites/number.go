package rewrites

import (
	"crypto/md5"
	"strconv"
)

// Number hashes the digits of n.
func Number(n int) []byte {
	h := md5.New()
	digits := strconv.Itoa(n) // rewrite: strconv.Itoa
	for range 3 {
		h.Write([]byte(digits))
	}
	return h.Sum(nil)
}
