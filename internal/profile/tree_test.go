package profile_test

import (
	"fmt"
	"slices"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// TestTreeHasTheStacks holds the paths of the tree against the stacks, which
// are found in another way.
func TestTreeHasTheStacks(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		t.Run(golden.Name, func(t *testing.T) {
			p := load(t, golden.Name)
			tree := p.Tree(p.Sites)
			for i, n := range tree.Nodes {
				if n.Parent >= int32(i) || n.Parent < -1 {
					t.Fatalf("node %d has parent %d", i, n.Parent)
				}
			}
			if clone := slices.Clone(tree.Nodes); len(clone) > 0 {
				slices.SortFunc(clone, func(a, b profile.TreeNode) int {
					return int(a.Parent-b.Parent)<<16 + int(a.Frame-b.Frame)
				})
				if len(slices.Compact(clone)) < len(tree.Nodes) {
					t.Error("two children of a node have the same frame")
				}
			}
			got := make([]map[string]uint64, len(p.Sites))
			for i := range tree.Stacks {
				s := &tree.Stacks[i]
				add(got, int(s.Site), s.Function, framesOf(tree, s.Node), s.Counters.Calls)
				if s.CommonCalls > s.Counters.Calls || s.First > s.Last {
					t.Errorf("%d of %d calls have the common size; first %v, last %v", s.CommonCalls, s.Counters.Calls, s.First, s.Last)
				}
			}
			want := make([]map[string]uint64, len(p.Sites))
			stacks, _ := p.Stacks(p.Sites, 0)
			for site, all := range stacks {
				for i := range all {
					add(want, site, all[i].Function, all[i].Frames, all[i].Allocations)
				}
			}
			for i := range want {
				if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
					t.Errorf("site %d:\n%v\nwant\n%v", i, got[i], want[i])
				}
			}
		})
	}
}

func add(sites []map[string]uint64, site int, function recording.Function, frames []profile.Frame, calls uint64) {
	if sites[site] == nil {
		sites[site] = make(map[string]uint64)
	}
	sites[site][fmt.Sprint(function, frames)] += calls
}

func framesOf(tree *profile.Tree, node int32) []profile.Frame {
	var frames []profile.Frame
	for ; node >= 0; node = tree.Nodes[node].Parent {
		frames = append(frames, tree.Frames[tree.Nodes[node].Frame])
	}
	return frames
}
