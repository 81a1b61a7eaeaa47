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
