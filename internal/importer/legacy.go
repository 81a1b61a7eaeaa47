package importer

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// legacyHeads begin the text profiles of gperftools and of old Go programs.
var legacyHeads = []string{"heap profile:", "heap_v2", "heapz", "--- heap", "--- growth", "growthz"}

func isLegacy(head []byte) bool {
	for _, legacy := range legacyHeads {
		if bytes.HasPrefix(head, []byte(legacy)) {
			return true
		}
	}
	return false
}

// legacySums are the blocks in use and those ever allocated, of all stacks in
// the first line and of one in each that follows.
var legacySums = regexp.MustCompile(`(?m)^(heap profile:)?[ \t]*(\d+):[ \t]*\d+[ \t]*\[[ \t]*(\d+):[ \t]*\d+[ \t]*\][ \t]*@`)

// missingStacks says in a sentence that a text has not all the stacks that its
// first line counts; "" where it has. A writer with a buffer that is too small
// leaves stacks out, and so does what ends too early.
func missingStacks(text []byte) string {
	if !bytes.HasPrefix(text, []byte("heap profile:")) {
		return ""
	}
	var head, stacks [2]uint64
	for _, line := range legacySums.FindAllSubmatch(text, -1) {
		sums := &stacks
		if len(line[1]) > 0 {
			sums = &head
		}
		for i := range sums {
			n, _ := strconv.ParseUint(string(line[2+i]), 10, 62)
			sums[i] += n
		}
	}
	for i, blocks := range []string{"blocks in use", "allocations"} {
		if stacks[i] < head[i] {
			return fmt.Sprintf("the profile is cut off, or was written without all stacks: its first line tells of %d %s, its stacks of %d", head[i], blocks, stacks[i])
		}
	}
	return ""
}
