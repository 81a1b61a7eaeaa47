package growth

import (
	"math"
	"math/bits"

	"mallow/internal/advise/rule"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// line is one of several lines of a function at which the same vectors grow: a
// line that enlarges what an earlier one has made releases the earlier one's block.
type line struct {
	site  *rule.Site
	grown *rule.Site // its blocks for vectors of one type
	typed string     // see typeOf; known where the function has several lines
}

// severalLines returns lines whose vectors are grown on by other lines of their
// function, each with those, the first one first.
func severalLines(c *rule.Case) (all [][]line) {
	var lines []line
	for _, s := range c.Sites {
		if grown := grownAt(s, rule.Growth); grown != nil && s.Line > 0 {
			lines = append(lines, line{site: s, grown: grown})
		}
	}
	functionOf := func(l line) profile.Frame {
		return profile.Frame{Function: l.site.Function, File: l.site.File, Module: l.site.Module}
	}
	for _, function := range grouped(lines, functionOf) {
		if len(function) < 2 {
			continue
		}
		for i := range function {
			function[i].typed = typeOf(c, function[i].grown)
		}
		for _, same := range grouped(function, func(l line) string { return l.typed }) {
			if chained := chain(same); chained != nil && same[0].typed != "" {
				all = append(all, chained)
			}
		}
	}
	return all
}

// grouped puts lines together that have something in common.
func grouped[K comparable](lines []line, of func(line) K) (groups [][]line) {
	at := make(map[K]int)
	for _, l := range lines {
		k := of(l)
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// typeOf is what the vectors hold; "" where they are of several types, or nobody
// knows.
func typeOf(c *rule.Case, grown *rule.Site) string {
	types := c.Profile.Group([]*profile.Site{grown.Part.Site}, profile.ByType)
	if len(types) != 1 {
		return ""
	}
	return types[0].AllocatedType
}

// chain returns the line at which vectors begin, and those that go on with them;
// nil where that is not shown. They do if the growth releases more blocks of the
// first line than its own later blocks replace, and the others, all of which begin
// with a multiple of its first size, made as many.
func chain(lines []line) []line {
	if len(lines) < 2 {
		return nil
	}
	first := lines[0]
	for _, l := range lines {
		if l.grown.Counters.SizeMin < first.grown.Counters.SizeMin {
			first = l
		}
	}
	n := &first.grown.Counters
	by, outgrown := first.grown.Releaser(rule.Growth)
	_, most := stepsOf(first.grown)
	if by != rule.ByGrowth || math.IsInf(most, 1) {
		return nil
	}
	vectors := uint64(math.Ceil(float64(n.Calls) / most))
	goneOn := outgrown - min(outgrown, n.Calls-vectors)
	all := []line{first}
	var there uint64
	for _, l := range lines {
		if times := l.grown.Counters.SizeMin / n.SizeMin; times > 1 && bits.OnesCount64(times) == 1 && l.grown.Counters.SizeMin%n.SizeMin == 0 {
			all = append(all, l)
			there += l.grown.Counters.Calls
		}
	}
	if 2*goneOn < vectors || float64(there) < leastThere*float64(goneOn) {
		return nil
	}
	return all
}

// leastThere is the part of the vectors that leave the first line of which blocks
// are known at others.
const leastThere = 0.9

// byLines finds vectors that grow at several lines.
func byLines(lines []line) (f rule.Finding, ok bool) {
	var sum recording.Counters
	var sites []*rule.Site
	for _, l := range lines {
		sum.Add(&l.grown.Counters)
		sites = append(sites, l.grown)
	}
	least, _ := stepsOf(sites[0])
	steps := float64(sum.Calls) / float64(sites[0].Counters.Calls) * least
	if steps < leastSteps {
		return f, false
	}
	return finding(&sum, sites, rule.Growth, "vectors", steps, steps), true
}
