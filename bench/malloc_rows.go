package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// mallocRows returns the rows of the allocator table. Inputs are written into `folder`, where the programs are built;
// `scale` divides the work, for trying the runner out.
func mallocRows(folder string, scale int) ([]mallocRow, error) {
	count := func(all int) string { return strconv.Itoa(all / scale) }
	var rows []mallocRow
	for _, threads := range []int{1, 2, 4} {
		group := "multi"
		if threads == 1 {
			group = "single"
		}
		for _, most := range []int{64, 512, 4096, 32768, 131072} {
			rows = append(rows, mallocRow{name: fmt.Sprintf("pairs up to %d B, %d thread(s)", most, threads), group: group,
				command: []string{filepath.Join(folder, "pairs"), count(20000000), strconv.Itoa(most), strconv.Itoa(threads)}, program: "pairs.cc"})
		}
	}
	return append(rows,
		mallocRow{name: "ramp of 500,000 blocks, 5 times", group: "single", command: []string{filepath.Join(folder, "ramp"), count(500000), "5"}, program: "ramp.cc"},
		mallocRow{name: "handed over, 5 M blocks", group: "multi", command: []string{filepath.Join(folder, "handover"), count(5000000)}, program: "handover.cc"},
	), nil
}
