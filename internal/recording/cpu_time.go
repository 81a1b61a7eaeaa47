package recording

import "slices"

// CPUSeconds returns what all processes used of the processor, user and system
// time. It is not known where recording began while the program ran, and where
// too much was done by processes that nobody waited for: the kernel adds their
// time to nobody's.
func (rec *Recording) CPUSeconds() (seconds float64, known bool) {
	m := rec.Meta
	if m == nil || m.Joined || m.Imported != nil {
		return 0, false
	}
	const mostMissing = 100 // one part of all events
	if all, missing := rec.events(m.Unwaited); missing > all/mostMissing {
		return 0, false
	}
	seconds = m.UserSeconds + m.SystemSeconds
	return seconds, seconds >= 0 && seconds < 1e9
}

// events returns how many there were, and how many of them in those processes.
func (rec *Recording) events(processes []uint64) (all, of uint64) {
	for _, im := range rec.Images {
		for i := range im.Shards {
			all += im.Shards[i].Events
			if slices.Contains(processes, im.PID) {
				of += im.Shards[i].Events
			}
		}
	}
	return all, of
}
