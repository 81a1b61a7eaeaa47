package launch

import (
	"slices"
	"testing"

	"mallow/internal/recording"
)

func TestUnwaited(t *testing.T) {
	f := family{first: 1, seen: []watched{
		{pid: 1}, {pid: 2, parent: 1}, {pid: 3, parent: 2, unwaited: true}, {pid: 4, parent: 3}, {pid: 5, parent: 1}, {pid: 6, parent: 5},
		{pid: 8, parent: 9}, {pid: 9, parent: 8}, // ids that were given out again
	}}
	var recorded []recording.Identity
	for _, pid := range []uint64{1, 2, 3, 4, 4, 5, 6, 7, 8} {
		recorded = append(recorded, recording.Identity{PID: pid})
	}
	if got, want := f.unwaited(recorded, map[uint64]bool{5: true}), []uint64{3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
