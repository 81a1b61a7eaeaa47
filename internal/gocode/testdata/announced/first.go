package announced

type record struct{ words []string }

func first(all []*record, values []string) (out []string) {
	for _, r := range all {
		r.words = append(r.words, values[0]) // first: 16
	}
	for _, v := range values {
		out = append(out, v)                  // first: 16
		all[0].words = append(out, values...) // first: 16 no
	}
	return append(out, values[0], "") // first: 32
}

func firstOfRest(rest, values []string) {
	for _, v := range values {
		rest = append(rest, v) // first: 16 no
		rest = rest[1:]
	}
}

func firstOfAny[T any](all [][]T, v T) {
	for i := range all {
		all[i] = append(all[i], v) // first: 8 no
	}
}
