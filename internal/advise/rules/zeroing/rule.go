// Package zeroing finds calloc of large blocks again and again.
package zeroing

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "zeroing", Find: find}

const (
	// Below this a malloc costs more than zeroing.
	large = 4096
	// Fewer blocks may each be memory that comes zeroed from the system.
	leastCalls = 100
	// So fast is memory zeroed.
	bytesPerNanosecond = 20
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.Sites {
		if s.CallsOf(recording.GroupCalloc) < leastCalls || s.Counters.SizeMax < large || rule.Share(s.Frees(), s.Counters.Calls) < 0.5 {
			continue
		}
		zeroed := s.Of(recording.GroupCalloc)
		if zeroed.Bytes/zeroed.Calls < large {
			continue
		}
		found = append(found, rule.Finding{
			Means:       rule.Reuse,
			OnlyTime:    true,
			Title:       fmt.Sprintf("calloc zeroes %s in %s", figure.Size(zeroed.Bytes), figure.Counted(zeroed.Calls, "block", "blocks")),
			Remedy:      "malloc, if every byte is written before it is read; else keep a block and clear only what was used",
			Evidence:    fmt.Sprintf("%s a call on average, zeroed at some %d bytes a nanosecond; whether the program needs the zeros cannot be seen", rule.Bytes(zeroed.Bytes/zeroed.Calls), bytesPerNanosecond),
			Places:      rule.Places(s.Frame),
			Basis:       fmt.Sprintf("%d bytes zeroed in a nanosecond", bytesPerNanosecond),
			Nanoseconds: float64(zeroed.Bytes) / bytesPerNanosecond,
		})
	}
	return found
}
