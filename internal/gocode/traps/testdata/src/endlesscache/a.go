package a

import "reflect"

var (
	endless  = map[string]int{}
	bounded  = map[string]int{}
	emptied  = map[string]int{}
	registry = map[string]int{}
	types    = map[reflect.Type]int{}
	passed   = map[string]int{}
	names    = map[string]int{}
	twice    = map[string]int{}
	seen     = map[string]struct{}{}
)

func size(text string) int {
	if n, ok := endless[text]; ok {
		return n
	}
	n := len(text) * 2
	endless[text] = n // want `the cache endless has no bound`
	return n
}

func sizeWithBound(text string) int {
	if n, ok := bounded[text]; ok {
		return n
	}
	if len(bounded) > 1000 {
		clear(bounded)
	}
	bounded[text] = len(text)
	return len(text)
}

func sizeUntilEmptied(text string) int {
	if n, ok := emptied[text]; ok {
		return n
	}
	emptied[text] = len(text)
	return len(text)
}

func empty() { emptied = map[string]int{} }

func register(name string, n int) { registry[name] = n }

func sizeOf(t reflect.Type) int {
	if n, ok := types[t]; ok {
		return n
	}
	types[t] = int(t.Size())
	return types[t]
}

func sizePassed(text string) int {
	if n, ok := passed[text]; ok {
		return n
	}
	passed[text] = 1
	trim(passed)
	return 1
}

func trim(m map[string]int) { delete(m, "x") }

// add asks only whether the name is taken.
func add(name string, n int) {
	if _, taken := names[name]; taken {
		panic(name)
	}
	names[name] = n
}

func sizeAtSecondLook(text string) int {
	if _, ok := twice[text]; !ok {
		twice[text] = len(text) // want `the cache twice has no bound`
	}
	return twice[text]
}

func first(text string) bool {
	_, ok := seen[text]
	seen[text] = struct{}{} // want `the cache seen has no bound`
	return !ok
}
