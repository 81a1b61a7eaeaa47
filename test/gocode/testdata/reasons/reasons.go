// Package reasons allocates for one reason in each function. The comment names
// the rule that finds it, and words of what it says to do.
package reasons

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

type point struct{ x, y int }

type list struct {
	all  []int
	next *list
}

var (
	kept   any
	points []*point
	count  int
)

func Hoist(n, turns int) (size int) {
	for range turns {
		size += len(strconv.Itoa(n)) // rule: hoist-call
	}
	return size
}

func HoistNot(n, turns int) (size int) {
	for i := range turns {
		size += len(strconv.Itoa(n + i*1000)) // rule: format
	}
	return size
}

func HoistNotAssigned(n, turns int) (size int) {
	for range turns {
		size += len(strconv.Itoa(n)) // rule: format
		n += 1000
	}
	return size
}

func HoistNotShared(n *int, turns int) (size int) {
	for range turns {
		size += len(strconv.Itoa(*n)) // rule: format
		Touch(n)
	}
	return size
}

//go:noinline
func Touch(n *int) { *n += 1000 }

func Constant(i int) byte {
	return strings.Repeat("abc", 20)[i] // rule: constant
}

//go:noinline
func ConstantError() error {
	return errors.New("it failed") // rule: constant-error
}

func Compile(text string) bool {
	return regexp.MustCompile("^a+b").MatchString(text) // rule: compile-once
}

func Append(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i) // rule: append-capacity; do: all := make([]int, 0, n)
	}
	return all
}

// AppendToArgument would lose what is in it already if it made it anew.
func AppendToArgument(all []int, n int) []int {
	for i := range n {
		all = append(all, i) // rule: append-capacity; do: all = slices.Grow(all, n)
	}
	return all
}

// AppendInLoops has what all rounds of the outer loop append.
func AppendInLoops(n int) []int {
	var all []int
	for i := range n {
		for j := range i {
			all = append(all, j) // rule: append-capacity; do: where it is known what will be in it
		}
	}
	return all
}

// AppendInRound has a slice of each round of the outer loop.
func AppendInRound(n int) (total int) {
	for i := range n {
		var all []int
		for j := range i {
			all = append(all, j) // rule: append-capacity; do: all := make([]int, 0, i)
		}
		total += len(all)
		kept = all // rule: boxing
	}
	return total
}

// AppendAnew begins another slice in some turns: room that is made before the
// loop goes with the first.
func AppendAnew(all [][]int, n int) [][]int {
	var part []int
	for i := range n {
		part = append(part, i) // rule: append-capacity; do: make part with room for what will be in it
		if i%10 == 9 {
			all, part = append(all, part), nil
		}
	}
	return all
}

// AppendElsewhere has another slice in each turn.
func AppendElsewhere(all [][]int, n int) {
	for i := range n {
		all[i%3] = append(all[i%3], i) // rule: append-capacity; do: make all[i % 3] with room for what will be in it
	}
}

// AppendToNext has the slice of another list in each turn.
func AppendToNext(l *list, n int) {
	for i := range n {
		l.all = append(l.all, i) // rule: append-capacity; do: make l.all with room for what will be in it
		l = l.next
	}
}

// AppendToRest goes on with the room that is left.
func AppendToRest(all []int, n int) {
	for i := range n {
		all = append(all, i) // rule: append-capacity; do: all = slices.Grow(all, n)
		all = all[1:]
	}
}

// AppendOnce allocates once, as room would.
func AppendOnce(all, more []int) []int {
	for i := range more {
		all = append(all, i) // rule: append-capacity; do: room before the loop would be one allocation, too
	}
	return all
}

func Map(n int) map[int]int {
	m := make(map[int]int)
	for i := range n {
		m[i] = i // rule: map-capacity; do: make(map[int]int, n)
	}
	return m
}

// MapInLoops has a key for each round of the inner loop of all rounds of the
// outer one.
func MapInLoops(rows [][]int) map[int]int {
	m := make(map[int]int)
	for _, row := range rows {
		for _, i := range row {
			m[i] = i // rule: map-capacity; do: make it with room for what will be in it
		}
	}
	return m
}

var counted map[string]int

// FewKeys are no more than the first key makes room for.
//
//go:noinline
func FewKeys(m map[string]int, words []string) {
	for _, w := range words {
		m[w]++ // rule: map-capacity; do: a few keys are found as fast
	}
	counted = m
}

func Buffer(n int) int {
	var b bytes.Buffer
	for range n {
		b.WriteString("words and words and words") // rule: buffer-capacity
	}
	return b.Len()
}

func Split(text string) int {
	return len(strings.Split(text, ",")) // rule: cut
}

func Sort(all []int) {
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] }) // rule: library, boxing
}

func Bytes(text string) []byte {
	return []byte(text) // rule: conversion
}

func Join(a, b string) string {
	return a + "-" + b // rule: join-strings
}

// Collected is joined in a loop; each of Joins is a string of its own.
func Collected(words []string) string {
	all := ""
	for _, w := range words {
		all += w + "," // rule: join-strings; do: collect them in a strings.Builder
	}
	return all
}

var joined string

func Joins(words []string) {
	for _, w := range words {
		joined = w + "/" + w // rule: join-strings; do: append the parts
	}
}

func JoinsOfTwo(words []string) {
	for _, w := range words {
		name := w + "/" // rule: join-strings; do: append the parts
		name += w       // rule: join-strings; do: append the parts
		joined = name
	}
}

