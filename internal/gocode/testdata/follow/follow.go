// Package follow passes addresses on.
package follow

import (
	"fmt"

	"example.org/dep"
)

func Checked(n int) int {
	x := n // checked
	if dep.Check(&x) != nil {
		return 0
	}
	return x
}

func Kept(n int) {
	y := n // kept
	dep.Keep("y", &y)
}

func Printed(n int) {
	fmt.Println(n + 1) // printed
}

func Passed(n int) {
	z := n // passed
	dep.Pass(&z)
}

type action interface{ apply(l *lexer, groups []int) }

type push struct{}

func (push) apply(l *lexer, groups []int) { l.kept = append(l.kept, groups) }

type read interface{ into(room []int) }

type ones struct{}

func (ones) into(room []int) { room[0] = 1 }

type lexer struct {
	kept [][]int
	made map[int][]int
}

//go:noinline
func (l *lexer) Act(a action) {
	a.apply(l, make([]int, 4)) // acted
}

type rule struct{ action }

type compiled struct{ rule }

//go:noinline
func (l *lexer) ActByRule(c *compiled) {
	groups := make([]int, 0, len(l.kept)) // embedded
	c.apply(l, groups)
}

//go:noinline
func (l *lexer) Read(r read) {
	r.into(make([]int, 4)) // read
}

//go:noinline
func (l *lexer) ReadSome(r read, n int) {
	r.into(make([]int, n)) // some
}

//go:noinline
func (l *lexer) Store(n int) {
	l.made[n] = make([]int, 4) // stored
}
