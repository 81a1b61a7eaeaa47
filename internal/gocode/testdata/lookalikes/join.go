package lookalikes

import "strings"

func readInLoop(words []string) (s string) {
	all := ""
	for _, w := range words {
		all += w // refuse: runtime.concatstring2
		if len(all) > 10 {
			break
		}
	}
	return all
}

func prepended(words []string) string {
	all := ""
	for _, w := range words {
		all = w + all // refuse: runtime.concatstring2
	}
	return all
}

func doubled(words []string) string {
	all := "x"
	for range words {
		all += all // refuse: runtime.concatstring2
	}
	return all
}

func namedResult(words []string) (all string) {
	for _, w := range words {
		all += w // refuse: runtime.concatstring2
	}
	return all
}

func seenByDeferred(words []string) (n int) {
	all := ""
	defer func() { n = len(all) }()
	for _, w := range words {
		all += strings.Clone(w) // refuse: runtime.concatstring2
	}
	return 0
}

func resetInLoop(words []string) string {
	all := ""
	for _, w := range words {
		if w == "" {
			all = ""
		}
		all += w // refuse: runtime.concatstring2
	}
	return all
}

func returnedInLoop(words []string) string {
	all := ""
	for _, w := range words {
		if w == "" {
			return all
		}
		all += w // refuse: runtime.concatstring2
	}
	return all
}

func pointedTo(words []string) string {
	all := ""
	p := &all
	for _, w := range words {
		all += w // refuse: runtime.concatstring2
	}
	return *p
}

func ofEachTurn(words []string) (n int) {
	for _, w := range words {
		all := w
		all += "x" // refuse: runtime.concatstring2
		n += len(all)
	}
	return n
}

type phrase string

func ofOtherType(words []phrase) phrase {
	all := phrase("")
	for _, w := range words {
		all += w // refuse: runtime.concatstring2
	}
	return all
}

func declaredElsewhere(words []string) string {
	all := ""
	if len(words) > 3 {
		for _, w := range words {
			all += w // refuse: runtime.concatstring2
		}
	}
	return all
}

func inLiteral(words []string) string {
	all := ""
	for _, w := range words {
		func() { all += w }() // refuse: runtime.concatstring2
	}
	return all
}
