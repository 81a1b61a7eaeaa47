package eventlog

import "encoding/binary"

// The numbers of format/recording.md, "The log".
const (
	magic       = "MALLOWLG"
	major       = 1
	headerBytes = 256 // of block 0, as far as it is in use
	blockHeader = 64

	leastBlockBytes = 4 << 10
	mostBlockBytes  = 1 << 20
	mostStreams     = 1 << 15

	flagTrimmed = 1 << 0

	places     = 256
	longestAge = 255
)

// Clocks.
const (
	clockCycles  = 1
	clockCounter = 2
)

// Kinds of records.
const (
	recordControl = iota
	recordBirth
	recordDeath
	recordMove
	recordFailure
	recordNullRelease
	recordBirthWithArgument
)

// Kinds of control records.
const (
	controlClock  = 1
	controlThread = 2
)

// UnknownSize is the size of a failed call that the recorder did not learn.
const UnknownSize = ^uint64(0)

var le = binary.LittleEndian
