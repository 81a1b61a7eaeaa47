// Package freenull finds those who free NULL again and again.
package freenull

import (
	"fmt"
	"path/filepath"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "free-null", Find: find}

const (
	// One caller with fewer calls than this share of all allocations, or fewer
	// than take a tenth of a millisecond, is not worth a test: programs call
	// free without looking, and are right to.
	leastShare = 0.5
	leastCalls = 100_000
	// A call and a branch.
	nanoseconds = 1
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, caller := range c.Profile.FreeNullCallers() {
		n := caller.Counters.Calls
		if n < leastCalls || rule.Share(n, c.Allocations) < leastShare || caller.Frame == (profile.Frame{}) || inLibc(&caller.Frame) {
			continue
		}
		found = append(found, rule.Finding{
			Means:       rule.Avoid,
			Title:       fmt.Sprintf("free(NULL) %s times", figure.Count(n)),
			Remedy:      "release only what was allocated: skip the call, or the loop around it, where there is nothing",
			Evidence:    fmt.Sprintf("%s calls of free with NULL come from here, against %s in all", figure.Count(n), figure.Counted(c.Allocations, "allocation", "allocations")),
			Places:      []profile.Frame{caller.Frame},
			Nanoseconds: nanoseconds * float64(n),
			Basis:       "a nanosecond for each call",
			Notable:     true,
		})
	}
	return found
}

// inLibc tells whether libc does it on its own account.
func inLibc(f *profile.Frame) bool {
	name := filepath.Base(f.Module)
	return strings.HasPrefix(name, "libc.so.") || strings.HasPrefix(name, "ld-linux")
}
