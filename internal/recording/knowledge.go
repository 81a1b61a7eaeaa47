package recording

import (
	"bytes"
	"iter"
	"math"
)

// Knowledge is what the recorder found to be usual of a stack, summed over all
// threads. Weights are estimates of how many calls or releases there were of
// a kind; see "Traits and reallocs" in format/recording.md.
type Knowledge struct {
	Births     uint64 // weight of the births looked at
	Runs       uint64 // weight of those that follow another stack's
	LongestRun uint64 // most allocations in a row by a thread
	Size       []Vote // on the size asked for; MostVotedSize stands for greater ones
	BornAfter  []Vote // of the births in Runs: on the stack that the thread allocated with just before

	Deaths     uint64 // weight of the deaths looked at
	DeathRuns  uint64 // weight of those that follow the death of another stack's block
	FreedAfter []Vote // of the deaths in DeathRuns: on the stack whose block the thread released just before
	FreedBy    []Vote // on the caller, a node
	// Lifetimes are the weights of deaths by the allocating thread, by the
	// logarithm of the lifetime in events of that thread: item 0 died at the
	// very next event.
	Lifetimes [LifetimeItems]uint64

	Reallocs Reallocs
	Shards   []uint32 // items of the shards that allocated, one for each thread at a time

	// Times are milliseconds since the image was begun.
	FirstMs, LastMs uint32 // birth; meaningful if Births > 0
	LastDeathMs     uint32 // meaningful if Deaths > 0
}

// LifetimeItems is how many lengths of lifetimes are told apart.
const LifetimeItems = 32

// MostVotedSize stands in a vote for all sizes that are not below it.
const MostVotedSize = 1<<32 - 1

// Vote is the outcome of a majority vote in one shard: if more than half of
// the voters named one value, it is the candidate.
type Vote struct {
	Candidate uint32
	Lead      uint64 // over all others
	Voters    uint64
}

// Least and Most are bounds of how many voters named the candidate.
func (v *Vote) Least() uint64 { return v.Lead }
func (v *Vote) Most() uint64  { return (v.Voters + v.Lead) / 2 }

// Reallocs are what became of the blocks that were given to a realloc.
type Reallocs struct {
	Resized     uint64 // calls that were given a block and returned one
	Grown       uint64
	Shrunk      uint64
	Moved       uint64 // to another address
	BytesCopied uint64
	Chained     uint64 // of a block that this same stack had returned
}

// Add sums figures.
func (r *Reallocs) Add(o *Reallocs) {
	r.Resized += o.Resized
	r.Grown += o.Grown
	r.Shrunk += o.Shrunk
	r.Moved += o.Moved
	r.BytesCopied += o.BytesCopied
	r.Chained += o.Chained
}

// knowledgePage is a counter page of one of the rarer kinds, kept as it is
// until somebody asks for its stacks.
type knowledgePage struct {
	kind    uint32
	shard   uint32
	records []byte
}

func (im *Image) addKnowledge(item directoryItem, page []byte) {
	of := im.blocks.make(item.block)
	of.known = append(of.known, knowledgePage{kind: item.kind, shard: item.shard, records: bytes.Clone(page)})
}

// widePage names a page of wide traits, by the item of its shard and by how many
// that shard has before it.
type widePage struct{ shard, number uint32 }

func (im *Image) addWideTraits(item directoryItem, page []byte) {
	if im.wideTraits == nil {
		im.wideTraits = make(map[widePage][]byte)
	}
	im.wideTraits[widePage{item.shard, item.block}] = bytes.Clone(page)
}

// eachReallocs visits the reallocs of a page that tell their stack themselves.
func eachReallocs(page []byte, visit func(stack uint32, record []byte)) {
	for ; len(page) > 0; page = page[recordBytes:] {
		record := page[:recordBytes]
		if stack := le.Uint64(record[56:]); stack <= math.MaxUint32 && !allZero(record) {
			visit(uint32(stack), record)
		}
	}
}

func (im *Image) addNumberedReallocs(page []byte) {
	if im.reallocs == nil {
		im.reallocs = make(map[uint32]*Reallocs)
	}
	eachReallocs(page, func(stack uint32, record []byte) {
		if of := im.reallocs[stack]; of != nil {
			of.Add(reallocsOf(record))
		} else {
			im.reallocs[stack] = reallocsOf(record)
		}
	})
}

