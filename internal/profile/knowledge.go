package profile

import (
	"cmp"
	"time"

	"mallow/internal/recording"
)

// Knowledge is what is usual of a site, summed over its stacks, threads and
// processes. Figures that the recorder takes from a part of the calls, see
// format/recording.md, are estimates once a stack has more than 32 calls.
type Knowledge struct {
	// Runs are the calls before which their thread had allocated with another
	// stack; LongestRun is the longest row of calls with one stack.
	Runs, LongestRun uint64
	Size             *Common // of Size bytes; nil where nobody knows
	BornAfter        *Common // of Runs: the site that the thread allocated at just before
	FreedAfter       *Common // of DeathRuns: the site whose block the thread released just before
	FreedBy          *Common // the function that called free, delete or realloc
	// PeakBlocks were live when their process was at its peak; nil where that
	// cannot be told, because a stack has blocks of several sizes.
	PeakBlocks *uint64
	DeathRuns  uint64 // releases before which the thread had released another stack's block
	// Lifetimes count the blocks that the allocating thread itself released,
	// by the logarithm of their lifetime in events of that thread.
	Lifetimes [recording.LifetimeItems]uint64
	Reallocs  recording.Reallocs
	Threads   uint64         // that allocated there, at the same time
	First     *time.Duration // since the first process of the recording began; nil where nobody knows
	Last      *time.Duration
	LastDeath *time.Duration
}

// Common is a value that most of some calls have in common, and bounds of how
// many. It is known only if more than half of each stack's calls have one.
type Common struct {
	Frame                // a site or a caller; empty for sizes
	Site          *Site  // the site of a partner
	Size          uint64 // a size
	Least, Most   uint64 // calls that have it
	OutOf         uint64
	AndAllGreater bool // Size stands for all greater ones
}

// ballot sums up votes by value.
type ballot[T comparable] struct {
	voters  uint64
	tallies []tally[T]
	at      map[T]int // of each value, once there are many
}

type tally[T comparable] struct {
	value       T
	least, most uint64
}

// manyTallies are no longer looked through one by one.
const manyTallies = 8

func (b *ballot[T]) add(votes []recording.Vote, valueOf func(candidate uint32) (T, bool)) {
	for i := range votes {
		v := &votes[i]
		b.voters += v.Voters
		if v.Lead == 0 {
			continue
		}
		value, ok := valueOf(v.Candidate)
		if !ok {
			continue
		}
		t := b.tally(value)
		t.least += v.Least()
		t.most += v.Most()
	}
}

func (b *ballot[T]) tally(value T) *tally[T] {
	if b.at != nil {
		if i, known := b.at[value]; known {
			return &b.tallies[i]
		}
	} else {
		for i := range b.tallies {
			if b.tallies[i].value == value {
				return &b.tallies[i]
			}
		}
		if len(b.tallies) == manyTallies {
			b.at = make(map[T]int)
			for i := range b.tallies {
				b.at[b.tallies[i].value] = i
			}
		}
	}
	if b.at != nil {
		b.at[value] = len(b.tallies)
	}
	b.tallies = append(b.tallies, tally[T]{value: value})
	return &b.tallies[len(b.tallies)-1]
}

// winner returns the value with most votes for sure, the lesser by before of
// two that have as many.
func (b *ballot[T]) winner(before func(a, b T) bool) (value T, c *Common) {
	var best *tally[T]
	for i := range b.tallies {
		t := &b.tallies[i]
		if best == nil || t.least > best.least || t.least == best.least && before(t.value, best.value) {
			best = t
		}
	}
	if best == nil {
		return value, nil
	}
	return best.value, &Common{Least: best.least, Most: best.most, OutOf: b.voters}
}

// knower finds out what is known of sites.
type knower struct {
	profile *Profile
	begun   map[*recording.Image]time.Duration // since the recording that it is part of
	// partners are where they are other than the profile's sites.
	partners Partners
	// strangers are partners that the profile leaves out.
	strangers map[Frame]*Site
	scratch   recording.Knowledge
	threads   []StackKey
}

// siteOf returns the site of a partner's stack. That of one that was left out
// has no more than a name.
func (k *knower) siteOf(im *recording.Image, stack uint32) (*Site, bool) {
	p := k.profile
	if n := p.forest.numberOf(im, stack); n >= 0 && stack != 0 {
		if int(n) < len(k.partners) && k.partners[n] != nil {
			return k.partners[n], true
		}
		return p.siteOfStack[n], true
	}
	frame, ok := p.strangerFrame(im, stack)
	if !ok {
		return nil, false
	}
	if k.strangers[frame] == nil {
		k.strangers[frame] = &Site{Frame: frame}
	}
	return k.strangers[frame], true
}

