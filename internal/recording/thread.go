package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MainThread selects the first thread of every process.
const MainThread = "main"

// OpenThreads reads a recording as Open does, but of its counters only what
// some threads counted: by their thread ids, or MainThread. Of what the
// threads of a process have in common, such as the timeline and CPU samples,
// nothing is there.
//
// A thread that began when another had ended may have gone on in its place;
// such are one.
func OpenThreads(path string, selectors []string) (*Recording, error) {
	if len(selectors) == 0 {
		return Open(path)
	}
	rec, err := open(path, func(im *Image) { im.choose(selectors) })
	if err != nil {
		return nil, err
	}
	var threads []Shard
	for _, im := range rec.Images {
		threads = append(threads, im.Shards...)
		im.Shards = slices.DeleteFunc(im.Shards, func(s Shard) bool { return !selectsThread(selectors, im, &s) })
	}
	for _, selector := range selectors {
		if !slices.ContainsFunc(rec.Images, func(im *Image) bool {
			return slices.ContainsFunc(im.Shards, func(s Shard) bool { return selectsThread([]string{selector}, im, &s) })
		}) {
			return nil, fmt.Errorf("--thread %s: there is none; there are %s", selector, threadNames(threads))
		}
	}
	return rec, nil
}

func selectsThread(selectors []string, im *Image, s *Shard) bool {
	isMain := uint64(s.TID) == im.PID
	return slices.ContainsFunc(selectors, func(selector string) bool {
		return selector == MainThread && isMain || selector == strconv.FormatUint(uint64(s.TID), 10)
	})
}

func threadNames(threads []Shard) string {
	const most = 8
	slices.SortStableFunc(threads, func(a, b Shard) int { return cmp.Compare(b.Events, a.Events) })
	var names []string
	for i := range threads {
		name := strconv.FormatUint(uint64(threads[i].TID), 10)
		if threads[i].Threads > 1 {
			name += fmt.Sprintf(" (%d, one after the other)", threads[i].Threads)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(append([]string{MainThread}, names...), ", ")
}

// choose is called when the shards are known and the counters are not.
func (im *Image) choose(selectors []string) {
	im.Chosen = true
	im.chosen = make([]bool, len(im.Shards))
	for i := range im.Shards {
		im.chosen[i] = selectsThread(selectors, im, &im.Shards[i])
	}
	im.CPUInterval, im.TimelineUsed = 0, 0
	im.others = new(blocks)
}

// counts tells whether what the shard counted is wanted.
func (im *Image) counts(shard uint32) bool {
	return im.chosen == nil || uint64(shard) < uint64(len(im.chosen)) && im.chosen[shard]
}

// separate finds out which releases by other threads were of the chosen
// ones' blocks. Where several threads allocate with one stack and release each
// other's blocks that is not known as long as any lives: Mixed counts the
// calls.
func (im *Image) separate() {
	if im.others == nil {
		return
	}
	im.others.each(func(number uint32, others *block) {
		chosen := im.blocks.at(number)
		if chosen == nil || chosen.counters == nil {
			return
		}
		for i := range others.counters {
			c, o := &chosen.counters[i], &others.counters[i]
			switch {
			case *o == (Counters{}) || c.Foreign == 0 && o.Foreign == 0:
			case c.Calls == 0: // it only released what others allocated
				*c = Counters{Failed: c.Failed}
			case o.Calls == 0 && im.Sampling == nil:
				c.Add(o)
			default:
				all := *c
				all.Add(o)
				live, liveBytes := uint64(all.LiveBlocks()), uint64(all.LiveBytes())
				if live > 0 {
					im.Mixed += c.Calls
				}
				c.Releases -= min(c.Releases, c.Foreign)
				c.ReleasedBytes -= min(c.ReleasedBytes, c.Foreign*max(c.SizeMax, o.SizeMax))
				// No more of the chosen ones' blocks live than of all.
				c.Releases = max(c.Releases, c.Calls-min(c.Calls, live))
				c.ReleasedBytes = max(c.ReleasedBytes, c.Bytes-min(c.Bytes, liveBytes))
				c.PeakBytes = max(0, c.PeakBytes)
			}
		}
	})
	im.others = nil
}
