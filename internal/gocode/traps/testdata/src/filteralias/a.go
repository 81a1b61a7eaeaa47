package a

func positive(all []int) (int, []int) {
	some := all[:0]
	for _, n := range all {
		if n > 0 {
			some = append(some, n)
		}
	}
	return len(all), some // want `all is read, but some has overwritten it`
}

func inPlace(all []int) []int {
	some := all[:0]
	for _, n := range all {
		if n > 0 {
			some = append(some, n)
		}
	}
	return some
}

func takesItsPlace(all []int) []int {
	some := all[:0]
	for _, n := range all {
		if n > 0 {
			some = append(some, n)
		}
	}
	all = some
	return all
}

func clearsTheRest(all []*int) []*int {
	some := all[:0]
	for _, n := range all {
		if n != nil {
			some = append(some, n)
		}
	}
	clear(all[len(some):])
	return some
}
