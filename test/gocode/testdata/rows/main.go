// Program rows prints how long its arguments are, a thousand times over.
package main

import (
	"fmt"
	"os"

	"example.org/rows/table"
)

func main() {
	sum := 0
	for range 1000 {
		t := table.New(os.Args[1:]...)
		for _, size := range t.Sizes() {
			sum += size
		}
		sum += table.Digits(12345)
	}
	fmt.Println(sum)
}
