package rewrites

import "strconv"

// HoistTwice quotes a name wherever it stands in the loop.
func HoistTwice(name string, kinds []int) (all []string) {
	for _, kind := range kinds {
		switch {
		case kind > 2:
			all = append(all, "a"+strconv.Quote(name)) // rewrite: strconv.Quote
		case kind > 1:
			all = append(all, "b"+strconv.Quote(name))
			name := "other"
			all = append(all, strconv.Quote(name))
		}
	}
	return all
}
