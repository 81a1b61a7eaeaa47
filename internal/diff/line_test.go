package diff

import (
	"testing"
	"time"
)

// A site may have tens of thousands of stacks that are one by their functions.
// Where all their lines moved, and of none is made as much as of another, the
// time is still about that of sorting them: it would be half a minute and more
// if each were held against all others.
func TestManyLines(t *testing.T) {
	const lines, grown = 100_000, 70_000
	var steps []step
	for i := range lines {
		made := uint64(i)
		if i == grown {
			made *= 3
		}
		steps = append(steps,
			step{&part{isNew: true, new: 2*made + 3}, int32(2*lines + i)},
			step{&part{old: 2*uint64(i) + 2}, int32(i)})
	}
	began := time.Now()
	most := (&Diff{}).telling(steps, func(s step) int32 { return s.at })
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d lines took %s", lines, took)
	}
	if !most.isNew || most.at != 2*lines+grown {
		t.Errorf("got %d, want the line that grew, %d", most.at, 2*lines+grown)
	}
}
