package rewrites

// Byte has at most 255 elements.
func Byte(n uint8) string {
	b := []byte{}
	for i := 0; i < int(n); i++ {
		b = append(b, byte(i)) // rewrite: runtime.growslice
	}
	return string(b)
}
