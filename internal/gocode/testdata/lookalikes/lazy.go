package lookalikes

import (
	"fmt"
	"strconv"
)

func usedInBoth(n int, named bool) string {
	name := "number " + strconv.Itoa(n) // refuse: runtime.concatstring2
	if named {
		return name
	} else {
		return name + "!"
	}
}

func usedAfter(n int, named bool) string {
	name := "number " + strconv.Itoa(n) // refuse: runtime.concatstring2
	if named {
		global += len(name)
	}
	return name
}

func usedInCondition(n int) string {
	name := "number " + strconv.Itoa(n) // refuse: runtime.concatstring2
	if len(name) > 9 {
		return name
	}
	return ""
}

func changedBefore(n int, named bool) string {
	name := "number " + strconv.Itoa(n) // refuse: runtime.concatstring2
	n++
	if named && n > 3 {
		return name
	}
	return ""
}

func changedInHead(n int) string {
	name := "number " + strconv.Itoa(n) // refuse: runtime.concatstring2
	if n += 3; n > 5 {
		return name
	}
	return ""
}

func shadowed(n int, all []int) string {
	name := "number " + strconv.Itoa(n) // refuse: runtime.concatstring2
	if n := len(all); n > 5 {
		return name
	}
	return ""
}

func ofGlobal(named bool) string {
	name := "number " + strconv.Itoa(global) // refuse: runtime.concatstring2
	if named && more() {
		return name
	}
	return ""
}

func counts(named bool) string {
	name := "number " + strconv.Itoa(next()) // refuse: runtime.concatstring2
	if named {
		return name
	}
	return ""
}

func mayPanicBefore(all []string, named bool) string {
	name := "word " + all[3] // refuse: runtime.concatstring2
	if named {
		return name
	}
	return ""
}

func divides(n, by int, named bool) string {
	name := "word " + strconv.Itoa(n/by) // refuse: runtime.concatstring2
	if named {
		return name
	}
	return ""
}

func callsMethod(l loud, named bool) string {
	name := fmt.Sprintf("%s", l) // refuse: fmt.Sprintf
	if named {
		return name
	}
	return ""
}

func changedByLiteral(n int, named bool) string {
	change := func() { n++ }
	name := "word " + strconv.Itoa(n) // refuse: runtime.concatstring2
	change()
	if named {
		return name
	}
	return ""
}

func inLoopBelow(n int, all []int) (size int) {
	name := "word " + strconv.Itoa(n) // refuse: runtime.concatstring2
	for range all {
		if n > 5 {
			size += len(name)
		}
	}
	return size
}
