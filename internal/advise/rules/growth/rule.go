// Package growth finds buffers that grow step by step: by realloc, or by the
// doubling of vectors and strings.
package growth

import (
	"fmt"
	"math"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "growth", Find: find}

const (
	// Blocks that are resized less often are not grown step by step.
	leastSteps = 2
	leastCalls = 100
	// Of the resized blocks so many must grow.
	leastGrown = 0.8
	// Containers of which the largest is so many times as large as is usual
	// have no usual size.
	widely = 8
	// A container that begins with so many elements wastes little.
	firstElements = 8
)

func find(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	c.Which(func(s *rule.Site) bool { return resizes(s) || mayDouble(s) })
	joined := make(map[*rule.Site]bool) // whose vectors grow at other lines, too
	for _, lines := range severalLines(c) {
		if f, ok := byLines(lines); ok {
			found = append(found, f)
			for _, l := range lines {
				joined[l.site] = true
			}
		}
	}
	for _, s := range c.Sites {
		if f, ok := byRealloc(c, s); ok {
			found = append(found, f)
			continue
		}
		if f, ok := byHabit(s); ok {
			found = append(found, f)
			continue
		}
		for _, of := range containers {
			if of.growth == rule.Growth && joined[s] {
				continue
			}
			if f, ok := byContainer(s, of.growth, of.what); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// byRealloc finds chains of reallocs.
func resizes(s *rule.Site) bool { return s.CallsOf(recording.GroupRealloc) >= leastCalls }

// collects tells that most of the site's calls are those of Rust's collect, which
// has a rule of its own.
func collects(s *rule.Site) bool {
	collected := s.By(rule.Collect)
	return collected != nil && 2*collected.Counters.Calls > s.Counters.Calls
}

func byRealloc(c *rule.Case, s *rule.Site) (f rule.Finding, ok bool) {
	if !resizes(s) || collects(s) {
		return f, false
	}
	r := &s.Knowledge().Reallocs
	calls := s.Counters.Calls
	if r.Resized < leastCalls || rule.Share(r.Grown, r.Resized) < leastGrown {
		return f, false
	}
	chained := min(calls, enlarged(c, s))
	// What was not made here begins here: by malloc, by realloc(NULL) or from
	// another line's block.
	buffers := max(1, calls-chained)
	steps := float64(calls) / float64(buffers)
	noun, nouns := "call", "calls"
	if s.CallsOf(recording.GroupRealloc) == calls {
		noun, nouns = "realloc", "reallocs"
	}
	if steps < leastSteps {
		return f, false
	}
	last := finalSize(s, steps)
	remedy := fmt.Sprintf("ask for the final size at once (%s)", atLast(s, buffers, last))
	if saved := savedByDoubling(s, steps, last); saved >= leastByDoubling && !doubles(s, steps) {
		remedy += fmt.Sprintf(", or double the size with each step, which saves about %.0f %% of that", 100*saved)
	}
	atMost, atLeast := "", ""
	if chained < min(calls, r.Resized, s.Counters.ByRealloc) {
		atMost, atLeast = " at the most", "at least " // the others may have been another line's
	}
	owner, _ := s.Owner()
	return rule.Finding{
		Means:  rule.Avoid,
		Title:  fmt.Sprintf("%s%s %s grown step by step, %s%s %s each", figure.Counted(buffers, "buffer", "buffers"), atMost, figure.Plural(buffers, "is", "are"), atLeast, figure.Rough(steps, 3), nouns),
		Remedy: remedy,
		Evidence: fmt.Sprintf("%s%s of %s enlarge a block that this line had made, and copy %s",
			atLeast, figure.Count(chained), figure.Counted(calls, noun, nouns), figure.Size(r.BytesCopied)),
		Places: rule.Places(owner, s.Frame),
		Claims: []rule.Claim{s.Claim(chained)},
	}, true
}

// enlarged is how many of the site's blocks a realloc of its own took over. The
// recorder's chains know only of those within one stack. A line that begins its
// buffers by malloc, as Rust's containers do, has that in another one; so has one
// whose function is called from several lines for the same buffer, or whose call
// was compiled twice: of its blocks those were enlarged here that were nowhere else.
func enlarged(c *rule.Case, s *rule.Site) uint64 {
	r, taken := &s.Knowledge().Reallocs, s.Counters.ByRealloc
	here := min(r.Resized, taken)
	if s.CallsOf(recording.GroupRealloc) == s.Counters.Calls {
		here = min(here, taken-min(taken, takenElsewhere(c, s)))
	}
	return max(r.Chained, here)
}

// takenElsewhere is how many blocks of the site other lines may have enlarged: as
// many as they did not make themselves, as far as is known.
func takenElsewhere(c *rule.Case, s *rule.Site) uint64 {
	unknown := c.Profile.Totals.Reallocs
	var foreign uint64
	for _, other := range c.Sites {
		if !resizes(other) {
			continue
		}
		unknown -= min(unknown, other.CallsOf(recording.GroupRealloc))
		if other != s {
			r := &other.Knowledge().Reallocs
			foreign += r.Resized - min(r.Resized, r.Chained)
		}
	}
	return foreign + unknown
}

// A copy that misses the caches.
const bytesPerNanosecond = 10

// atLast writes the size to ask for.
func atLast(s *rule.Site, buffers, last uint64) string {
	if buffers == 1 || last >= s.Counters.SizeMax {
		return rule.Bytes(s.Counters.SizeMax)
	}
	return fmt.Sprintf("about %s, %s at the most", rule.Bytes(last), figure.Count(s.Counters.SizeMax))
}

// finalSize estimates what the blocks have at last, from all that was asked
// for on the way there: of a doubling chain the last size is half of the sum,
// of one with equal steps it is twice the average.
func finalSize(s *rule.Site, steps float64) uint64 {
	n := &s.Counters
	sum := float64(n.Bytes) / float64(max(1, n.Calls)) * steps
	if doubles(s, steps) {
		return uint64(min((sum+float64(n.SizeMin))/2, float64(n.SizeMax)))
	}
	return uint64(min(2*float64(s.MeanSize()), float64(n.SizeMax)))
}

// doubles tells that so many steps lead from the least size to the greatest one
// by doubling, or by more.
func doubles(s *rule.Site, steps float64) bool {
	n := &s.Counters
	return float64(n.SizeMax) >= float64(n.SizeMin)*math.Exp2(steps-1)/2
}

// leastByDoubling is what doubling must save of what the final size at once
// does, to be spoken of.
const leastByDoubling = 0.1

// savedByDoubling is the part of the steps behind the first one that doubling
// from the least size to the last saves.
func savedByDoubling(s *rule.Site, steps float64, last uint64) float64 {
	doublings := math.Ceil(math.Log2(float64(max(last, s.Counters.SizeMin, 1)) / float64(max(1, s.Counters.SizeMin))))
	return (steps - 1 - doublings) / (steps - 1)
}

var containers = []struct {
	growth rule.Symbol
	what   string
}{
	{rule.Growth, "vectors"},
	{rule.StringGrowth, "strings"},
}

// grownAt returns the blocks of the site that containers grew by, those of a
// kind; nil where they are too few.
func grownAt(s *rule.Site, growth rule.Symbol) *rule.Site {
	grown := s.ByWithout(growth, rule.Element|rule.RegexCompile|rule.Matching)
	if grown == nil || grown.Counters.Calls < leastCalls {
		return nil
	}
	return grown
}

// byContainer finds growing vectors or strings: each step is a block twice as
// large, and the growth itself releases the old one. A string that was put
// together of two has gone through the same functions for its only block,
// which its owner releases.
func byContainer(s *rule.Site, growth rule.Symbol, what string) (f rule.Finding, ok bool) {
	grown := grownAt(s, growth)
	if grown == nil || grown.OneSize() {
		return f, false
	}
	n := &grown.Counters
	// Of a container, on average: by sizes, and by who releases. Both are
	// estimates; the first is for vectors alone, which begin with one element.
	_, most := stepsOf(grown)
	bySizes := min(most, rule.Doublings(float64(grown.MeanSize())/float64(max(1, n.SizeMin))))
	steps := bySizes
	switch by, blocks := grown.Releaser(growth); by {
	case rule.ByOwner:
		return f, false
	case rule.ByGrowth:
		steps = min(most, float64(n.Calls)/float64(max(1, n.Calls-min(n.Calls, blocks))))
		if growth == rule.Growth {
			steps = min(steps, bySizes)
		}
	}
	if steps < leastSteps {
		return f, false
	}
	longest := steps
	if growth == rule.Growth {
		longest = max(steps, bySizes)
	}
	return finding(&grown.Counters, []*rule.Site{grown}, growth, what, steps, longest), true
}

// stepsOf returns bounds of how many blocks a container takes on average: it has
// no two of one size, so that there are as many containers as blocks of the size
// that is the most common, or more. Both are infinite where nobody knows that size.
func stepsOf(s *rule.Site) (least, most float64) {
	common := s.Knowledge().Size
	if common == nil || common.AndAllGreater || common.Least == 0 {
		return math.Inf(1), math.Inf(1)
	}
	return float64(common.OutOf) / float64(common.Most), float64(common.OutOf) / float64(common.Least)
}

func mayDouble(s *rule.Site) bool {
	return s.Counters.Calls >= leastCalls && s.Matters() && !s.OneSize() && !s.Contained()
}

// byHabit finds what grows by doubling without a name that says so.
func byHabit(s *rule.Site) (f rule.Finding, ok bool) {
	if !mayDouble(s) || !s.GrowsByDoubling() {
		return f, false
	}
	steps := rule.Doublings(float64(s.MeanSize()) / float64(max(1, s.Counters.SizeMin)))
	return finding(&s.Counters, []*rule.Site{s}, 0, "buffers", steps, steps), true
}

// finding tells of containers with so many steps on average, n in all at some
// lines. Sizes may speak of more: these are the steps of those that grow much,
// while others do not grow.
func finding(n *recording.Counters, lines []*rule.Site, growth rule.Symbol, what string, steps, bySizes float64) rule.Finding {
	last := min(n.SizeMax, n.SizeMin<<uint(min(62, math.Round(steps)-1)))
	remedy, saved := reserve(n, last, growth), 1-1/steps
	wide := n.SizeMax > widely*last
	if wide {
		// Nobody knows beforehand which will be the large ones.
		remedy = fmt.Sprintf("reserve() what is known beforehand of each%s: they end with %s each, and %s at the most",
			otherwise(n, growth), rule.Bytes(last), rule.Bytes(n.SizeMax))
		saved = math.Min(bySizes-1, math.Log2(firstElements)) * (steps - 1) / (bySizes - 1) / steps
	}
	evidence := fmt.Sprintf("%s come from their growth, about %s steps each from %s on average",
		figure.Counted(n.Calls, "block", "blocks"), figure.Rough(steps, 2), rule.Bytes(n.SizeMin))
	if growth == 0 {
		evidence += "; the function that makes a block releases it when the next one is there, which is twice as large"
	}
	f := rule.Finding{
		Means:       rule.Avoid,
		Title:       fmt.Sprintf("%s that grow by doubling take %s", what, rule.BlocksOf(n)),
		Remedy:      remedy,
		Evidence:    evidence,
		AtMost:      last < n.SizeMax && !wide, // the usual size saves the longer ones only a part of their steps
		Nanoseconds: float64(n.Bytes) / 2 / bytesPerNanosecond,
	}
	// What the last lines make is what nobody has to.
	for i, left := len(lines)-1, uint64(saved*float64(n.Calls)); i >= 0 && left > 0; i-- {
		claimed := min(left, lines[i].Counters.Calls)
		f.Claims = append(f.Claims, lines[i].Claim(claimed))
		left -= claimed
	}
	frames := make([]profile.Frame, len(lines))
	for i, s := range lines {
		frames[i] = s.Frame
	}
	f.Places = rule.Places(frames...)
	return f
}

// otherwise is with how much to begin where no size is known. A short string has
// no block, and would get one.
func otherwise(n *recording.Counters, growth rule.Symbol) string {
	first := rule.Bytes(firstElements * n.SizeMin)
	switch growth {
	case rule.StringGrowth:
		return " that has no room in the string itself"
	case rule.Growth:
		first = fmt.Sprintf("%d elements (%s)", firstElements, first)
	}
	return "; where nothing is, begin with " + first
}

func reserve(n *recording.Counters, last uint64, growth rule.Symbol) string {
	if growth == 0 {
		return fmt.Sprintf("ask for the final size at once (by reserve() where it is a vector or a string): about %s, %s at the most", rule.Bytes(last), rule.Bytes(n.SizeMax))
	}
	elements, which := "", ""
	switch growth {
	case rule.StringGrowth: // a short one has no block, and would get one
		which = " for what has no room in the string itself"
	case rule.Growth: // a vector begins with one
		elements = fmt.Sprintf(" (%s elements of the first block's size)", figure.Count(last/max(1, n.SizeMin)))
	}
	return fmt.Sprintf("reserve() before the loop%s: about %s%s, %s at the most", which, rule.Bytes(last), elements, rule.Bytes(n.SizeMax))
}