func Box(n int) {
	kept = n // rule: boxing
}

type journal struct{ last any }

//go:noinline
func (j *journal) Debugf(format string, values ...any) {
	if j.last != nil {
		j.last = values[0]
	}
}

func Log(j *journal, n int) {
	j.Debugf("%d words",
		n) // rule: boxing; do: ask first whether
}

func LogFields(log *slog.Logger) {
	log.With("words", "a few").Debug("text") // rule: boxing; do: ask first whether
}

//go:noinline
func Scan(text string) (n int) { // rule: library
	fmt.Sscanf(text, "%d", &n) // rule: library; do: strconv.Atoi
	return n
}

func Variadic(a, b int) {
	Keep(&a, &b) // rule: variadic
}

//go:noinline
func Keep(all ...any) { kept = all } // rule: boxing

func Closure(n int) func() int {
	return func() int { return n } // rule: closure
}

type door struct{ opened int }

func (d *door) open() int { d.opened++; return d.opened }

//go:noinline
func MethodValue(d *door) func() int {
	return d.open // rule: closure; do: (*door).open
}

//go:noinline
func MethodValueOfField(h *house) func() int {
	return h.door.open // rule: closure; do: (*door).open
}

type house struct{ door door }

func Pointers(n int) {
	for i := range n {
		points = append(points[:0], &point{i, i}) // rule: slab
	}
}

type leaf struct{ words [20]int }

func Leaves(n int) {
	for i := range n {
		kept = Leaf(i)
	}
}

//go:noinline
func Leaf(x int) *leaf {
	return &leaf{[20]int{x}} // rule: slab
}

//go:noinline
func Returned(x int) *point {
	return &point{x, x} // rule: value
}

func Sized(n int) int {
	b := make([]byte, n) // rule: size
	for i := range b {
		b[i] = byte(i)
	}
	return len(b) + int(b[n-1])
}

func Formatted(n int) int {
	return len(fmt.Sprintf("%d items", n)) // rule: format, boxing
}

//go:noinline
func Lazy(n int, named bool) int {
	name := "number " + strconv.Itoa(n) // rule: lazy
	if named {
		return len(name + name)
	}
	return n
}

func Stream(text string) byte {
	var all bytes.Buffer
	for range 3 {
		all.WriteString(text) // rule: stream
	}
	sum := md5.Sum(all.Bytes())
	return sum[0]
}

func Fold(text string) bool {
	return strings.ToUpper(text) == "A,B" // rule: equal-fold
}

type owner struct{ total int }

//go:noinline
func (o *owner) Scratch(r io.Reader) {
	var room [8]byte // rule: scratch
	n, _ := r.Read(room[:])
	o.total += n
}

//go:noinline
func Large(r io.Reader) int {
	room := make([]byte, 10000) // rule: pool
	n, _ := r.Read(room)
	return n
}

func Reuse(words []string) (n int) {
	for _, w := range words {
		room := make([]byte, len(w)+100) // rule: reuse
		n += copy(room, w)
	}
	return n
}

//go:noinline
func Cached(name string) error {
	_, err := url.Parse(name) // rule: cache
	return err
}

type big struct{ all [100]int }

//go:noinline
func Pointed() *big {
	return &big{} // rule: pointer
}

// Keys begins in a buffer that the compiler has on the stack.
func Keys(m map[int]int) []int {
	keys := []int{}
	for k := range m {
		keys = append(keys, k) // rule: append-capacity; do: keys := make([]int, 0, len(m))
	}
	return keys
}

// Between does not begin at nothing.
func Between(low, high int) []int {
	var all []int
	for i := low; i <= high; i++ {
		all = append(all, i) // rule: append-capacity; do: all := make([]int, 0, max(0, high - low + 1))
	}
	return all
}

// Countdown has turns that no name says.
func Countdown(all []int, n int) []int {
	for range numbers(n) {
		all = append(all, n) // rule: append-capacity; do: where it is known what will be in it
	}
	return all
}

//go:noinline
func numbers(n int) int { return n }

func Copied(b []byte) []byte {
	return append([]byte(nil), b...) // rule: reuse; do: append(kept[:0], b...)
}

func Text(b *bytes.Buffer) string {
	return b.String() // rule: conversion; do: strings.Builder with Grow
}

var buffers = sync.Pool{New: func() any {
	return new(point) // rule: pool; do: give each back by Put
}}

// Pooled keeps what it takes.
func Pooled() {
	kept = buffers.Get()
}

func Start(all []int) {
	var done sync.WaitGroup // rule: pointer; do: keep one
	for _, n := range all {
		done.Add(1)
		go func() { // rule: closure; do: let a few goroutines take the work
			numbers(n)
			done.Done()
		}()
	}
	done.Wait()
}

func StartNamed(done *sync.WaitGroup, all []int) {
	for _, n := range all {
		done.Add(1)
		go finish(done, n) // rule: closure; do: let a few goroutines take the work
	}
	done.Wait()
}

//go:noinline
func finish(done *sync.WaitGroup, n int) { done.Done() }

func Defer(all []int) {
	for _, n := range all {
		defer func() { numbers(n) }() // rule: closure; do: the body of the loop into a function of its own
	}
}

func Counter() func() int {
	n := 0                              // rule: closure; do: one object instead of two
	return func() int { n++; return n } // rule: closure; do: pass what it refers to
}
