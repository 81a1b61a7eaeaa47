package recording

import "bytes"

// Knowledge is what the recorder found to be usual of a stack, summed over all
// threads. Weights are estimates of how many calls or releases there were of
// a kind; see "Traits, lifetimes and reallocs" in format/recording.md.
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
	of := im.blocks.at(id / stacksPerPage)
	if of == nil {
		return false
	}
	for _, page := range of.known {
		record := page.records[id%stacksPerPage*recordBytes:][:recordBytes]
		if allZero(record) {
			continue
		}
		known = true
		switch page.kind {
		case pageTraits:
			k.addTraits(page.shard, record)
		case pageLifetimes:
			k.addLifetimes(record, 1)
		case pageLifetimeCarries:
			k.addLifetimes(record, 1<<16)
		case pageReallocs:
			k.addReallocs(record)
		}
	}
	return known
}

func (k *Knowledge) addTraits(shard uint32, b []byte) {
	births, runs := uint64(le.Uint32(b[0:])), uint64(le.Uint32(b[4:]))
	if births > 0 {
		first, last := le.Uint32(b[28:]), le.Uint32(b[32:])
		if k.Births == 0 || first < k.FirstMs {
			k.FirstMs = first
		}
		k.LastMs = max(k.LastMs, last)
		k.Shards = append(k.Shards, shard)
	}
	k.Births += births
	k.Runs += runs
	k.LongestRun = max(k.LongestRun, uint64(le.Uint32(b[8:])))
	k.Size = addVote(k.Size, b[12:], births)
	k.BornAfter = addVote(k.BornAfter, b[20:], runs)

	deaths, deathRuns := uint64(le.Uint32(b[36:])), uint64(le.Uint32(b[40:]))
	k.Deaths += deaths
	k.DeathRuns += deathRuns
	k.FreedAfter = addVote(k.FreedAfter, b[44:], deathRuns)
	k.FreedBy = addVote(k.FreedBy, b[52:], deaths)
	if deaths > 0 {
		k.LastDeathMs = max(k.LastDeathMs, le.Uint32(b[60:]))
	}
}

// addVote reads a vote of so many voters. A lead beyond them is damage, or was
// read while the process wrote.
func addVote(votes []Vote, b []byte, voters uint64) []Vote {
	if voters == 0 {
		return votes
	}
	return append(votes, Vote{Candidate: le.Uint32(b), Lead: min(uint64(le.Uint32(b[4:])), voters), Voters: voters})
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

func (k *Knowledge) addReallocs(b []byte) {
	k.Reallocs.Add(&Reallocs{
		Resized:     le.Uint64(b[0:]),
		Grown:       le.Uint64(b[8:]),
		Shrunk:      le.Uint64(b[16:]),
		Moved:       le.Uint64(b[24:]),
		BytesCopied: le.Uint64(b[32:]),
		Chained:     le.Uint64(b[40:]),
	})
}
