// Tidy checks what a compiler does not: formatting, the order of the layers,
// words and files that have no place in the repository, links between pages,
// and scripts. Each complaint says where, what and why. It is what `make tidy`
// calls.
package main

import (
	"fmt"
	"os"
	"slices"
)

// complaint is one thing that is wrong.
type complaint struct {
	path string
	line int // 0 for the file as a whole
	what string
}

func (c complaint) String() string {
	if c.line == 0 {
		return fmt.Sprintf("%s: %s", c.path, c.what)
	}
	return fmt.Sprintf("%s:%d: %s", c.path, c.line, c.what)
}

var checks = []func(*tree) []complaint{
	checkGoFormat,
	checkGoVet,
	checkCxxFormat,
	checkCxxLayers,
	checkConditionals,
	checkGoLayers,
	checkWords,
	checkFiles,
	checkLinks,
	checkVersions,
	checkScripts,
}

func main() {
	t, err := readTree(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidy:", err)
		os.Exit(1)
	}
	var complaints []complaint
	for _, check := range checks {
		complaints = append(complaints, check(t)...)
	}
	slices.SortStableFunc(complaints, func(a, b complaint) int {
		if a.path != b.path {
			if a.path < b.path {
				return -1
			}
			return 1
		}
		return a.line - b.line
	})
	for _, c := range complaints {
		fmt.Println(c)
	}
	for _, what := range t.unchecked {
		fmt.Println("not checked: " + what)
	}
	if len(complaints) > 0 {
		fmt.Printf("tidy: %d complaints\n", len(complaints))
		os.Exit(1)
	}
}
