package price

// Fixed returns costs that were not measured, for tests: so many ns for each
// allocation with its release, of whatever kind and size, and so many more
// while it is recorded.
func Fixed(plain, recording float64) func(Malloc) *Costs {
	table := func(ns float64) *Table {
		points := []Point{{Size: 1, Nanoseconds: ns}}
		free := []Point{{Size: 1}}
		return &Table{Hot: points, Mixed: points, Calloc: points, Realloc: free, Fresh: ns, Few: ns, Many: ns}
	}
	return func(m Malloc) *Costs {
		return &Costs{Malloc: m.Name, Plain: table(plain), Libmallow: table(plain), Recorded: table(plain + recording)}
	}
}
