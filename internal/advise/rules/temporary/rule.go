// Package temporary finds blocks that a function needs only while it runs.
package temporary

import (
	"fmt"

	"mallow/internal/advise/rule"
	"mallow/internal/figure"
	"mallow/internal/profile"
)

// Rule is the rule.
var Rule = rule.Rule{Name: "temporary", Find: find}

const (
	// A line of whose blocks fewer are temporary keeps the others for a reason.
	leastShare = 0.8
	// Where some of them are, one of the callers may be the reason.
	leastPart = 0.05
	// Fewer are no loop.
	leastCalls = 100
	// An array of so many bytes has room on any stack.
	onStack = 4096
)

func find(c *rule.Case) []rule.Finding {
	var parts, of []*rule.Site
	for _, site := range c.Sites {
		if !site.Matters() {
			continue
		}
		for _, s := range site.Where(isTemporary, someAre) {
			parts, of = append(parts, s), append(of, site)
		}
	}
	c.Know(parts)
	var found []rule.Finding
	for i, s := range parts {
		if !s.Contained() || s.KeepsMemory() || hasRoom(s) {
			found = append(found, finding(s, of[i]))
		}
	}
	return found
}

func isTemporary(part *profile.Part) bool {
	return rule.Temporary(part) >= leastCalls && rule.Share(rule.Temporary(part), part.Counters.Calls) >= leastShare
}

func someAre(part *profile.Part) bool {
	return rule.Temporary(part) >= leastCalls && rule.Share(rule.Temporary(part), part.Counters.Calls) >= leastPart
}

// hasRoom tells of blocks that an object needs whenever it is made that it could
// have them in itself, whoever has the object.
func hasRoom(s *rule.Site) bool {
	return s.InObject() && s.IsClearable() && s.OneSize() && s.Counters.SizeMax <= onStack
}

func finding(s, site *rule.Site) rule.Finding {
	n := &s.Counters
	owner, owned := s.Owner()
	by := s.Knowledge().FreedBy
	passedOn := !owned && rule.Certain(by, 0.5) && by.Function != ""
	f := rule.Finding{
		Means:    rule.Avoid,
		Title:    rule.Blocks(s.Temporary(), s) + ", each freed before anything else is allocated",
		Evidence: fmt.Sprintf("%s of %s were freed with nothing allocated in between", figure.Count(s.Temporary()), figure.Counted(n.Calls, "block", "blocks")),
		Places:   rule.Places(owner, s.Frame, site.Frame),
	}
	size, fitting := buffer(s)
	keeps := s.Contained()
	inline := hasRoom(s)
	constructor, ofObject := s.Constructor()
	replaced := !keeps && !s.IsElement() && s.IsReplaced()
	if keeps && !inline || size == 0 || replaced {
		f.Means = rule.Reuse
		calls, stay := s.Temporary(), s.Knowledge().Threads
		if keeps {
			calls, stay = s.Clearable().Temporary(), s.BlocksOfOneKept()
		}
		f.Claims = []rule.Claim{s.Claim(calls - min(calls, stay))}
	} else {
		f.Claims = []rule.Claim{s.Claim(uint64(fitting * float64(s.Temporary())))}
	}
	switch {
	case inline:
		f.Remedy = fmt.Sprintf("room for %s in the object itself: an array, or a vector that has room within (small_vector, InlinedVector) and asks for memory only where it is longer", rule.Bytes(size))
	case s.InObject():
		f.Remedy = rule.SetAnew
	case keeps:
		f.Remedy = s.KeptByLoop()
	case size == 0 && !replaced && passedOn:
		f.Places = rule.Places(s.Frame, s.UserOfLibrary(), site.Frame)
		f.Remedy = fmt.Sprintf("keep one block where it is used next instead of releasing it, and use it again (%s at the most)", rule.Bytes(n.SizeMax))
	case size == 0 && !replaced:
		f.Remedy = fmt.Sprintf("allocate once, outside of all loops, and use the same block again (%s at the most)", rule.Bytes(n.SizeMax))
	case replaced:
		f.Remedy = s.Replacement()
	case s.InRust():
		f.Remedy = fmt.Sprintf("a plain value on the stack, without Box (an enum where it is a dyn Trait of several types), or a SmallVec or ArrayVec with room for %s", rule.Bytes(size))
	case s.IsElement():
		f.Remedy = rule.HoldElements
	case ofObject:
		f.Places = rule.Places(constructor, s.Frame)
		f.Evidence += "; the constructor of an object makes them, and its destructor releases them"
		f.Remedy = member(s, size)
	default:
		f.Remedy = local(s, size)
		if passedOn {
			f.Evidence += fmt.Sprintf("; most by %s, which is none of the functions that allocate them", rule.Function(by.Function))
			f.Remedy += fmt.Sprintf(" (of a caller, where %s passes the block on)", rule.Function(owner.Function))
		}
		f.Remedy += otherwise(s)
	}
	return f
}

// local says what takes the place of the blocks.
func local(s *rule.Site, size uint64) string {
	switch {
	case s.IsObject():
		return fmt.Sprintf("a local variable of %s, without new", rule.Bytes(size))
	case s.InCpp() && !s.IsArray():
		return fmt.Sprintf("a fixed array of %s on the stack, or a container that is kept, where they are buffers; local variables, without new, where they are objects", rule.Bytes(size))
	case !s.InCpp() && s.MayBeObject():
		return fmt.Sprintf("a variable of %s on the stack, or a fixed array where it is a buffer", rule.Bytes(size))
	}
	return fmt.Sprintf("a fixed array of %s on the stack", rule.Bytes(size))
}

// member says what takes the place of the blocks in the object that has them.
func member(s *rule.Site, size uint64) string {
	switch {
	case s.IsObject():
		return fmt.Sprintf("a member of %s in place of the pointer to it", rule.Bytes(size))
	case !s.InCpp() && s.MayBeObject():
		return fmt.Sprintf("a member of %s in place of the pointer to it, or an array where it is a buffer", rule.Bytes(size))
	}
	return fmt.Sprintf("room for %s in the object itself: an array%s", rule.Bytes(size), otherwise(s))
}

// otherwise says what else an array needs: one that is too short is worse than
// any malloc, and one size is that of this run.
func otherwise(s *rule.Site) string {
	allocate := s.Malloc()
	switch {
	case s.IsArray():
		allocate = "new[]"
	case s.InCpp():
		return ""
	}
	if s.OneSize() {
		return ", and " + allocate + " for what may be longer"
	}
	return ", and " + allocate + " only for what is longer"
}

// buffer returns the size of an array for the blocks, and the share of them
// that fit at the least; 0 where too few would.
func buffer(s *rule.Site) (size uint64, fitting float64) {
	if s.Counters.SizeMax <= onStack {
		return s.Counters.SizeMax, 1
	}
	if fitting = s.UpTo(onStack); fitting < leastShare {
		return 0, 0
	}
	return onStack, fitting
}
