package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// collection returns the settings that decide when garbage is collected.
func collection() (percent int, limit int64) {
	percent = debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

func TestCollectLate(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	defer debug.SetGCPercent(debug.SetGCPercent(70))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	collectLate()
	if percent, limit := collection(); percent != -1 || limit != heapBeforeCollection {
		t.Errorf("garbage is collected at %d %% and %d bytes", percent, limit)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		percent, limit := collection()
		if percent == 70 && limit == math.MaxInt64 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after the first collection garbage is collected at %d %% and %d bytes", percent, limit)
		}
	}
}

func TestCollectAsToldTo(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv("GOGC", "")
		t.Setenv("GOMEMLIMIT", "")
		t.Setenv(name, "90")
		percent, limit := collection()
		collectLate()
		if p, l := collection(); p != percent || l != limit {
			t.Errorf("%s=90: garbage is collected at %d %% and %d bytes, not %d and %d", name, p, l, percent, limit)
		}
	}
}
