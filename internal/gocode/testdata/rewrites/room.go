package rewrites

// Room has a slice whose room is known.
func Room(names []string) (size int) {
	var sizes []int
	for _, name := range names {
		sizes = append(sizes, len(name)) // rewrite: runtime.growslice
	}
	for _, s := range sizes {
		size += s
	}
	return size
}