// wide returns the wide traits that a stack's few traits name; nil where they
// are those of the stack. Of a page that is missing they are zero.
func (im *Image) wide(shard uint32, few []byte) []byte {
	if few[4] != traitsAreWide {
		return nil
	}
	number := le.Uint32(few)
	page := im.wideTraits[widePage{shard, number / wideTraitsPerPage}]
	if page == nil {
		return make([]byte, wideTraitsBytes)
	}
	return page[number%wideTraitsPerPage*wideTraitsBytes:][:wideTraitsBytes]
}

// traitsAreWide stands in few traits in place of the births looked at.
const traitsAreWide = 255

// Knowledge returns what is known of a stack; nil where nothing is.
func (im *Image) Knowledge(id uint32) *Knowledge {
	k := new(Knowledge)
	if !im.ReadKnowledge(id, k) {
		return nil
	}
	return k
}

// ReadKnowledge does the same into k, whose memory it uses again, and tells
// whether anything is known.
func (im *Image) ReadKnowledge(id uint32, k *Knowledge) (known bool) {
	k.Reset()
	return im.AddKnowledge(id, k)
}

// Reset forgets everything but the memory.
func (k *Knowledge) Reset() {
	*k = Knowledge{
		Size: k.Size[:0], BornAfter: k.BornAfter[:0], FreedAfter: k.FreedAfter[:0], FreedBy: k.FreedBy[:0], Shards: k.Shards[:0],
	}
}

// AddKnowledge adds what is known of a stack to k, which may have that of
// others of the image: each stack has votes of its own there. It tells whether
// anything is known.
func (im *Image) AddKnowledge(id uint32, k *Knowledge) (known bool) {
	if r := im.reallocs[id]; r != nil {
		known = true
		k.Reallocs.Add(r)
	}
	for page, record := range im.knownOf(id) {
		known = true
		switch page.kind {
		case pageTraits:
			k.addTraits(page.shard, record)
		case pageLifetimes:
			k.addLifetimes(record, 1)
		case pageLifetimeCarries:
			k.addLifetimes(record, 1<<16)
		case pageReallocs:
			k.Reallocs.Add(reallocsOf(record))
		case pageFewTraits:
			if wide := im.wide(page.shard, record); wide != nil {
				k.addWideTraits(page.shard, wide)
			} else {
				k.addFewTraits(page.shard, record)
			}
		}
	}
	return known
}

// knownOf are the records of a stack that are not empty, in the order of the
// directory, each with its page.
func (im *Image) knownOf(id uint32) iter.Seq2[*knowledgePage, []byte] {
	return func(yield func(*knowledgePage, []byte) bool) {
		of := im.blocks.at(id / stacksPerPage)
		if of == nil {
			return
		}
		for i := range of.known {
			page := &of.known[i]
			record := page.records[id%stacksPerPage*recordBytes:][:recordBytes]
			if !allZero(record) && !yield(page, record) {
				return
			}
		}
	}
}

// Reallocs returns what became of the blocks that calls with this stack were given.
func (im *Image) Reallocs(id uint32) (sum Reallocs) {
	if r := im.reallocs[id]; r != nil {
		sum = *r
	}
	for page, record := range im.knownOf(id) {
		if page.kind == pageReallocs {
			sum.Add(reallocsOf(record))
		}
	}
	return sum
}

// shardTraits are those that one shard has of a stack, in whichever form.
type shardTraits struct {
	births, runs, longestRun uint64
	deaths, deathRuns        uint64
	firstMs, lastMs          uint32
	lastDeathMs              uint32
	// Candidates and leads.
	size, bornAfter, freedAfter, freedBy ballot
}

type ballot struct {
	candidate uint32
	lead      uint64
}

// words reads figures and votes that take four bytes each.
func words(b []byte) (word func(at int) uint64, vote func(at int) ballot) {
	word = func(at int) uint64 { return uint64(le.Uint32(b[at:])) }
	return word, func(at int) ballot { return ballot{le.Uint32(b[at:]), word(at + 4)} }
}