// siteOf returns the site of a stack; nil for one that counted nothing.
func (p *Profile) siteOf(im *recording.Image, id uint32) *Site {
	if n := p.forest.numberOf(im, id); n >= 0 {
		return p.siteOfStack[n]
	}
	return nil
}

// strangerFrame names the site of a stack that was left out.
func (p *Profile) strangerFrame(im *recording.Image, id uint32) (Frame, bool) {
	if id == 0 || !p.Restricted() {
		return Frame{}, false
	}
	at := p.sites.node(p.forest.stack(im, id, nil).leaf)
	if at == root {
		return Frame{}, false
	}
	return *p.sites.frame(at), true
}

// strangers adds the partners that were left out: their sites have no name yet.
func (p *Profile) strangers(leaves []node, im *recording.Image, of *recording.Knowledge) []node {
	for _, votes := range [][]recording.Vote{of.BornAfter, of.FreedAfter} {
		for _, vote := range votes {
			if vote.Lead > 0 && vote.Candidate != 0 && p.siteOf(im, vote.Candidate) == nil {
				leaves = append(leaves, p.forest.stack(im, vote.Candidate, nil).leaf)
			}
		}
	}
	return leaves
}

// StackKey tells a stack of one process from all others.
type StackKey struct {
	image *recording.Image
	id    uint32
}

// Knowledge returns what is known of each of the sites.
func (p *Profile) Knowledge(sites []*Site) []Knowledge { return p.KnowledgeAmong(sites, nil) }

// Partners are sites, or parts of them, that partners are looked for among: by
// the numbers of stacks.
type Partners []*Site

// NewPartners indexes sites that have no stack in common.
func NewPartners(sites []*Site) Partners {
	most := int32(-1)
	for _, site := range sites {
		for i := range site.stacks {
			most = max(most, site.stacks[i].number)
		}
	}
	partners := make(Partners, most+1)
	for _, site := range sites {
		for i := range site.stacks {
			partners[site.stacks[i].number] = site
		}
	}
	return partners
}

// KnowledgeAmong does the same, where a partner that is none of those given is
// a site of the profile.
func (p *Profile) KnowledgeAmong(sites []*Site, partners Partners) []Knowledge {
	p.nameFreers(sites)
	begun := p.begins()
	all := make([]Knowledge, len(sites))
	workers := allWorkers()
	if p.Restricted() {
		workers = 1 // its strangers must be the same for all sites
	}
	together(workers, len(sites), func(next func() (int, bool)) {
		k := &knower{profile: p, begun: begun, partners: partners, strangers: make(map[Frame]*Site)}
		for i, ok := next(); ok; i, ok = next() {
			all[i] = k.sum(sites[i])
		}
	})
	return all
}

// nameFreers names those who release blocks of the sites, and the partners
// that were left out.
func (p *Profile) nameFreers(sites []*Site) {
	var nodes []node
	var known recording.Knowledge
	for _, site := range sites {
		for i := range site.stacks {
			st := site.stacks[i]
			if p.freers[st.number] {
				continue
			}
			p.freers[st.number] = true
			st.image.EachFreer(st.id, func(freer uint32) { nodes = append(nodes, p.forest.find(st.image, freer)) })
			if p.Restricted() && st.image.ReadKnowledge(st.id, &known) {
				nodes = p.strangers(nodes, st.image, &known)
			}
		}
	}
	if len(nodes) > 0 {
		p.sites.prepare(nodes)
	}
}

