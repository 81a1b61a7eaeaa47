package rewrites

// Join writes a list.
func Join(words []string) string {
	list := "["
	for i, w := range words {
		if i > 0 {
			list += ", "
		}
		list += w + "/" + w // rewrite: runtime.concatstring4
	}
	return list + "]"
}
