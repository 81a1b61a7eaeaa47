package a

func positive(all []int) (int, []int) {
	some := all[:0]
	for _, n := range all {
		if n > 0 {
			some = append(some, n)
		}
	}
	return all[0], some // want `all is read, but some has overwritten it`
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

func countsAndClears(all []*int) []*int {
	some := all[:0]
	for _, n := range all {
		if n != nil {
			some = append(some, n)
		}
	}
	if len(some) != len(all) {
		all[len(all)-1] = nil
	}
	for i := len(some); i < len(all); i++ {
		all[i] = nil
	}
	for i := range all {
		if i >= len(some) {
			all[i] = nil
		}
	}
	return some
}

func split(all []int) (some, dropped []int) {
	kept := all[:0]
	for _, n := range all {
		if n > 0 {
			kept = append(kept, n)
		}
	}
	for i := range all[len(kept):] {
		all[len(kept)+i] = 0
	}
	return kept, all // want `all is read, but kept has overwritten it`
}
