package a

func sizes(words []string) []int {
	all := make([]int, len(words))
	for _, w := range words {
		all = append(all, len(w)) // want `all has len\(words\) zero elements in front`
	}
	return all
}

func withCapacity(words []string) []int {
	all := make([]int, 0, len(words))
	for _, w := range words {
		all = append(all, len(w))
	}
	return all
}

func setThenAppended(words []string) []int {
	all := make([]int, len(words))
	for i, w := range words {
		all[i] = len(w)
	}
	all = append(all, 0)
	return all
}

func filled(read func([]byte)) []byte {
	all := make([]byte, 4)
	read(all)
	all = append(all, 'x')
	return all
}

func cut(n int) []byte {
	all := make([]byte, n)
	all = append(all[:0], 'x')
	return all
}
