// Package nodes finds containers that make a block of their own for each
// element.
package nodes

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "node-container", Find: find}

// leastCalls nodes are the fewest for which another container is worth the
// work.
const leastCalls = 1000

var containers = []struct {
	symbol rule.Symbol
	name   string
	remedy string
}{
	{rule.TreeNode, "std::map or std::set",
		"a sorted std::vector if it is filled before it is searched, else a std::pmr container on a std::pmr::unsynchronized_pool_resource"},
	{rule.HashNode, "std::unordered_map or std::unordered_set",
		"a hash table without nodes, such as boost::unordered_flat_map or absl::flat_hash_map, else a std::pmr container on a std::pmr::unsynchronized_pool_resource"},
	{rule.ListNode, "std::list",
		"a std::vector or std::deque; where elements must stay where they are, a std::pmr::list on a std::pmr::unsynchronized_pool_resource"},
}

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, of := range containers {
		for _, s := range c.By(of.symbol) {
			n := &s.Counters
			if n.Calls < leastCalls {
				continue
			}
			found = append(found, rule.Finding{
				Named:    rule.Share(n.Temporary, n.Calls) < 0.5, // else the container itself is too much
				Means:    rule.Pool,
				Title:    fmt.Sprintf("%s nodes of %s, a block of %s for each element", figure.Count(n.Calls), of.name, figure.Size(s.MeanSize())),
				Remedy:   of.remedy,
				Evidence: evidence(n, c.Profile.Fate()),
				Places:   []profile.Frame{s.Frame},
				Claims:   []rule.Claim{s.Claim(n.Calls)},
			})
		}
	}
	return found
}

func evidence(n *recording.Counters, fate string) string {
	text := figure.Count(n.Calls) + " calls went through the allocator of its nodes; "
	if kept := uint64(n.LiveBlocks()); kept > 0 {
		return text + figure.Count(kept) + " were " + fate
	}
	return text + "all were freed"
}
