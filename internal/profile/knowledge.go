package profile

import (
	"cmp"
	"slices"
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
	OwnRuns          uint64  // of Runs: before which it had allocated with another stack of the site, at the least
	Size             *Common // of Size bytes; nil where nobody knows
	BornAfter        *Common // of Runs: the site that the thread allocated at just before
	FreedAfter       *Common // of DeathRuns: the site whose block the thread released just before
	FreedBy          *Common // the function that called free, delete or realloc
	// FreedThrough are the wrappers by which FreedBy did it mostly, innermost
	// first: those that were inlined, such as destructors.
	FreedThrough []string
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

// knower finds out what is known of sites.
type knower struct {
	profile  *Profile
	begun    map[*recording.Image]time.Duration // since the recording that it is part of
	partners *Partners
	// strangers are partners that the profile leaves out; as values they come
	// after the others.
	strangers  []*Site
	strangerAt map[Frame]uint32

	// Of the site that is being looked at:
	sum                                  Knowledge
	image                                *recording.Image
	batch                                recording.Knowledge // of stacks of the image
	threads                              []thread
	sizes, bornAfter, freedAfter, freers ballot
}

// thread is one of an image's shards.
type thread struct {
	image *recording.Image
	shard uint32
}

// partner returns the value that stands for the site of a partner's stack.
// That of one that was left out has no more than a name.
func (k *knower) partner(numbers *recording.Index, stack uint32) (site uint32, ok bool) {
	if n := numbers.At(stack); n >= 0 && stack != 0 {
		return uint32(k.partners.of[n]), true
	}
	frame, ok := k.profile.strangerFrame(k.image, stack)
	if !ok {
		return 0, false
	}
	at, known := k.strangerAt[frame]
	if !known {
		at = uint32(len(k.strangers))
		k.strangerAt[frame] = at
		k.strangers = append(k.strangers, &Site{Frame: frame})
	}
	return uint32(len(k.partners.sites)) + at, true
}

// site is the reverse of partner.
func (k *knower) site(value uint32) *Site {
	if all := k.partners.sites; int(value) < len(all) {
		return all[value]
	}
	return k.strangers[int(value)-len(k.partners.sites)]
}

// freer returns the node, which is a stack of its own, of who releases blocks.
func (k *knower) freer(id uint32) (of uint32, ok bool) {
	n := k.profile.frames.known(k.profile.forest.find(k.image, id))
	return uint32(n), n != root
}

// siteOf returns the site of a stack; nil for one that counted nothing.
func (p *Profile) siteOf(im *recording.Image, id uint32) *Site {
	if n := p.forest.numberOf(im, id); n >= 0 {
		return p.partners.sites[p.partners.of[n]]
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

// Knowledge returns what is known of each of the sites.
func (p *Profile) Knowledge(sites []*Site) []Knowledge { return p.KnowledgeAmong(sites, p.partners) }

// Partners are sites, or parts of them, that partners are looked for among.
type Partners struct {
	sites []*Site
	of    []int32 // of each stack, by its number: the index of its site
}

// NewPartners returns sites that have no stack in common, and those of the
// profile for all stacks that are in none of them.
func (p *Profile) NewPartners(sites []*Site) *Partners {
	among := &Partners{sites: slices.Clone(p.Sites), of: slices.Clone(p.partners.of)}
	among.add(sites)
	return among
}

func (among *Partners) add(sites []*Site) {
	for _, site := range sites {
		index := int32(len(among.sites))
		among.sites = append(among.sites, site)
		for i := range site.stacks {
			among.of[site.stacks[i].number] = index
		}
	}
}

// KnowledgeAmong does the same with partners of one's own.
func (p *Profile) KnowledgeAmong(sites []*Site, partners *Partners) []Knowledge {
	begun := p.begins()
	all, freers := make([]Knowledge, len(sites)), make([]votes, len(sites))
	workers := allWorkers()
	if p.Restricted() {
		p.nameStrangers(sites)
		workers = 1 // its strangers must be the same for all sites
	}
	together(workers, len(sites), func(next func() (int, bool)) {
		k := &knower{profile: p, begun: begun, partners: partners, strangerAt: make(map[Frame]uint32)}
		for i, ok := next(); ok; i, ok = next() {
			all[i], freers[i] = k.about(sites[i])
		}
	})
	p.nameFreers(all, freers)
	return all
}

// nameStrangers names the partners that were left out.
func (p *Profile) nameStrangers(sites []*Site) {
	var nodes []node
	var known recording.Knowledge
	for _, site := range sites {
		for _, st := range site.stacks {
			if st.image.ReadKnowledge(st.id, &known) {
				nodes = p.strangers(nodes, st.image, &known)
			}
		}
	}
	p.sites.prepare(nodes)
}

// nameFreers names who releases the blocks of sites, by votes for their nodes:
// for each site the frame that most voted for.
func (p *Profile) nameFreers(all []Knowledge, of []votes) {
	var nodes []node
	for i := range of {
		for _, t := range of[i].tallies {
			nodes = append(nodes, node(t.value))
		}
	}
	p.sites.prepare(nodes)
	for _, n := range nodes {
		p.numbers.prepare(p.frames.placeIndex(p.sites.node(n)))
	}
	var frames ballot
	for i := range of {
		frames.voters = of[i].voters
		for _, t := range of[i].tallies {
			sum := frames.tally(uint32(p.numbers.of(p.accepted(p.sites.node(node(t.value))))))
			sum.least += t.least
			sum.most += t.most
		}
		frame := func(value uint32) *Frame { return p.numbers.frame(int32(value)) }
		value, most := frames.close(func(a, b uint32) bool { return frame(a).compare(frame(b)) < 0 })
		if most != nil {
			most.Frame = *frame(value)
			all[i].FreedThrough = p.through(of[i].tallies, int32(value))
		}
		all[i].FreedBy = most
	}
}

// through returns the wrappers by which a frame releases, at the node that has
// most votes of those that stand for it.
func (p *Profile) through(tallies []tally, frame int32) []string {
	var best *tally
	for i := range tallies {
		t := &tallies[i]
		if p.numbers.of(p.accepted(p.sites.node(node(t.value)))) == frame && (best == nil || t.least > best.least) {
			best = t
		}
	}
	var wrappers []string
	add := func(frames []Frame) {
		for i := range frames {
			if frames[i].Function != "" {
				wrappers = append(wrappers, frames[i].Function)
			}
		}
	}
	at := p.accepted(p.sites.node(node(best.value)))
	for n := p.frames.known(node(best.value)); n != at.node && n != root; n = p.frames.parent(n) {
		add(p.frames.placeOf(n).frames)
	}
	add(p.frames.placeOf(at.node).frames[:at.index])
	return wrappers
}

func (k *knower) about(site *Site) (Knowledge, votes) {
	const batch = 1024
	k.sum, k.threads = Knowledge{}, k.threads[:0]
	for _, st := range site.stacks {
		if st.image != k.image || len(k.batch.Size) >= batch {
			k.addBatch()
			k.image = st.image
		}
		k.image.AddKnowledge(st.id, &k.batch)
	}
	k.addBatch()
	k.sum.Threads = k.countThreads()
	k.sum.PeakBlocks = peakBlocks(site)
	if len(site.stacks) > 1 {
		k.sum.OwnRuns = k.bornAfter.least(uint32(k.partners.of[site.stacks[0].number]))
	}
	k.sum.Size = k.commonSize(&site.Counters)
	k.sum.BornAfter = k.commonPartner(&k.bornAfter)
	k.sum.FreedAfter = k.commonPartner(&k.freedAfter)
	return k.sum, k.freers.take()
}

// addBatch adds what is known of some stacks of an image.
func (k *knower) addBatch() {
	sum, of := &k.sum, &k.batch
	sum.Runs += of.Runs
	sum.LongestRun = max(sum.LongestRun, of.LongestRun)
	sum.DeathRuns += of.DeathRuns
	sum.Reallocs.Add(&of.Reallocs)
	for item, n := range of.Lifetimes {
		sum.Lifetimes[item] += n
	}
	k.addThreads(of.Shards)
	k.addTimes(of)
	numbers := k.profile.forest.stacks[k.image]
	partner := func(stack uint32) (uint32, bool) { return k.partner(numbers, stack) }
	k.sizes.add(of.Size, func(size uint32) (uint32, bool) { return size, true })
	k.bornAfter.add(of.BornAfter, partner)
	k.freedAfter.add(of.FreedAfter, partner)
	k.freers.add(of.FreedBy, k.freer)
	of.Reset()
}

// addThreads notes shards, most of which are those of the stack before.
func (k *knower) addThreads(shards []uint32) {
	for _, shard := range shards {
		of := thread{k.image, shard}
		if last := len(k.threads) - 1; last < 0 || k.threads[last] != of {
			k.threads = append(k.threads, of)
		}
	}
}

func (k *knower) countThreads() uint64 {
	if len(k.threads) < 2 {
		return uint64(len(k.threads))
	}
	different := make(map[thread]bool)
	for _, of := range k.threads {
		different[of] = true
	}
	return uint64(len(different))
}

func (k *knower) addTimes(of *recording.Knowledge) {
	if k.image == nil || !k.image.Timed() {
		return
	}
	at := func(ms uint32) *time.Duration {
		t := k.begun[k.image] + time.Duration(ms)*time.Millisecond
		return &t
	}
	if of.Births > 0 {
		if first := at(of.FirstMs); k.sum.First == nil || *first < *k.sum.First {
			k.sum.First = first
		}
		k.sum.Last = later(k.sum.Last, at(of.LastMs))
	}
	if of.Deaths > 0 {
		k.sum.LastDeath = later(k.sum.LastDeath, at(of.LastDeathMs))
	}
}

func later(a, b *time.Duration) *time.Duration {
	if a == nil || *b > *a {
		return b
	}
	return a
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

func (k *knower) commonPartner(votes *ballot) *Common {
	value, common := votes.close(func(a, b uint32) bool {
		return cmp.Or(k.site(a).Frame.compare(&k.site(b).Frame), compareSites(k.site(a), k.site(b))) < 0
	})
	if common != nil {
		common.Site = k.site(value)
		common.Frame = common.Site.Frame
	}
	return common
}

// commonSize returns the commonest size; where all are the same nothing had to
// be voted.
func (k *knower) commonSize(c *recording.Counters) *Common {
	size, common := k.sizes.close(func(a, b uint32) bool { return a < b })
	switch {
	case c.Calls > 0 && c.SizeMin == c.SizeMax:
		return &Common{Size: c.SizeMin, Least: c.Calls, Most: c.Calls, OutOf: c.Calls}
	case common != nil:
		common.Size, common.AndAllGreater = uint64(size), size == recording.MostVotedSize
	}
	return common
}
