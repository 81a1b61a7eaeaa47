package rule

import (
	"fmt"
	"math"

	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Temporary is how many blocks the thread freed before it allocated anything
// else; a block that a realloc took over was not freed.
func (s *Site) Temporary() uint64 { return Temporary(s.Part) }

// Temporary is the same of a part of a site.
func Temporary(part *profile.Part) uint64 {
	n := &part.Counters
	return min(n.Temporary, n.Releases-min(n.Releases, n.ByRealloc))
}

// Frees is how many blocks were released for good.
func (s *Site) Frees() uint64 {
	return s.Counters.Releases - min(s.Counters.Releases, s.Counters.ByRealloc)
}

// IsReleased tells that what is made is not kept.
func (s *Site) IsReleased() bool { return AreReleased(&s.Counters) }

// AreReleased tells it of calls that were counted together.
func AreReleased(n *recording.Counters) bool {
	const leastReleased = 0.8
	return Share(n.Releases, n.Calls) >= leastReleased
}

// OneSize tells that all blocks have the same size.
func (s *Site) OneSize() bool { return s.Counters.SizeMin == s.Counters.SizeMax }

// Certain tells that of the calls that were asked at least a share have
// something in common.
func Certain(common *profile.Common, least float64) bool {
	return common != nil && Share(common.Least, common.OutOf) >= least
}

// LivesUpTo returns how many heap events of the thread a share of the blocks
// lives at most; ok is false where too few were seen to die in their thread.
func (s *Site) LivesUpTo(share float64) (events uint64, ok bool) {
	var died, sum uint64
	for _, n := range s.Knowledge().Lifetimes {
		died += n
	}
	if died == 0 {
		return 0, false
	}
	for i, n := range s.Knowledge().Lifetimes {
		if sum += n; float64(sum) >= share*float64(died) {
			return uint64(1) << (i + 1), true
		}
	}
	return 0, false
}

// Outlive returns the share of the blocks that live for at least so many heap
// events of their thread, or for good.
func (s *Site) Outlive(events uint64) float64 {
	var sooner, died uint64
	for i, n := range s.Knowledge().Lifetimes {
		died += n
		if uint64(1)<<(i+1) <= events {
			sooner += n
		}
	}
	return 1 - Share(sooner, died)*Share(s.Counters.Releases, s.Counters.Calls)
}

// AtOnce estimates how many blocks are live at a time: as many as on average,
// but no fewer than there were at the peak of the process, or are left. Where they
// come in bursts there are more for a while: see MostAtOnce.
func (s *Site) AtOnce() uint64 {
	return min(max(1, s.seenAtOnce(), uint64(math.Ceil(s.Average()))), s.Counters.Calls)
}

func (s *Site) seenAtOnce() uint64 { return max(s.AtPeak(), uint64(s.Counters.LiveBlocks())) }

// MostAtOnce bounds how many blocks were ever live at a time: as many as there is
// room for in all that was live at the peak.
func (s *Site) MostAtOnce() uint64 {
	p := s.c.Profile
	if p.PeakUnknown() || s.Counters.SizeMin == 0 {
		return s.Counters.Calls
	}
	return max(s.AtOnce(), min(s.Counters.Calls, (p.Totals.PeakBytes+p.Quality.PeakErrorBytes)/s.Counters.SizeMin))
}

// LivesAtOnce writes how many blocks are live at a time, as far as that is known,
// and how many calls are saved where released blocks serve again. Where there may
// be so many at times that each serves fewer times than turnover, that is the most.
func (s *Site) LivesAtOnce(turnover uint64) (words string, saved uint64, atMost bool) {
	usual, most, calls := s.AtOnce(), s.MostAtOnce(), s.Counters.Calls
	if most <= usual {
		return fmt.Sprintf("no more than %s of the %s lived at a time", figure.Count(most), figure.Count(calls)), calls - most, false
	}
	words = fmt.Sprintf("about %s of the %s live at a time, on average or at the peak of memory", figure.Count(usual), figure.Count(calls))
	if calls < turnover*most {
		return words + "; bursts may have more", calls - usual, true
	}
	return fmt.Sprintf("%s, and never more than %s", words, figure.Count(most)), calls - most, false
}

// AtPeak is how many blocks were live when their process was at its peak, by
// the bytes where the blocks have several sizes.
func (s *Site) AtPeak() uint64 {
	if s.Knowledge().PeakBlocks != nil {
		return *s.Knowledge().PeakBlocks
	}
	return uint64(max(0, s.Counters.PeakBytes)) / max(1, s.MeanSize())
}

// Average estimates how many blocks were live on average: as many as the calls
// during a lifetime.
func (s *Site) Average() float64 {
	var lived, died float64
	for i, blocks := range s.Knowledge().Lifetimes {
		lived += float64(blocks) * 1.5 * math.Exp2(float64(i))
		died += float64(blocks)
	}
	if died == 0 {
		return 0
	}
	return lived / died / s.between()
}

// OneByOne tells that a block is gone before the next one is asked for: their
// lives are shorter than the distance between two calls, on average, and no
// two were live together as far as was seen.
func (s *Site) OneByOne() bool {
	lives, ok := s.LivesUpTo(0.95)
	// A life is known to a factor of two.
	return ok && float64(lives) <= 2*s.between() && s.seenAtOnce() <= max(1, s.Knowledge().Threads) && !s.inRows()
}

// inRows tells that a good part of the calls come in rows, whose blocks are
// there together unless each is gone before the thread allocates again.
func (s *Site) inRows() bool {
	const leastShare, mostTemporary = 0.1, 0.8
	n := s.Counters.Calls
	return Share(n-min(n, s.Knowledge().Runs), n) > leastShare && Share(s.Temporary(), n) <= mostTemporary
}

// Between is how many heap events of a thread come from one call to the next.
func (s *Site) Between() uint64 { return uint64(s.between() + 0.5) }

func (s *Site) between() float64 {
	perThread := float64(s.Counters.Calls) / float64(max(1, s.Knowledge().Threads))
	return s.c.eventsPerThread() / max(1, perThread)
}

// eventsPerThread are the allocations and releases of a thread on average,
// threads that had their shard one after the other taken as one.
func (c *Case) eventsPerThread() float64 {
	if c.events == 0 {
		var events, shards uint64
		for _, process := range c.Profile.Processes {
			for i := range process.Image.Shards {
				if n := process.Image.Shards[i].Events; n > 0 {
					events += n
					shards++
				}
			}
		}
		c.events = float64(events) / float64(max(1, shards))
	}
	return max(1, c.events)
}

// UpTo returns the share of the site's blocks that have no more than so many
// bytes, at the least: of sizes from the smallest up, no more than their mean
// allows are larger.
func (s *Site) UpTo(bytes uint64) float64 {
	n := &s.Counters
	switch {
	case n.SizeMax <= bytes:
		return 1
	case n.SizeMin > bytes:
		return 0
	}
	mean := float64(n.Bytes) / float64(n.Calls)
	return 1 - min(1, (mean-float64(n.SizeMin))/float64(bytes+1-n.SizeMin))
}
