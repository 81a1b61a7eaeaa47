package rewrites

// Collect has a slice that begins in a buffer on the stack.
func Collect(of []string) []int {
	sizes := []int{}
	for _, name := range of {
		sizes = append(sizes, len(name)) // rewrite: runtime.growsliceBuf
	}
	return sizes
}
