// Words prints the words of some numbers.
package main

import (
	"fmt"

	"example.org/digest"
)

func main() {
	for n := range 3 {
		fmt.Println(digest.Word(12345 + n))
	}
}
