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
	voters uint64
	least  map[T]uint64
	most   map[T]uint64
}

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
		if b.least == nil {
			b.least, b.most = make(map[T]uint64), make(map[T]uint64)
		}
		b.least[value] += v.Least()
		b.most[value] += v.Most()
	}
}

// winner returns the value with most votes for sure, the lesser by before of
// two that have as many.
func (b *ballot[T]) winner(before func(a, b T) bool) (value T, c *Common) {
	for candidate, least := range b.least {
		if c == nil || least > c.Least || least == c.Least && before(candidate, value) {
			value, c = candidate, &Common{Least: least}
		}
	}
	if c != nil {
		c.Most, c.OutOf = b.most[value], b.voters
	}
	return value, c
}

// knower finds out what is known of sites.
type knower struct {
	profile  *Profile
	begun    map[*recording.Image]time.Duration // since the recording that it is part of
	partners Partners                           // where they are other than the profile's sites
	// strangers are partners that the profile leaves out.
	strangers map[Frame]*Site
}

// siteOf returns the site of a partner's stack. That of one that was left out
// has no more than a name.
func (k *knower) siteOf(im *recording.Image, stack uint32) (*Site, bool) {
	if site := k.partners[StackKey{im, stack}]; site != nil {
		return site, true
	}
	frame, ok := k.profile.siteFrame(im, stack)
	if !ok {
		return nil, false
	}
	if site := k.profile.siteOf(im, stack); site != nil {
		return site, true
	}
	if k.strangers[frame] == nil {
		k.strangers[frame] = &Site{Frame: frame}
	}
	return k.strangers[frame], true
}

// siteOf returns the site of a stack; nil for one that counted nothing.
func (p *Profile) siteOf(im *recording.Image, id uint32) *Site {
	if p.siteOfKey == nil {
		p.siteOfKey = make(map[StackKey]*Site)
		for _, site := range p.Sites {
			for i := range site.stacks {
				p.siteOfKey[StackKey{site.stacks[i].image, site.stacks[i].id}] = site
			}
		}
	}
	return p.siteOfKey[StackKey{im, id}]
}

// siteFrame names the site of a stack, also of one that was left out.
func (p *Profile) siteFrame(im *recording.Image, id uint32) (Frame, bool) {
	if id == 0 {
		return Frame{}, false
	}
	if site := p.siteOf(im, id); site != nil {
		return site.Frame, true
	}
	if !p.Restricted() {
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
	if !p.Restricted() {
		return leaves
	}
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

// Partners are sites, or parts of them, that partners are looked for among.
type Partners map[StackKey]*Site

// NewPartners indexes sites that have no stack in common.
func NewPartners(sites []*Site) Partners {
	partners := make(Partners)
	for _, site := range sites {
		for i := range site.stacks {
			partners[StackKey{site.stacks[i].image, site.stacks[i].id}] = site
		}
	}
	return partners
}

// KnowledgeAmong does the same, where a partner that is none of those given is
// a site of the profile.
func (p *Profile) KnowledgeAmong(sites []*Site, partners Partners) []Knowledge {
	k := &knower{profile: p, begun: p.begins(), partners: partners, strangers: make(map[Frame]*Site)}
	known := make([][]*recording.Knowledge, len(sites))
	var callers []node
	for i, site := range sites {
		known[i] = make([]*recording.Knowledge, len(site.stacks))
		for j := range site.stacks {
			st := &site.stacks[j]
			of := st.image.Knowledge(st.id)
			if of == nil {
				continue
			}
			known[i][j] = of
			for _, vote := range of.FreedBy {
				if vote.Lead > 0 {
					callers = append(callers, p.forest.find(st.image, vote.Candidate))
				}
			}
			callers = p.strangers(callers, st.image, of)
		}
	}
	p.sites.prepare(callers)
	all := make([]Knowledge, len(sites))
	for i, site := range sites {
		all[i] = k.sum(site, known[i])
	}
	return all
}

func (k *knower) sum(site *Site, known []*recording.Knowledge) Knowledge {
	var sum Knowledge
	var sizes ballot[uint64]
	var bornAfter, freedAfter ballot[*Site]
	var freedBy ballot[Frame]
	threads := make(map[StackKey]bool)
	for i, of := range known {
		if of == nil {
			continue
		}
		im := site.stacks[i].image
		sum.Runs += of.Runs
		sum.LongestRun = max(sum.LongestRun, of.LongestRun)
		sum.DeathRuns += of.DeathRuns
		sum.Reallocs.Add(&of.Reallocs)
		for item, n := range of.Lifetimes {
			sum.Lifetimes[item] += n
		}
		for _, shard := range of.Shards {
			threads[StackKey{im, shard}] = true
		}
		k.addTimes(&sum, im, of)
		sizes.add(of.Size, func(size uint32) (uint64, bool) { return uint64(size), true })
		siteOf := func(stack uint32) (*Site, bool) { return k.siteOf(im, stack) }
		bornAfter.add(of.BornAfter, siteOf)
		freedAfter.add(of.FreedAfter, siteOf)
		freedBy.add(of.FreedBy, func(caller uint32) (Frame, bool) { return k.caller(im, caller) })
	}
	sum.Threads = uint64(len(threads))
	sum.PeakBlocks = peakBlocks(site)
	sum.Size = sizeOf(&sizes, &site.Counters)
	sum.BornAfter = partner(&bornAfter)
	sum.FreedAfter = partner(&freedAfter)
	sum.FreedBy = commonest(&freedBy)
	return sum
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