func (k *knower) sum(site *Site) Knowledge {
	var sum Knowledge
	var sizes ballot[uint64]
	var bornAfter, freedAfter ballot[*Site]
	var freedBy ballot[Frame]
	var im *recording.Image
	sizeOfVote := func(size uint32) (uint64, bool) { return uint64(size), true }
	siteOfVote := func(stack uint32) (*Site, bool) { return k.siteOf(im, stack) }
	callerOfVote := func(caller uint32) (Frame, bool) { return k.caller(im, caller) }
	k.threads = k.threads[:0]
	of := &k.scratch
	for i := range site.stacks {
		im = site.stacks[i].image
		if !im.ReadKnowledge(site.stacks[i].id, of) {
			continue
		}
		sum.Runs += of.Runs
		sum.LongestRun = max(sum.LongestRun, of.LongestRun)
		sum.DeathRuns += of.DeathRuns
		sum.Reallocs.Add(&of.Reallocs)
		for item, n := range of.Lifetimes {
			sum.Lifetimes[item] += n
		}
		k.addThreads(im, of.Shards)
		k.addTimes(&sum, im, of)
		sizes.add(of.Size, sizeOfVote)
		bornAfter.add(of.BornAfter, siteOfVote)
		freedAfter.add(of.FreedAfter, siteOfVote)
		freedBy.add(of.FreedBy, callerOfVote)
	}
	sum.Threads = k.countThreads()
	sum.PeakBlocks = peakBlocks(site)
	sum.Size = sizeOf(&sizes, &site.Counters)
	sum.BornAfter = partner(&bornAfter)
	sum.FreedAfter = partner(&freedAfter)
	sum.FreedBy = commonest(&freedBy)
	return sum
}

// addThreads notes shards, most of which are those of the stack before.
func (k *knower) addThreads(im *recording.Image, shards []uint32) {
	for _, shard := range shards {
		key := StackKey{im, shard}
		if last := len(k.threads) - 1; last < 0 || k.threads[last] != key {
			k.threads = append(k.threads, key)
		}
	}
}

func (k *knower) countThreads() uint64 {
	if len(k.threads) < 2 {
		return uint64(len(k.threads))
	}
	different := make(map[StackKey]bool)
	for _, key := range k.threads {
		different[key] = true
	}
	return uint64(len(different))
}

func (k *knower) addTimes(sum *Knowledge, im *recording.Image, of *recording.Knowledge) {
	if !im.Timed() {
		return
	}
	at := func(ms uint32) *time.Duration {
		t := k.begun[im] + time.Duration(ms)*time.Millisecond
		return &t
	}
	if of.Births > 0 {
		if first := at(of.FirstMs); sum.First == nil || *first < *sum.First {
			sum.First = first
		}
		sum.Last = later(sum.Last, at(of.LastMs))
	}
	if of.Deaths > 0 {
		sum.LastDeath = later(sum.LastDeath, at(of.LastDeathMs))
	}
}

func later(a, b *time.Duration) *time.Duration {
	if a == nil || *b > *a {
		return b
	}
	return a
}

// caller names a node that is a stack of its own.
func (k *knower) caller(im *recording.Image, id uint32) (Frame, bool) {
	at := k.profile.sites.node(k.profile.forest.find(im, id))
	if at == root {
		return Frame{}, false
	}
	return *k.profile.sites.frame(at), true
}

// peakBlocks counts by the bytes, of which alone the recorder keeps the peak.
func peakBlocks(site *Site) *uint64 {
	var blocks uint64
	for i := range site.stacks {
		c := site.stacks[i].counters
		if c.Calls == 0 || c.PeakBytes <= 0 && c.SizeMin > 0 {
			continue
		}
		if c.SizeMin != c.SizeMax || c.SizeMax == 0 || c.Samples > 0 {
			return nil
		}
		blocks += uint64(c.PeakBytes) / c.SizeMax
	}
	return &blocks
}

// commonest returns the frame that most voted for.
func commonest(frames *ballot[Frame]) *Common {
	frame, common := frames.winner(func(a, b Frame) bool { return a.compare(&b) < 0 })
	if common != nil {
		common.Frame = frame
	}
	return common
}

// partner is commonest, of sites.
func partner(sites *ballot[*Site]) *Common {
	site, common := sites.winner(func(a, b *Site) bool {
		return cmp.Or(a.Frame.compare(&b.Frame), compareSites(a, b)) < 0
	})
	if common != nil {
		common.Frame, common.Site = site.Frame, site
	}
	return common
}

// sizeOf returns the commonest size; where all are the same nothing had to be
// voted.
func sizeOf(sizes *ballot[uint64], c *recording.Counters) *Common {
	if c.Calls > 0 && c.SizeMin == c.SizeMax {
		return &Common{Size: c.SizeMin, Least: c.Calls, Most: c.Calls, OutOf: c.Calls}
	}
	size, common := sizes.winner(func(a, b uint64) bool { return a < b })
	if common != nil {
		common.Size, common.AndAllGreater = size, size == recording.MostVotedSize
	}
	return common
}
