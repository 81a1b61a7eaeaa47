package lookalikes

import (
	"bytes"
	"strconv"
	"strings"
)

type num int

func (n *num) grow() { *n++ }

// A method changes the number through its address, which nobody writes out.
func throughMethod(n num) (size int) {
	for range 10 {
		size += len(strconv.Itoa(int(n))) // refuse: strconv.Itoa
		n.grow()
	}
	return size
}

// The literal's variable is changed by another literal of the function around.
func throughOtherLiteral(n int) (size int) {
	double := func() { n *= 2 }
	sizes := func() {
		for range 10 {
			size += len(strconv.Itoa(n)) // refuse: strconv.Itoa
			double()
		}
	}
	sizes()
	return size
}

// The function around changes it while the literal runs in a goroutine.
func whileItRuns(n int, done chan bool) {
	go func() {
		for range 10 {
			use(strconv.Itoa(n)) // refuse: strconv.Itoa
			<-done
		}
	}()
	n++
	done <- true
}

func perhapsNone(words []string) []int {
	var all []int
	for _, w := range words {
		if len(w) > 3 {
			all = append(all, len(w)) // refuse: runtime.growslice
		}
	}
	return all
}

func skipsSome(words []string) []int {
	var all []int
	for _, w := range words {
		if len(w) > 3 {
			continue
		}
		all = append(all, len(w)) // refuse: runtime.growslice
	}
	return all
}

func stopsSoon(words []string) []int {
	all := []int{}
	for _, w := range words {
		if len(w) > 3 {
			break
		}
		all = append(all, len(w)) // refuse: runtime.growslice
	}
	return all
}

func snapshots(words []string) (kept [][]int) {
	var all []int
	for _, w := range words {
		all = append(all, len(w)) // refuse: runtime.growslice
		kept = append(kept, all)
	}
	return kept
}

func measuresRoom(words []string) int {
	var all []int
	for _, w := range words {
		all = append(all, len(w)) // refuse: runtime.growslice
	}
	return cap(all)
}

func appendsTwice(words []string) ([]int, []int) {
	var all []int
	for _, w := range words {
		all = append(all, len(w)) // refuse: runtime.growslice
	}
	return append(all, 1), append(all, 2)
}

func readsBehind(words []string) []int {
	var all []int
	for _, w := range words {
		all = append(all, len(w)) // refuse: runtime.growslice
	}
	return all[:len(words)+1]
}

func seenByRecover(words []string) (all []int) {
	var sizes []int
	defer func() { recover(); all = sizes }()
	for _, w := range words {
		sizes = append(sizes, int(w[0])) // refuse: runtime.growslice
	}
	return sizes
}

func sourceGrows(words []string) []string {
	var all []string
	words = append(words, "x")
	for _, w := range words {
		all = append(all, w) // refuse: runtime.growslice
	}
	return all
}

func keepsElement(words []string) []*num {
	var all []num
	var kept []*num
	for range words {
		all = append(all, 1) // refuse: runtime.growslice
		kept = append(kept, &all[0])
		all[0].grow()
	}
	return kept
}

func methodOfElement(words []string) int {
	var all []num
	for range words {
		all = append(all, 1) // refuse: runtime.growslice
		keepNum(all[0].grow)
	}
	return len(all)
}

func keepNum(f func()) { f() }

func someKeys(words []string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range words {
		if len(w) > 100 {
			m[w] = true // refuse: runtime.mapassign_faststr
		}
	}
	return m
}

func leavesMap(words []string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		if w == "" {
			break
		}
		m[w] = true // refuse: runtime.mapassign_faststr
	}
	return m
}

func otherMap(m map[string]bool, words []string) {
	for _, w := range words {
		m[w] = true // refuse: runtime.mapassign_faststr
	}
}

func nilMap(words []string) {
	var m map[string]bool
	for _, w := range words {
		m[w] = true // refuse: runtime.mapassign_faststr
	}
}

func keysOfNumber(n int) map[int]bool {
	m := map[int]bool{}
	for i := 0; i < n; i++ {
		m[i] = true // refuse: runtime.mapassign_fast64
	}
	return m
}

func keysOfText(text string) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range text {
		m[r] = true // refuse: runtime.mapassign_fast32
	}
	return m
}

func negativeTurns(word string) string {
	var b strings.Builder
	for i := 0; i < -5; i++ {
		b.WriteString(word) // refuse: strings.(*Builder).WriteString
	}
	return b.String()
}

func nowAndThen(word string, c *counter) string {
	var b strings.Builder
	for i := 0; i < 100000; i++ {
		if c.n > i {
			b.WriteString(word) // refuse: strings.(*Builder).WriteString
		}
	}
	return b.String()
}

func roomOfBuffer(word string) int {
	var b strings.Builder
	for i := 0; i < 100; i++ {
		b.WriteString(word) // refuse: strings.(*Builder).WriteString
	}
	return b.Cap()
}

func bufferOfOther(b *bytes.Buffer, word string) {
	for i := 0; i < 100; i++ {
		b.WriteString(word) // refuse: bytes.(*Buffer).WriteString
	}
}
