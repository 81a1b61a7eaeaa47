package recording

// The numbers of format/recording.md. The page is the specification; names
// here follow its names.
const (
	magic        = "MALLOWRC"
	major        = 5 // the newest that is read
	headerBytes  = 4096
	sectionTable = 1024
	incompleteAt = 24

	majorCompressed = 2
	majorCounts     = 3
	sectionEntry    = 64
	maxSections     = (headerBytes - sectionTable) / sectionEntry
)

// Header flags.
const (
	FlagSymbolic = 1 << 0
	FlagPacked   = 1 << 1
)

// Values of Header.Log: whether an ordered log was asked for, and is there.
const (
	NoLog = iota
	LogKept
	LogRefused
)

// Bits of Header.Incomplete.
const (
	IncompleteDisk = 1 << iota
	IncompleteNodes
	IncompleteStacks
	IncompleteShards
	IncompleteModules
	IncompleteRegions
	IncompleteUnits
	IncompleteCPUSamples
	IncompleteOwnMalloc
)

type sectionKind uint32

const (
	sectionNodes sectionKind = 1 + iota
	sectionStacks
	sectionShards
	sectionCounterPages
	sectionPageDirectory
	sectionModules
	sectionStrings
	sectionSymbolicFrames

	sectionRegions    sectionKind = 11
	sectionUnits      sectionKind = 12
	sectionSteps      sectionKind = 13
	sectionFrames     sectionKind = 14
	sectionCPUSamples sectionKind = 10
	sectionSampling   sectionKind = 20
)

// itemBytes is the size of one item of each known section.
var itemBytes = map[sectionKind]uint32{
	sectionNodes:          16,
	sectionStacks:         4,
	sectionShards:         512,
	sectionCounterPages:   4096,
	sectionPageDirectory:  8,
	sectionModules:        128,
	sectionStrings:        1,
	sectionSymbolicFrames: 32,
	sectionRegions:        regionBytes,
	sectionUnits:          unitBytes,
	sectionSteps:          stepBytes,
	sectionFrames:         frameBytes,
	sectionCPUSamples:     cpuSampleBytes,
	sectionSampling:       samplingBytes,
}

var sectionNames = map[sectionKind]string{
	sectionNodes:          "nodes",
	sectionStacks:         "stacks",
	sectionShards:         "shards",
	sectionCounterPages:   "counter pages",
	sectionPageDirectory:  "page directory",
	sectionModules:        "modules",
	sectionStrings:        "strings",
	sectionSymbolicFrames: "symbolic frames",
	sectionRegions:        "regions",
	sectionUnits:          "units",
	sectionSteps:          "steps",
	sectionFrames:         "frames",
	sectionCPUSamples:     "CPU samples",
	sectionSampling:       "sampling",
}

// Tag says what the value of a node means.
type Tag uint8

const (
	TagReturn      Tag = iota // a return address: the call is at the address - 1
	TagInterrupted            // a frame that a signal interrupted: the address itself
	TagFunction               // the innermost node: the function called
	TagTruncated              // the stack goes on outwards, but could not be unwound
	TagSymbolic               // index into the symbolic frames
	TagHead                   // no node: the head of a path, which takes the place of one
)

// NoUnwindInformation is the reason of a TagTruncated node: the frame inside
// of it lies in code that nobody described.
const NoUnwindInformation = 1

// Function is the number of the allocating function that was called.
type Function uint8

const (
	Malloc Function = 1 + iota
	Calloc
	Realloc
	Reallocarray
	Strdup
	Strndup
	Wcsdup
	Memalign
	AlignedAlloc
	PosixMemalign
	Valloc
	Pvalloc
	New
	NewArray
	NewNothrow
	NewArrayNothrow
	NewAligned
	NewArrayAligned
	NewAlignedNothrow
	NewArrayAlignedNothrow
	FreeNull
)

// Group is the family of functions that a report counts as one.
type Group uint8

const (
	GroupUnknown Group = iota
	GroupMalloc
	GroupCalloc
	GroupRealloc
	GroupStrdup
	GroupWcsdup
	GroupAligned
	GroupNew
	GroupFreeNull
	Groups = iota
)

// Group returns the family of f, GroupUnknown for a number that is none.
func (f Function) Group() Group {
	switch {
	case f == Malloc:
		return GroupMalloc
	case f == Calloc:
		return GroupCalloc
	case f == Realloc || f == Reallocarray:
		return GroupRealloc
	case f == Strdup || f == Strndup:
		return GroupStrdup
	case f == Wcsdup:
		return GroupWcsdup
	case f >= Memalign && f <= Pvalloc:
		return GroupAligned
	case f >= New && f <= NewArrayAlignedNothrow:
		return GroupNew
	case f == FreeNull:
		return GroupFreeNull
	}
	return GroupUnknown
}

var functionNames = [...]string{
	Malloc: "malloc", Calloc: "calloc", Realloc: "realloc", Reallocarray: "reallocarray",
	Strdup: "strdup", Strndup: "strndup", Wcsdup: "wcsdup",
	Memalign: "memalign", AlignedAlloc: "aligned_alloc", PosixMemalign: "posix_memalign",
	Valloc: "valloc", Pvalloc: "pvalloc",
	New: "new", NewArray: "new[]", NewNothrow: "new nothrow", NewArrayNothrow: "new[] nothrow",
	NewAligned: "new aligned", NewArrayAligned: "new[] aligned",
	NewAlignedNothrow: "new aligned nothrow", NewArrayAlignedNothrow: "new[] aligned nothrow",
	FreeNull: "free(NULL)",
}

func (f Function) String() string {
	if int(f) < len(functionNames) && functionNames[f] != "" {
		return functionNames[f]
	}
	return "unknown function"
}

// FunctionNamed returns the function whose String is name, 0 for none.
func FunctionNamed(name string) Function {
	for f, known := range functionNames {
		if known == name && known != "" {
			return Function(f)
		}
	}
	return 0
}

// ModuleKind tells whose code a module is.
type ModuleKind uint32

const (
	ModuleExecutable ModuleKind = iota
	ModuleLibrary
	ModuleLibc
	ModuleVdso
)

// Kinds of counter pages. In place of counts older recorders wrote births and
// deaths, and in place of few and wide traits those with lifetimes; so do
// importers.
const (
	pageUnused = iota
	pageBirths
	pageDeaths
	_
	pageTraits
	pageLifetimes
	pageLifetimeCarries
	pageReallocs
	pageTimeline
	pageCounts
	pageRareCounts
	pageFewTraits
	pageWideTraits
	pageNumberedReallocs

	pageRegions = 64
	pageWeights = 65
)

const (
	pageBytes     = 4096
	recordBytes   = 64
	stacksPerPage = pageBytes / recordBytes

	wideTraitsBytes   = 192
	wideTraitsPerPage = pageBytes / wideTraitsBytes
)
