package profile

import (
	"mallow/internal/recording"
)

// numberer finds the places of the nodes of an image, one after the other in
// the order of the file. Nearly all are return addresses in modules: those it
// finds in a table of its own, several times faster than by the maps of places.
type numberer struct {
	places  *places
	image   *recording.Image
	code    []code      // by the extra of nodes
	table   []placeSlot // open addressing; a power of two
	entries int
}

// code is where a module's places begin.
type code struct {
	known  bool
	module int32 // of places, less than 0 where there is none
	bias   uint64
}

type placeSlot struct {
	key   uint64 // short; noSlot for a free one
	place int32
}

const (
	noSlot     = ^uint64(0)
	leastSlots = 1 << 10
	mostCode   = 1 << 16 // modules of an image beyond these are looked up one by one
)

func newNumberer(p *places, im *recording.Image) *numberer {
	n := &numberer{places: p, image: im}
	n.grow(leastSlots)
	return n
}

// of returns the place of a node.
func (n *numberer) of(of *recording.Node) int32 {
	tag := of.Tag()
	if tag == recording.TagFunction || tag == recording.TagTruncated || tag == recording.TagHead {
		return endPlace
	}
	key, ok := n.key(tag, of)
	if !ok {
		return n.places.find(*of, n.image)
	}
	slot := n.slot(key)
	if slot.key == noSlot {
		if n.entries++; n.entries > len(n.table)/2 {
			n.grow(2 * len(n.table))
			slot = n.slot(key)
		}
		*slot = placeSlot{key, n.places.find(*of, n.image)}
	}
	return slot.place
}

// key makes one number of what tells places apart; false for what does not fit
// or is rare.
func (n *numberer) key(tag recording.Tag, of *recording.Node) (uint64, bool) {
	if tag > recording.TagInterrupted || of.Extra == 0 || of.Extra >= mostCode {
		return 0, false
	}
	for int(of.Extra) >= len(n.code) {
		n.code = append(n.code, code{})
	}
	c := &n.code[of.Extra]
	if !c.known {
		*c = code{known: true, module: noModule}
		if m := n.image.Module(of.Extra); m != nil {
			c.module, c.bias = n.places.module(m), m.Bias
		}
	}
	address := of.Value() - c.bias
	if tag == recording.TagReturn {
		address--
	}
	return placeKey{c.module, address}.short()
}

// slot returns that of a key, or the free one where it belongs.
func (n *numberer) slot(key uint64) *placeSlot {
	mask := uint64(len(n.table) - 1)
	for at := key * 0x9e3779b97f4a7c15 >> 32; ; at++ {
		if slot := &n.table[at&mask]; slot.key == key || slot.key == noSlot {
			return slot
		}
	}
}

func (n *numberer) grow(slots int) {
	old := n.table
	n.table = make([]placeSlot, slots)
	for i := range n.table {
		n.table[i].key = noSlot
	}
	for _, slot := range old {
		if slot.key != noSlot {
			*n.slot(slot.key) = slot
		}
	}
}
