package recording

import (
	"io"
	"maps"
	"slices"
)

// Region is a named stretch of work within another one, or within none.
type Region struct {
	Outer uint32 // region id, always smaller than the region's own; 0 none
	Name  string
}

// RegionFigures are what is known of a region beside the counters of the
// stacks within it, summed over all threads.
type RegionFigures struct {
	Entries    uint64
	Inside     uint64 // threads that were inside when the image was read, or at the end
	Frees      int64  // calls of free and delete made inside
	LiveBlocks int64  // by how much the thread's live blocks changed from the beginning to the end
	LiveBytes  int64
}

const (
	regionBytes     = 128
	regionNameStart = 8
	// regionsDeepest is how many regions within each other a reader follows:
	// as many as the recorder makes.
	regionsDeepest = 64
)

func (im *Image) readRegions(r io.ReaderAt) {
	damaged := 0
	im.read(r, sectionRegions, func(chunk []byte) {
		for ; len(chunk) >= regionBytes; chunk = chunk[regionBytes:] {
			item := chunk[:regionBytes]
			region := Region{Outer: le.Uint32(item), Name: nameIn(item[regionNameStart:], le.Uint32(item[4:]))}
			if uint64(region.Outer) >= uint64(im.FirstRegion)+uint64(len(im.regions)) {
				region.Outer = 0
				damaged++
			}
			im.regions = append(im.regions, region)
		}
	})
	if damaged > 0 {
		im.warn("damaged: regions that lie within later ones: %d", damaged)
	}
}

// nameIn returns the first n bytes of a field, or all of it.
func nameIn(field []byte, n uint32) string { return string(field[:min(uint64(n), uint64(len(field)))]) }

// Region returns a region by its id, which may lie in a parent's file.
func (im *Image) Region(id uint32) (Region, bool) {
	for im != nil && id < im.FirstRegion {
		im = im.Parent
	}
	if id == 0 || im == nil || uint64(id-im.FirstRegion) >= uint64(len(im.regions)) {
		return Region{}, false
	}
	return im.regions[id-im.FirstRegion], true
}

// RegionNames returns the names of a region and of those around it, the
// innermost first; none for region 0 and for one that no file has.
func (im *Image) RegionNames(id uint32) []string {
	var names []string
	for len(names) < regionsDeepest {
		region, ok := im.Region(id)
		if !ok {
			break
		}
		if !slices.Contains(names, region.Name) {
			names = append(names, region.Name)
		}
		if region.Outer >= id {
			break
		}
		id = region.Outer
	}
	return names
}

// EachRegion calls visit for every region that a thread of this image was in,
// in the order of region ids.
func (im *Image) EachRegion(visit func(id uint32, f *RegionFigures)) {
	for _, id := range slices.Sorted(maps.Keys(im.regionFigures)) {
		visit(id, im.regionFigures[id])
	}
}

// addRegions adds a page of the figures of 64 regions in one thread. Where
// the thread is inside, what it did since it entered is still to be added.
func (im *Image) addRegions(item directoryItem, page []byte) {
	for i := range uint32(stacksPerPage) {
		b := page[i*recordBytes:][:recordBytes]
		if allZero(b) {
			continue
		}
		id := item.block*stacksPerPage + i
		f := im.regionFigures[id]
		if f == nil {
			f = &RegionFigures{}
			im.regionFigures[id] = f
		}
		f.Entries += le.Uint64(b[0:])
		f.Frees += int64(le.Uint64(b[16:]))
		f.LiveBlocks += int64(le.Uint64(b[24:]))
		f.LiveBytes += int64(le.Uint64(b[32:]))
		if le.Uint64(b[8:]) != 1 || item.shard >= uint32(len(im.Shards)) {
			continue
		}
		shard := &im.Shards[item.shard]
		f.Inside++
		f.Frees += int64(shard.Frees - le.Uint64(b[40:]))
		f.LiveBlocks += shard.LiveBlocks - int64(le.Uint64(b[48:]))
		f.LiveBytes += shard.LiveBytes - int64(le.Uint64(b[56:]))
	}
}
