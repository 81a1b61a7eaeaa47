package price

import (
	"math"

	"mallow/internal/recording"
)

// calls are all allocations of some recordings, whatever part of them a
// report shows. Times are ns.
type calls struct {
	number, stacks float64
	captured       float64 // calls whose stack was captured
	plain          float64 // cost with the malloc that the program would use
	serving        float64 // with libmallow, not recording
	disorder       float64 // sum of n log n over the stacks
}

func countCalls(recordings []*recording.Recording, costs *Costs) calls {
	var all calls
	for _, rec := range recordings {
		for _, im := range rec.Images {
			im.EachStack(func(id uint32, c *recording.Counters) { all.add(im, id, c, costs) })
		}
	}
	return all
}

func (a *calls) add(im *recording.Image, id uint32, c *recording.Counters, costs *Costs) {
	tail, _ := im.Node(im.StackNode(id))
	function := recording.Malloc
	if tail.Tag() == recording.TagFunction {
		function = tail.Function()
	}
	if function == recording.FreeNull || c.Calls == 0 {
		return
	}
	n, reallocs := float64(c.Calls), im.Reallocs(id)
	a.number += n
	a.stacks++
	if im.Sampling == nil {
		a.captured += n
	}
	a.plain += n * costs.Plain.call(function, c, &reallocs)
	a.serving += n * costs.Libmallow.call(function, c, &reallocs)
	a.disorder += n * math.Log(n)
}

// recorded is what all calls cost on libmallow when it records them.
func (a *calls) recorded(c *Costs) float64 {
	if a.captured == 0 {
		return a.serving
	}
	return a.serving + a.captured*a.capture(c) + a.stacks*newCode*max(0, c.Recorded.Fresh-c.Recorded.Few)
}

// capture is what recording adds to a call. It grows with how many stacks the
// calls go round by: what is known of a stack must be fetched from memory.
func (a *calls) capture(c *Costs) float64 {
	t := c.Recorded
	hot := at(t.Hot, typicalSize, 0)
	least := max(0, hot-at(c.Libmallow.Hot, typicalSize, 0))
	few, many := max(0, t.Few-hot), max(0, t.Many-hot)
	round := a.round()
	more := few * math.Log(round) / math.Log(FewStacks)
	if round > FewStacks {
		more = few + max(0, many-few)*math.Log(round/FewStacks)/math.Log(ManyStacks/FewStacks)
	}
	return least + inOrder*more
}

// The two factors were found with sqlite3, python3, cc1plus, clang, lua, jq and
// the examples index, json and logs, which go round by 3 to 4,000 stacks and take
// 20 to 500 ns more for a call when they are recorded: with these it is between
// 0.7 and 1.3 times that.
const (
	typicalSize = 64
	// A program does not go round by its stacks at random: the next one was
	// often seen not long ago.
	inOrder = 0.3
	// A new stack of a program leads through functions that no stack led through
	// before, those of calibrate through ever the same ones.
	newCode = 4
)

// round is how many stacks the calls go round by: as many as would, with
// equally many calls each, be as hard to guess.
func (a *calls) round() float64 {
	if a.number == 0 {
		return 1
	}
	return max(1, math.Exp(math.Log(a.number)-a.disorder/a.number))
}
