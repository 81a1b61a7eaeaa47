package recording

import "slices"

// TimelineSample is how far a process had come at a moment.
type TimelineSample struct {
	Ms         uint32 // since the image was begun
	Stacks     uint32 // different stacks so far
	Births     uint64 // allocations so far
	LiveBlocks int64
	LiveBytes  int64
	// Changes are the stacks by which the live bytes of the thread that took
	// the sample changed most since its last one, as far as it noticed.
	Changes []TimelineChange
}

// TimelineChange is what the blocks of a stack added to the live bytes.
type TimelineChange struct {
	Stack uint32
	Bytes int64
}

const (
	timelineSamples  = 1024
	maxTimelinePages = timelineSamples / stacksPerPage
)

func (im *Image) addTimeline(item directoryItem, page []byte) {
	if item.block < maxTimelinePages && im.timeline[item.block] == nil {
		im.timeline[item.block] = slices.Clone(page)
	}
}

// Timed tells whether the times of stacks mean anything: a log that was
// imported may have none.
func (im *Image) Timed() bool { return im.Flags&FlagSymbolic == 0 || im.TimelineUsed > 0 }

// Timeline returns the samples of the process, in order, and where it stands
// at the end. Nothing when there was not enough to take a sample of, or not all
// calls were recorded.
func (im *Image) Timeline() []TimelineSample {
	if im.Sampling != nil {
		return nil
	}
	var samples []TimelineSample
	var last TimelineSample
	for i := range min(im.TimelineUsed, timelineSamples) {
		page := im.timeline[i/stacksPerPage]
		if page == nil {
			break
		}
		s := parseTimelineSample(page[i%stacksPerPage*recordBytes:][:recordBytes])
		// A sample that goes back was about to be replaced when the process was
		// read or killed.
		if s.Births < last.Births || s.Ms < last.Ms {
			continue
		}
		samples, last = append(samples, s), s
	}
	if len(samples) == 0 {
		return nil
	}
	if end := im.now(); end.Births > last.Births || end.LiveBlocks != last.LiveBlocks {
		end.Ms, end.Stacks = max(end.Ms, last.Ms), max(last.Stacks, im.ParentStacks+uint32(len(im.stacks)))
		samples = append(samples, end)
	}
	return samples
}

func parseTimelineSample(b []byte) TimelineSample {
	s := TimelineSample{
		Ms: le.Uint32(b[0:]), Stacks: le.Uint32(b[4:]), Births: le.Uint64(b[8:]),
		LiveBlocks: int64(le.Uint64(b[16:])), LiveBytes: int64(le.Uint64(b[24:])),
	}
	for b = b[32:]; len(b) >= 8; b = b[8:] {
		if bytes := int32(le.Uint32(b[4:])); bytes != 0 {
			s.Changes = append(s.Changes, TimelineChange{Stack: le.Uint32(b), Bytes: int64(bytes)})
		}
	}
	return s
}

// now sums up the threads, and finds the last moment that any stack knows.
func (im *Image) now() TimelineSample {
	var s TimelineSample
	var events int64
	for i := range im.Shards {
		shard := &im.Shards[i]
		events += int64(shard.Events - shard.InheritedFrees)
		s.LiveBlocks += shard.LiveBlocks
		s.LiveBytes += shard.LiveBytes
	}
	s.Births = uint64(max(0, events+s.LiveBlocks)) / 2
	for i := range im.blocks.all {
		for _, page := range im.blocks.all[i].known {
			s.Ms = max(s.Ms, im.lastMs(&page))
		}
	}
	return s
}

// lastMs returns the last moment that a page of traits knows.
func (im *Image) lastMs(page *knowledgePage) (ms uint32) {
	for b := page.records; len(b) >= recordBytes; b = b[recordBytes:] {
		switch page.kind {
		case pageTraits:
			ms = max(ms, le.Uint32(b[32:]), le.Uint32(b[60:]))
		case pageFewTraits:
			if wide := im.wide(page.shard, b); wide != nil {
				ms = max(ms, le.Uint32(wide[20:]), le.Uint32(wide[24:]))
			} else {
				ms = max(ms, le.Uint32(b[8:]), le.Uint32(b[12:]))
			}
		}
	}
	return ms
}
