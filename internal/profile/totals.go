package profile

import (
	"slices"

	"mallow/internal/recording"
)

// Origin tells on whose account a call was made: by the module that called
// the allocator.
type Origin uint8

const (
	OriginProgram Origin = iota
	OriginLibraries
	OriginLibc
	Origins = iota
)

var originNames = [Origins]string{"program", "libraries", "libc"}

func (o Origin) String() string { return originNames[o] }

// OriginNamed returns the origin of a name.
func OriginNamed(name string) (Origin, bool) {
	at := slices.Index(originNames[:], name)
	return Origin(max(0, at)), at >= 0
}

func originOf(kind recording.ModuleKind) Origin {
	switch kind {
	case recording.ModuleLibrary, recording.ModuleVdso:
		return OriginLibraries
	case recording.ModuleLibc:
		return OriginLibc
	}
	return OriginProgram
}

// Totals are figures of a process, of an origin or of all. Sizes are bytes.
type Totals struct {
	Mallocs, Callocs, Reallocs, Strdups, Wcsdups, Aligned, News uint64
	// Allocations is the sum of the above, and of calls whose function is not
	// known because the recorder had no room for their stack.
	Allocations uint64
	Frees       *uint64 // nil where nobody knows
	FreeNulls   uint64
	Bytes       uint64
	PeakBytes   uint64 // of several processes: their own peaks added
	LiveBlocks  uint64
	LiveBytes   uint64
	Temporary   uint64
	ShortLived  uint64
	Failed      uint64
}

func (t *Totals) addStack(f recording.Function, c *recording.Counters) {
	if f == recording.FreeNull {
		t.FreeNulls += c.Calls
		return
	}
	if group := t.group(f.Group()); group != nil {
		*group += c.Calls
	}
	t.Allocations += c.Calls
	t.Bytes += c.Bytes
	t.PeakBytes += uint64(max(0, c.PeakBytes))
	t.LiveBlocks += uint64(c.LiveBlocks())
	t.LiveBytes += uint64(c.LiveBytes())
	t.Temporary += c.Temporary
	t.ShortLived += c.ShortLived
	t.Failed += c.Failed
}

func (t *Totals) group(g recording.Group) *uint64 {
	switch g {
	case recording.GroupMalloc:
		return &t.Mallocs
	case recording.GroupCalloc:
		return &t.Callocs
	case recording.GroupRealloc:
		return &t.Reallocs
	case recording.GroupStrdup:
		return &t.Strdups
	case recording.GroupWcsdup:
		return &t.Wcsdups
	case recording.GroupAligned:
		return &t.Aligned
	case recording.GroupNew:
		return &t.News
	}
	return nil
}

// Add sums totals; peaks are added, too.
func (t *Totals) Add(o *Totals) {
	t.Mallocs += o.Mallocs
	t.Callocs += o.Callocs
	t.Reallocs += o.Reallocs
	t.Strdups += o.Strdups
	t.Wcsdups += o.Wcsdups
	t.Aligned += o.Aligned
	t.News += o.News
	t.Allocations += o.Allocations
	if o.Frees != nil {
		sum := *o.Frees
		if t.Frees != nil {
			sum += *t.Frees
		}
		t.Frees = &sum
	}
	t.FreeNulls += o.FreeNulls
	t.Bytes += o.Bytes
	t.PeakBytes += o.PeakBytes
	t.LiveBlocks += o.LiveBlocks
	t.LiveBytes += o.LiveBytes
	t.Temporary += o.Temporary
	t.ShortLived += o.ShortLived
	t.Failed += o.Failed
}
