package price

// Fixed returns costs that were not measured, for tests: so many ns for each
// allocation with its release, of whatever kind and size, and so many more
// while it is recorded.
func Fixed(plain, recording float64) func(Malloc) *Costs {
	table := func(recording float64) *Table {
		at := func(ns float64) []Point { return []Point{{Size: 1, Nanoseconds: ns}} }
		hot := plain/besideWork + recording
		return &Table{Hot: at(hot), Mixed: at(plain), Calloc: at(hot), Realloc: at(0), Stay: hot, Fresh: hot, Few: hot, Many: hot}
	}
	return func(m Malloc) *Costs {
		return &Costs{Malloc: m.Name, Plain: table(0), Libmallow: table(0), Recorded: table(recording)}
	}
}