func (k *Knowledge) addShard(shard uint32, t *shardTraits) {
	if t.births > 0 {
		if k.Births == 0 || t.firstMs < k.FirstMs {
			k.FirstMs = t.firstMs
		}
		k.LastMs = max(k.LastMs, t.lastMs)
		k.Shards = append(k.Shards, shard)
	}
	k.Births += t.births
	k.Runs += t.runs
	k.LongestRun = max(k.LongestRun, t.longestRun)
	k.Size = addVote(k.Size, t.size, t.births)
	k.BornAfter = addVote(k.BornAfter, t.bornAfter, t.runs)

	k.Deaths += t.deaths
	k.DeathRuns += t.deathRuns
	k.FreedAfter = addVote(k.FreedAfter, t.freedAfter, t.deathRuns)
	k.FreedBy = addVote(k.FreedBy, t.freedBy, t.deaths)
	if t.deaths > 0 {
		k.LastDeathMs = max(k.LastDeathMs, t.lastDeathMs)
	}
}

func (k *Knowledge) addFewTraits(shard uint32, b []byte) {
	vote := func(at int) ballot { return ballot{le.Uint32(b[at:]), uint64(b[at+4])} }
	k.addShard(shard, &shardTraits{
		firstMs: le.Uint32(b[0:]), lastMs: le.Uint32(b[8:]), lastDeathMs: le.Uint32(b[12:]),
		births: uint64(b[4]), deaths: uint64(b[5]), runs: uint64(b[6]), deathRuns: uint64(b[7]),
		size: vote(16), bornAfter: vote(21), freedAfter: vote(26), freedBy: vote(31),
		longestRun: uint64(b[36]),
	})
	for i := 0; i < len(k.Lifetimes); i += 4 {
		packed := b[37+3*(i/4):]
		four := uint64(packed[0]) | uint64(packed[1])<<8 | uint64(packed[2])<<16
		for j := i; four != 0; j++ {
			k.Lifetimes[j] += four & 63
			four >>= 6
		}
	}
}

func (k *Knowledge) addWideTraits(shard uint32, b []byte) {
	word, vote := words(b)
	k.addShard(shard, &shardTraits{
		firstMs: le.Uint32(b[0:]), births: word(4), deaths: word(8), runs: word(12), deathRuns: word(16),
		lastMs: le.Uint32(b[20:]), lastDeathMs: le.Uint32(b[24:]),
		size: vote(28), bornAfter: vote(36), freedAfter: vote(44), freedBy: vote(52),
		longestRun: word(60),
	})
	for i := range k.Lifetimes {
		k.Lifetimes[i] += word(64 + 4*i)
	}
}

func (k *Knowledge) addTraits(shard uint32, b []byte) {
	word, vote := words(b)
	k.addShard(shard, &shardTraits{
		births: word(0), runs: word(4), longestRun: word(8), size: vote(12), bornAfter: vote(20),
		firstMs: le.Uint32(b[28:]), lastMs: le.Uint32(b[32:]),
		deaths: word(36), deathRuns: word(40), freedAfter: vote(44), freedBy: vote(52),
		lastDeathMs: le.Uint32(b[60:]),
	})
}

// addVote adds the vote of so many voters. A lead beyond them is damage, or was
// read while the process wrote.
func addVote(votes []Vote, b ballot, voters uint64) []Vote {
	if voters == 0 {
		return votes
	}
	return append(votes, Vote{Candidate: b.candidate, Lead: min(b.lead, voters), Voters: voters})
}

func (k *Knowledge) addLifetimes(b []byte, weight uint64) {
	for i := 0; i < len(k.Lifetimes); i += 4 {
		four := le.Uint64(b[2*i:])
		for j := i; four != 0; j++ {
			k.Lifetimes[j] += weight * (four & 0xffff)
			four >>= 16
		}
	}
}

func reallocsOf(b []byte) *Reallocs {
	return &Reallocs{
		Resized:     le.Uint64(b[0:]),
		Grown:       le.Uint64(b[8:]),
		Shrunk:      le.Uint64(b[16:]),
		Moved:       le.Uint64(b[24:]),
		BytesCopied: le.Uint64(b[32:]),
		Chained:     le.Uint64(b[40:]),
	}
}
