package lookalikes_variable

import _ "unsafe"

type (
	word   string
	number int
	real   float64
	shown  interface{ show() string }
)

func (w word) show() string       { return string(w) }
func (w *word) set(to string)     { *w = word(to) }
func (n number) show() string     { return "number" }
func (r real) show() string       { return "real" }
func (n *number) addressed()      { *n++ }
func refers(n *number) *number    { return n }
func half(n number) float64       { return 0.1 * float64(n) }
func shows(s shown) string        { return s.show() }
func plainText() string           { return "text" }
func any1(v any) any              { return v }
func pair() (word, number)        { return "a", 1 }
func rangeOver(n *[3]int) (s int) { return n[0] }

var assigned word = "assigned"

func assigns() { assigned = "other" }

func ofAssigned() shown {
	return assigned // refuse: runtime.convTstring
}

var stepped number = 1

func steps() { stepped++ }

func ofStepped() shown {
	return stepped // refuse: runtime.convT64
}

var pointed number = 1000

var pointer = refers(&pointed)

func ofPointed() shown {
	return pointed // refuse: runtime.convT64
}

var method number = 1000

func ofMethod() shown {
	method.addressed()
	return method // refuse: runtime.convT64
}

var ranged number = 1000

func ofRanged(all []string) shown {
	for ranged = range 3 {
	}
	return ranged // refuse: runtime.convT64
}

// The linker may set it.
var version = "1.0"

func ofVersion() any {
	return version // refuse: runtime.convTstring
}

// Constants are computed with exactly.
var exact number = 3

func ofExact() shown {
	if half := float64(exact) * 0.1; half > 0.3 {
		return nil
	}
	return exact // refuse: runtime.convT64
}

var floating real = 0.1

func ofFloating() shown {
	return floating // refuse: runtime.convT64
}

// Exported is what others may assign to.
var Exported word = "exported"

func ofExported() shown {
	return Exported // refuse: runtime.convTstring
}

var computed = word(plainText())

func ofComputed() shown {
	return computed // refuse: runtime.convTstring
}

var (
	beside word = "beside"
	others      = []string{"others"}
)

func ofBeside() shown {
	return beside // refuse: runtime.convTstring
}

var two, values = pair()

func ofPair() shown {
	return two // refuse: runtime.convTstring
}

var zero word

func ofZero() shown {
	return zero // refuse: runtime.convTstring
}

// Of another system, a test, or assembly.
var elsewhere word = "elsewhere"

func ofElsewhere() shown {
	return elsewhere // refuse: runtime.convTstring
}

var tested word = "tested"

func ofTested() shown {
	return tested // refuse: runtime.convTstring
}

//go:linkname linked
var linked word = "linked"

func ofLinked() shown {
	return linked // refuse: runtime.convTstring
}

var inAssembly number = 1000

func ofAssembly() shown {
	return inAssembly // refuse: runtime.convT64
}

func local() shown {
	word := word("local")
	word.set("other")
	return word // refuse: runtime.convTstring
}

var kept word = "kept"

// It becomes no interface value.
func ofKept() word {
	return kept // refuse: runtime.convTstring
}
