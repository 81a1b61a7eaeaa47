package html

import (
	"cmp"
	"slices"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// metrics are what a page shows sizes by.
var metrics = []func(c *recording.Counters) float64{
	func(c *recording.Counters) float64 { return float64(c.Calls) },
	func(c *recording.Counters) float64 { return float64(c.Bytes) },
	func(c *recording.Counters) float64 { return float64(c.Temporary) },
	func(c *recording.Counters) float64 { return float64(max(0, c.PeakBytes)) },
	func(c *recording.Counters) float64 { return float64(c.LiveBytes()) },
	func(c *recording.Counters) float64 { return float64(c.UsableBytes - min(c.Bytes, c.UsableBytes)) },
}

// thin keeps so many nodes: those with the greatest share of any metric, with
// all that is inside of them. Stacks of others go to the nearest node outwards
// that stays, where those of one site and function become one: no figure of a
// site or of a node that stays changes.
func (f *forest) thin(keep int) {
	stays := f.heaviest(keep)
	kept := make([]int32, len(f.nodes)) // new number of each node, or of the nearest that stays
	nodes := f.nodes[:0]
	for i, n := range f.nodes {
		parent := int32(-1)
		if n.Parent >= 0 {
			parent = kept[n.Parent]
		}
		if !stays[i] {
			kept[i] = parent
			continue
		}
		kept[i] = int32(len(nodes))
		nodes = append(nodes, profile.TreeNode{Parent: parent, Frame: n.Frame})
	}
	f.thinned.Nodes += len(f.nodes) - len(nodes)
	f.nodes = nodes

	type key struct {
		node, site int32
		side       int
		function   recording.Function
		origin     profile.Origin
	}
	at := make(map[key]int)
	stacks := f.stacks[:0]
	for _, s := range f.stacks {
		own := s.Node
		if own >= 0 {
			s.Node = kept[own]
		}
		k := key{s.Node, s.Site, s.side, s.Function, s.Origin}
		first, seen := at[k]
		if seen {
			stacks[first].Merge(&s.TreeStack)
			f.thinned.Stacks++
			continue
		}
		counters := *s.Counters
		s.Counters = &counters
		at[k] = len(stacks)
		stacks = append(stacks, s)
	}
	f.stacks = stacks
}

// heaviest tells which nodes to keep. With a node all those outside of it
// stay: they have at least its weight, and lesser numbers.
func (f *forest) heaviest(keep int) []bool {
	weight := f.weights()
	order := make([]int32, len(f.nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
	stays := make([]bool, len(f.nodes))
	for _, n := range order[:min(keep, len(order))] {
		stays[n] = true
	}
	return stays
}

// weights returns of each node its greatest share of a metric, with all that
// is inside of it.
func (f *forest) weights() []float64 {
	greatest := make([]float64, len(f.nodes))
	sum := make([]float64, len(f.nodes))
	for _, metric := range metrics {
		clear(sum)
		var total float64
		for i := range f.stacks {
			v := metric(f.stacks[i].Counters)
			total += v
			if n := f.stacks[i].Node; n >= 0 {
				sum[n] += v
			}
		}
		if total == 0 {
			continue
		}
		for i := len(f.nodes) - 1; i >= 0; i-- {
			greatest[i] = max(greatest[i], sum[i]/total)
			if parent := f.nodes[i].Parent; parent >= 0 {
				sum[parent] += sum[i]
			}
		}
	}
	return greatest
}
