package lookalikes

import "strings"

// An I with a dot above becomes an i, and does not fold to it.
func dotted(name string) bool {
	return strings.ToLower(name) == "gzip" // refuse: strings.ToLower
}

// A dotless i becomes an I, and does not fold to it.
func dotless(name string) bool {
	return strings.ToUpper(name) == "PING" // refuse: strings.ToUpper
}

// The Kelvin sign becomes a k, so the length does not tell; a long s folds to s.
func kelvin(name string) bool {
	return strings.ToLower(name) == "desk" // refuse: strings.ToLower
}

func neverLower(name string) bool {
	return strings.ToLower(name) == "Word" // refuse: strings.ToLower
}

func neverUpper(name string) bool {
	return strings.ToUpper(name) == "Word" // refuse: strings.ToUpper
}

func beyondASCII(name string) bool {
	return strings.ToLower(name) == "größe" // refuse: strings.ToLower
}

func twoVariables(a, b string) bool {
	return strings.ToLower(a) == strings.ToLower(b) // refuse: strings.ToLower
}

func order(name string) bool {
	return strings.ToLower(name) < "word" // refuse: strings.ToLower
}

func longSOfCall() bool {
	return strings.ToLower(nextWord()) == "close" // refuse: strings.ToLower
}

func nextWord() string { global++; return strings.Repeat("x", global) }

func isKept(name string) string {
	lower := strings.ToLower(name) // refuse: strings.ToLower
	if lower == "word" {
		return lower
	}
	return ""
}
