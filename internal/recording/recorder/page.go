package recorder

// Kinds of counter pages.
const (
	pageBirths    = 1
	pageDeaths    = 2
	pageTraits    = 4
	pageLifetimes = 5
	pageCarries   = 6
	pageReallocs  = 7
	pageTimeline  = 8
	pageRegions   = 64
	pageWeights   = 65
)

// counterPage is a page that a thread has begun.
type counterPage struct {
	kind, shard, block uint32
	encode             func(b []byte, carry bool) []byte
}

func (t *Thread) addPage(kind, block uint32, encode func(b []byte, carry bool) []byte) {
	t.process.pages = append(t.process.pages, counterPage{kind, t.shard, block, encode})
}

// table has the records of a kind of one thread, in pages of 64.
type table[R any] struct{ pages []*[64]R }

// at returns a record. add is called with a page that had to be made for it.
func (t *table[R]) at(id uint32, add func(page *[64]R, block uint32)) *R {
	block := id / 64
	for uint32(len(t.pages)) <= block {
		t.pages = append(t.pages, nil)
	}
	if t.pages[block] == nil {
		t.pages[block] = new([64]R)
		add(t.pages[block], block)
	}
	return &t.pages[block][id%64]
}

func encode(page *[64]figures) func(b []byte, carry bool) []byte {
	return func(b []byte, _ bool) []byte {
		for i := range page {
			for _, v := range page[i] {
				b = le.AppendUint64(b, v)
			}
		}
		return b
	}
}
