package launch

import (
	"slices"
	"testing"

	"mallow/internal/recording"
)

func TestUnwaited(t *testing.T) {
	f := family{first: 30, seen: []watched{
		{pid: 30}, {pid: 2, parent: 30}, {pid: 3, parent: 2, unwaited: true}, {pid: 4, parent: 3}, {pid: 5, parent: 30}, {pid: 6, parent: 5},
		{pid: 8, parent: 9}, {pid: 9, parent: 8}, // ids that were given out again
	}}
	recorded := []recording.Identity{{PID: 20, ParentPID: 1}, {PID: 21, ParentPID: 20}, {PID: 22, ParentPID: 2}}
	for _, pid := range []uint64{30, 2, 3, 4, 4, 5, 6, 7, 8} {
		recorded = append(recorded, recording.Identity{PID: pid})
	}
	if got, want := f.unwaited(recorded, map[uint64]bool{5: true}), []uint64{3, 4, 5, 6, 20, 21}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// In a pid namespace the program itself may be number 1.
	inside := []recording.Identity{{PID: 1}, {PID: 2, ParentPID: 1}}
	if got := (family{first: 30}).unwaited(inside, map[uint64]bool{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
