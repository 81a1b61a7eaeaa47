package main

import (
	"fmt"
	"os"
	"strings"

	"mallow/bench/circumstances"
)

// heading says on what, when, of what and by what command the figures below it were measured. It is made before they
// are: the tree may move on while this runs.
func heading(rounds int) string {
	return circumstances.Heading(".", benchCommand()) + fmt.Sprintf("- method: %d interleaved rounds in random order, medians; "+
		"ratios are of medians, in brackets the 95 %% interval by the bootstrap; CPU is user and system time of the whole process tree, RSS that of its largest process, at the least some 7 MB, which is what a process of the runner begins with\n",
		rounds)
}

func benchCommand() string {
	if len(os.Args) < 2 {
		return "make bench"
	}
	return "make && bench/run " + strings.Join(os.Args[1:], " ")
}
