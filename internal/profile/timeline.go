package profile

import (
	"slices"
	"time"

	"mallow/internal/recording"
)

// Moment is how far all processes together had come at a time.
type Moment struct {
	At          time.Duration // since the recording began
	Allocations uint64        // so far
	Releases    uint64        // so far
	LiveBlocks  int64
	LiveBytes   int64
	Stacks      uint64 // different ones so far, of each process
	Changes     []Change
}

// Change is what a site added to the live bytes since the moment before, as
// far as the thread that looked knew.
type Change struct {
	Frame
	Bytes int64
}

// maxMoments bounds a timeline of several processes.
const maxMoments = 1024

// Timeline returns the course of the recordings' processes, added up. The
// memory of a process that has ended counts no more once another goes on.
// Changes are left out unless they are asked for. Of a profile that is
// restricted to some stacks or threads there is none.
func (p *Profile) Timeline(changes bool) []Moment {
	if p.Restricted() {
		return nil
	}
	type step struct {
		at      time.Duration
		process int
		sample  *recording.TimelineSample
		last    bool
	}
	var steps []step
	begun := p.begins()
	for number, process := range p.Processes {
		im := process.Image
		samples := im.Timeline()
		for i := range samples {
			at := begun[im] + time.Duration(samples[i].Ms)*time.Millisecond
			steps = append(steps, step{at, number, &samples[i], i == len(samples)-1})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(max(-1, min(1, a.at-b.at))) })

	now := make([]recording.TimelineSample, len(p.Processes))
	var moments []Moment
	var sum Moment
	for i, s := range steps {
		before := &now[s.process]
		sum.At = s.at
		sum.Allocations += s.sample.Births - before.Births
		sum.LiveBlocks += s.sample.LiveBlocks - before.LiveBlocks
		sum.LiveBytes += s.sample.LiveBytes - before.LiveBytes
		sum.Releases += (s.sample.Births - uint64(s.sample.LiveBlocks)) - (before.Births - uint64(before.LiveBlocks))
		sum.Stacks += uint64(s.sample.Stacks) - uint64(before.Stacks)
		*before = *s.sample
		moment := sum
		if changes {
			moment.Changes = p.changes(p.Processes[s.process].Image, s.sample)
		}
		moments = append(moments, moment)
		if s.last && i < len(steps)-1 && !p.Processes[s.process].Image.Running {
			sum.LiveBlocks -= before.LiveBlocks
			sum.LiveBytes -= before.LiveBytes
			before.LiveBlocks, before.LiveBytes = 0, 0
		}
	}
	for len(moments) > maxMoments {
		moments = halved(moments)
	}
	return moments
}

// halved keeps every second moment, the last among them, and of the changes
// of two the greater ones.
func halved(moments []Moment) []Moment {
	kept := moments[:0]
	for i := (len(moments) + 1) % 2; i < len(moments); i += 2 {
		m := moments[i]
		if i > 0 {
			m.Changes = sumOfChanges(moments[i-1].Changes, m.Changes)
		}
		kept = append(kept, m)
	}
	return kept
}

const changesKept = 4

func sumOfChanges(lists ...[]Change) []Change {
	var sum []Change
	for _, list := range lists {
		for _, change := range list {
			i := slices.IndexFunc(sum, func(c Change) bool { return c.Frame == change.Frame })
			if i < 0 {
				sum = append(sum, change)
			} else {
				sum[i].Bytes += change.Bytes
			}
		}
	}
	slices.SortStableFunc(sum, func(a, b Change) int { return int(max(-1, min(1, abs(b.Bytes)-abs(a.Bytes)))) })
	return sum[:min(len(sum), changesKept)]
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// changes names the sites of a sample's stacks.
func (p *Profile) changes(im *recording.Image, sample *recording.TimelineSample) []Change {
	var changes []Change
	for _, c := range sample.Changes {
		if site := p.siteOf(im, c.Stack); site != nil {
			changes = append(changes, Change{Frame: site.Frame, Bytes: c.Bytes})
		}
	}
	return sumOfChanges(changes)
}

// begins returns when each image was begun, since its recording was.
func (p *Profile) begins() map[*recording.Image]time.Duration {
	if p.begun != nil {
		return p.begun
	}
	begun := make(map[*recording.Image]time.Duration)
	p.begun = begun
	for _, rec := range p.Recordings {
		var earliest time.Duration
		for _, im := range rec.Images {
			begun[im] = between(rec.Images[0], im)
			earliest = min(earliest, begun[im])
		}
		for _, im := range rec.Images {
			begun[im] -= earliest
		}
	}
	return begun
}

// between is the time from the start of one image to that of another. The
// wall clock may have jumped, and in a time namespace the monotonic clock is
// another one: where both tell, the shorter time is believed.
func between(from, to *recording.Image) time.Duration {
	wall := time.Duration(to.StartRealtime - from.StartRealtime)
	if from.StartMonotonic == 0 || to.StartMonotonic == 0 {
		return wall
	}
	monotonic := time.Duration(to.StartMonotonic - from.StartMonotonic)
	if monotonic.Abs() < wall.Abs() {
		return monotonic
	}
	return wall
}

// Timeline is that of recordings, of some processes or all, without changes.
func Timeline(recordings []*recording.Recording, processes []string) []Moment {
	p := &Profile{Recordings: recordings}
	for _, rec := range recordings {
		for _, im := range rec.Images {
			if selects(processes, im) {
				p.Processes = append(p.Processes, &Process{Image: im})
			}
		}
	}
	return p.Timeline(false)
}
