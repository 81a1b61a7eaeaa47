package announced

func loops(n int) (all [][]int, sum int) {
	for range n {
		kept := make([]int, n) // in a loop: kept
		all = append(all, kept)
	}
	for range n {
		scratch := make([]int, n) // in a loop: scratch
		sum += len(scratch)
	}
	return all, sum
}
