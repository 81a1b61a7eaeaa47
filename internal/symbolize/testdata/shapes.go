// A Go program with inlined calls, methods, closures and a generic function.
package main

import "fmt"

type shape interface{ area() int }

type square struct{ side int }

func (s square) area() int { return s.side * s.side }

func largest[T any](all []T, size func(T) int) int {
	most := 0
	for _, one := range all {
		most = max(most, size(one))
	}
	return most
}

func main() {
	shapes := make([]shape, 0)
	for i := range 10 {
		shapes = append(shapes, square{i})
	}
	fmt.Println(largest(shapes, func(s shape) int { return s.area() }))
}
