package analyze_test

import (
	"testing"
	"time"

	"mallow/internal/analyze"
	"mallow/internal/profile"
)

// course makes moments a millisecond apart.
type course struct {
	moments []profile.Moment
	now     profile.Moment
}

func (c *course) pass(steps int, allocations, releases uint64) {
	for range steps {
		c.now.At += time.Millisecond
		c.now.Allocations += allocations
		c.now.Releases += releases
		c.now.LiveBlocks = int64(c.now.Allocations - c.now.Releases)
		c.moments = append(c.moments, c.now)
	}
}

func TestPhases(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(c *course)
		want []time.Duration // ends of start-up, steady state and shutdown, in ms
	}{
		{"server", func(c *course) { c.pass(10, 1000, 100); c.pass(80, 500, 500); c.pass(5, 10, 1800) }, []time.Duration{10, 90, 95}},
		{"server that is killed", func(c *course) { c.pass(10, 1000, 100); c.pass(80, 500, 500) }, []time.Duration{10, 90}},
		{"leaky server", func(c *course) { c.pass(10, 1000, 100); c.pass(80, 500, 490); c.pass(5, 0, 1800) }, []time.Duration{10, 90, 95}},
		{"waves", func(c *course) {
			c.pass(10, 1000, 0)
			for range 20 {
				c.pass(2, 500, 100)
				c.pass(2, 100, 500)
			}
			c.pass(5, 0, 2000)
		}, []time.Duration{12, 88, 95}},
		{"no start-up", func(c *course) { c.pass(50, 100, 100) }, []time.Duration{50}},
		{"compiler, that only grows", func(c *course) { c.pass(100, 1000, 300) }, nil},
		{"builds and takes down", func(c *course) { c.pass(50, 1000, 0); c.pass(50, 0, 1000) }, nil},
		{"too short", func(c *course) { c.pass(3, 1000, 0); c.pass(3, 1000, 1000) }, nil},
		{"nothing", func(*course) {}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c course
			test.run(&c)
			phases := analyze.Phases(c.moments)
			if len(phases) != len(test.want) {
				t.Fatalf("%d phases: %+v", len(phases), phases)
			}
			var from time.Duration
			for i, want := range test.want {
				if got := phases[i]; got.From != from || got.To != want*time.Millisecond {
					t.Errorf("%s from %v to %v, want %v to %v", got.Name, got.From, got.To, from, want*time.Millisecond)
				}
				from = phases[i].To
			}
		})
	}
}
