package rewrites

// RawJoin appends a text of several lines, of which none is indented.
func RawJoin(words []string) string {
	list := ""
	for _, w := range words {
		list += `a
b` + w // rewrite: runtime.concatstring2
	}
	return list
}
