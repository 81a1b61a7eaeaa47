package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func collectsAt() (percent int) {
	percent = debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

func TestCollectLate(t *testing.T) {
	t.Setenv("GOGC", "")
	const before = 70
	defer debug.SetGCPercent(debug.SetGCPercent(before))
	collectLate()
	if percent := collectsAt(); percent != latePercent {
		t.Errorf("garbage is collected at %d %%", percent)
	}
	for end := time.Now().Add(10 * time.Second); collectsAt() != before; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(end) {
			t.Fatalf("after the first collection garbage is collected at %d %%", collectsAt())
		}
	}
}

func TestCollectAsToldTo(t *testing.T) {
	t.Setenv("GOGC", "90")
	before := collectsAt()
	collectLate()
	if percent := collectsAt(); percent != before {
		t.Errorf("with GOGC=90 garbage is collected at %d %%, not %d", percent, before)
	}
}
