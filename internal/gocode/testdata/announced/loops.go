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

type wrong struct{ n int }

func (w *wrong) Error() string { return "wrong" }

func ends(n int) error {
	for i := range n {
		if i == 3 {
			return &wrong{i} // turn: false
		}
		switch {
		case i == 4:
			w := &wrong{i} // turn: false
			panic(w)
		case i == 5:
			w := &wrong{i} // turn: true
			if w.n > 3 {
				continue
			}
			return w
		}
		for range i {
			errs = append(errs, &wrong{i}) // turn: true
		}
		return nil
	}
	return nil
}

var errs []error
