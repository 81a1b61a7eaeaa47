package symbolize

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"
)

func processorTime() time.Duration { return usedBy(syscall.RUSAGE_SELF) }
func childrenTime() time.Duration  { return usedBy(syscall.RUSAGE_CHILDREN) }

func usedBy(who int) time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(who, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// peakMB reads the most memory that this process had at once.
func peakMB() int64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r.Maxrss >> 10
}

// TestBigProgram measures the reader on the program that MALLOW_BIG_PROGRAM
// names, and compares it with the other tools there: bench/symbols.sh runs it.
func TestBigProgram(t *testing.T) {
	binary := os.Getenv("MALLOW_BIG_PROGRAM")
	if binary == "" {
		t.Skip("MALLOW_BIG_PROGRAM names no program; bench/symbols.sh does")
	}
	var reference [][]Frame
	addrs := codeAddresses(t, binary, most)
	m := Module{Path: binary}
	cache := filepath.Join(t.TempDir(), "names")
	for _, what := range []string{"first", "from the cache"} {
		before, start := processorTime(), time.Now()
		s := New(Options{Cache: cache})
		frames := s.Frames(m, addrs)
		answered := processorTime()
		took := time.Since(start)
		s.Close()
		n := 0
		for _, f := range frames {
			n += len(f)
		}
		fmt.Printf("%s: %d addresses, %d frames: %d ms CPU, %d ms, peak %d MB; to keep them %d ms CPU\n", what,
			len(addrs), n, (answered - before).Milliseconds(), took.Milliseconds(), peakMB(), (processorTime() - answered).Milliseconds())
		if reference != nil && !reflect.DeepEqual(frames, reference) {
			t.Error("the cache gives other frames")
		}
		reference = frames
	}
	if os.Getenv("MALLOW_BIG_ORACLES") == "" {
		return
	}
	for _, o := range []oracle{llvm, libdw} {
		o.wrong = 1
		if o.most > 0 {
			o.most = 1000
		}
		before := childrenTime()
		a := checkAgreement(t, o, binary, addrs, reference)
		fmt.Printf("%s: of %d addresses differ %d in depth, %d in lines, %d in names; %d ms\n",
			o.name, a.addresses, a.depth, a.lines, a.names, (childrenTime() - before).Milliseconds())
		for _, example := range a.examples {
			fmt.Println("    " + example)
		}
	}
}
