package foreignfree_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/foreignfree"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

func TestQueue(t *testing.T) {
	send(t, 30000).Finds(foreignfree.Rule, "queue")
}

// With two threads the peak is known to 131 kB, twice the blocks that there
// are.
func TestUnseen(t *testing.T) {
	send(t, 1000).Finds(foreignfree.Rule, "unseen")
}

// Where other memory was at the peak, how many there are at a time is not known.
func TestOtherPeak(t *testing.T) {
	p := send(t, 30000)
	p.Soon(1, 4<<20, p.Stack(recording.Malloc, "load load.c:3"))
	p.Finds(foreignfree.Rule, "other-peak")
}

// send is a program that passes messages on, twenty at a time.
func send(t *testing.T, messages int) *ruletest.Program {
	p := ruletest.NewProgram(t)
	worker := p.Process.Thread()
	message := p.Stack(recording.Malloc, "send queue.c:7")
	var queue []recordingtest.Block
	for range messages {
		queue = append(queue, p.Alloc(message, 64))
		if len(queue) == 20 {
			for _, b := range queue {
				worker.FreeFrom(b, p.By("work work.c:30"))
			}
			queue = nil
		}
	}
	return p
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	worker := p.Process.Thread()
	own, result := p.Stack(recording.Malloc, "own own.c:1"), p.Stack(recording.Malloc, "result result.c:1")
	var results []recordingtest.Block
	for range 500 {
		p.Free(p.Alloc(own, 16))
		results = append(results, p.Alloc(result, 16))
	}
	for _, b := range results {
		worker.Free(b)
	}
	p.Silent(foreignfree.Rule)
}
