package eventlog

// sift lets item i of a heap sink to where it belongs; the first item is
// before all others.
func sift[T any](items []T, i int, before func(a, b T) bool) {
	for {
		child := 2*i + 1
		if child >= len(items) {
			return
		}
		if child+1 < len(items) && before(items[child+1], items[child]) {
			child++
		}
		if !before(items[child], items[i]) {
			return
		}
		items[i], items[child] = items[child], items[i]
		i = child
	}
}
