package rewrites

type table struct{ rows []string }

// KeptNil returns nil where there are no rows.
func KeptNil(rows []string) []int {
	t := &table{rows}
	var sizes []int
	for _, row := range t.rows {
		if len(row) > 50 {
			return nil
		}
		sizes = append(sizes, len(row)) // rewrite: runtime.growslice
	}
	return sizes
}
