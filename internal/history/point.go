// Package history keeps what benchmarks cost, run by run, so that a change can
// be seen beside all that went before it.
//
// A run is a Point: its metrics and a compact profile, keyed by benchmark,
// platform, build and commit. Points of one Key and metric are a series, in the
// order of the commit graph. What is known of a point is never changed later.
//
// Store is all that others need of a database. Open returns the one of a
// repository: one SQLite file that its worktrees share.
package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Key tells series of points apart. Points of different keys are never
// compared.
type Key struct {
	Benchmark string `json:"benchmark"`
	Platform  string `json:"platform"` // target triple, libc, allocator
	Build     string `json:"build"`    // compiler and build type, or whatever tells builds apart; may be ""
}

// Point is what one run of a benchmark cost.
type Point struct {
	Key
	Commit     string    // full hash; "" where nobody knows
	CommitTime time.Time // zero where nobody knows
	Time       time.Time // of the run; zero where nobody knows
	Dirty      bool      // the tree had changes that are not in Commit
	Metrics    map[string]Value
	// Profile is a compact profile, see Compact; nil where there is none. Of
	// points that a store returns only At has it; Profile(ProfileID) gives it.
	Profile   []byte
	ProfileID string // names the profile by its content, "" where there is none
}

// Value is a measured figure.
type Value struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`  // "bytes", "seconds", or "" for a count
	Class string  `json:"class"` // Exact, Bounded or Noisy; "" where nobody knows
}

// Classes of values: how far runs of the same program agree.
const (
	Exact   = "exact"
	Bounded = "bounded"
	Noisy   = "noisy"
)

// Store keeps points. Any number of processes may use the same one at a time.
type Store interface {
	// Add keeps a point. One that is there already is not added again.
	Add(Point) error
	// Series returns the points that have the metric, all of the key where it
	// is "", in order: by the commit graph where it is known, and then as they
	// were added. They come without their profiles.
	Series(k Key, metric string) ([]Point, error)
	// Keys returns the keys that have points, sorted.
	Keys() ([]Key, error)
	// All returns every point, in the order in which they were added, without
	// their profiles.
	All() ([]Point, error)
	// At returns the points of a commit, in the order in which they were added,
	// with their profiles.
	At(k Key, commit string) ([]Point, error)
	// Profile returns a profile by its ProfileID.
	Profile(id string) ([]byte, error)
	Close() error
}

const (
	longestName    = 4096 // bytes of each name that a point has
	mostMetrics    = 1000
	biggestProfile = 64 << 20
)

// Check tells what is wrong with a point that shall be kept.
func (p *Point) Check() error {
	if p.Benchmark == "" {
		return errors.New("a point needs the name of its benchmark")
	}
	if len(p.Metrics) == 0 {
		return fmt.Errorf("benchmark %q: a point needs a metric", p.Benchmark)
	}
	if len(p.Metrics) > mostMetrics {
		return fmt.Errorf("benchmark %q: %d metrics in one point, and %d is the most", p.Benchmark, len(p.Metrics), mostMetrics)
	}
	names := []string{p.Benchmark, p.Platform, p.Build, p.Commit, p.ProfileID}
	for name, v := range p.Metrics {
		if name == "" {
			return fmt.Errorf("benchmark %q: a metric needs a name", p.Benchmark)
		}
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return fmt.Errorf("benchmark %q: %s is not a number", p.Benchmark, name)
		}
		switch v.Class {
		case "", Exact, Bounded, Noisy:
		default:
			return fmt.Errorf("benchmark %q: %s is of class %q, which is none of exact, bounded and noisy", p.Benchmark, name, v.Class)
		}
		names = append(names, name, v.Unit)
	}
	for _, name := range names {
		if len(name) > longestName {
			return fmt.Errorf("benchmark %.40q...: a name of %d bytes, and %d is the most", p.Benchmark, len(name), longestName)
		}
	}
	if len(p.Profile) > biggestProfile {
		return fmt.Errorf("benchmark %q: a profile of %d bytes, and %d is the most", p.Benchmark, len(p.Profile), biggestProfile)
	}
	return nil
}

// identity is the same for equal points only. A point that comes back by an
// import is told by it.
func (p *Point) identity() string {
	b, err := json.Marshal(struct {
		Key
		Commit           string
		CommitTime, Time int64
		Dirty            bool
		Metrics          map[string]Value
		Profile          string
	}{p.Key, p.Commit, stamp(p.CommitTime), stamp(p.Time), p.Dirty, p.Metrics, p.ProfileID})
	if err != nil {
		panic(err) // check has seen the values
	}
	return ContentID(b)
}

// ContentID names bytes by their content.
func ContentID(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// stamp is a time in ns since 1970, 0 for none; moment is the inverse.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
