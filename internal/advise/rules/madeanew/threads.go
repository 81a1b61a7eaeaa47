package madeanew

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
)

const (
	// A thread of a pool must serve so many times: a thread for each of what goes
	// on at the same time is no waste.
	leastTurnover = 10
	// To start a thread and to end it, at the least.
	nanosecondsOfThread = 10_000
)

// threads finds threads that are started anew for each piece of work.
func threads(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, s := range c.ByWithout(rule.ThreadStart, rule.Parts|rule.SharedState) {
		n := &s.Counters
		if n.Calls < leastTurnover*s.AtOnce() {
			continue
		}
		// What a thread is handed lives for as long as the thread.
		lives, saved, atMost := s.LivesAtOnce(leastTurnover)
		found = append(found, rule.Finding{
			Named:  true,
			Means:  rule.Pool,
			Title:  figure.Count(n.Calls) + " threads are started, each for a piece of work",
			Remedy: "start a few threads once, as many as there are processors where they compute, and hand them the work through a queue",
			Evidence: fmt.Sprintf("%s for what std::thread hands to a new thread, which needs a stack as well and takes the system %d µs or more; %s",
				rule.Blocks(n.Calls, s), nanosecondsOfThread/1000, lives),
			Places:      rule.Places(s.Frame),
			Claims:      []rule.Claim{s.Claim(saved)},
			AtMost:      atMost,
			Nanoseconds: nanosecondsOfThread * float64(saved),
		})
	}
	return found
}
