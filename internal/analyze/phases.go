package analyze

import (
	"time"

	"mallow/internal/profile"
)

// Phase is a stretch of a program's run, told by what it allocates and
// releases.
type Phase struct {
	Name                  string
	From, To              time.Duration // since the recording began
	Allocations, Releases uint64
	LiveBlocks, LiveBytes int64 // at its end
}

// The phases, in this order; a program may lack the first or the last.
const (
	StartUp  = "start-up"
	Steady   = "steady state"
	Shutdown = "shutdown"
)

const (
	// With fewer moments nothing is told apart.
	leastMoments = 8
	// A start-up builds up, and a shutdown takes down, at least this share of
	// what the program has at most.
	leastMoved = 0.05
	// A program that has no steady state makes less than this share of its
	// allocations between the two.
	leastSteady = 0.2
)

// Phases tells start-up, steady state and shutdown apart; nil where there is
// no steady state to tell them from.
//
// Start-up is the beginning in which the program keeps most of what it
// allocates: of all beginnings the one for which half the allocations exceed
// the releases most. Shutdown is the end for which the releases exceed three
// times the allocations most. Both are exact to the distance of two moments.
func Phases(moments []profile.Moment) []Phase {
	if len(moments) < leastMoments {
		return nil
	}
	moments = append([]profile.Moment{{}}, moments...)
	end := len(moments) - 1
	var most int64
	for i := range moments {
		most = max(most, moments[i].LiveBlocks)
	}
	least := max(1, int64(leastMoved*float64(most)))

	started, built := 0, least
	for i := range moments {
		if kept := int64(moments[i].Allocations/2) - int64(moments[i].Releases); kept > built {
			started, built = i, kept
		}
	}
	stopped, taken := end, least
	for i := range moments {
		released := int64(moments[end].Releases - moments[i].Releases)
		allocated := int64(moments[end].Allocations - moments[i].Allocations)
		if down := released - 3*allocated; down >= taken {
			stopped, taken = i, down
		}
	}
	if stopped <= started ||
		float64(moments[stopped].Allocations-moments[started].Allocations) < leastSteady*float64(moments[end].Allocations) {
		return nil
	}
	var phases []Phase
	for _, part := range []struct {
		name     string
		from, to int
	}{{StartUp, 0, started}, {Steady, started, stopped}, {Shutdown, stopped, end}} {
		if part.from == part.to {
			continue
		}
		from, to := &moments[part.from], &moments[part.to]
		phases = append(phases, Phase{
			Name: part.name, From: from.At, To: to.At,
			Allocations: to.Allocations - from.Allocations, Releases: to.Releases - from.Releases,
			LiveBlocks: to.LiveBlocks, LiveBytes: to.LiveBytes,
		})
	}
	return phases
}
