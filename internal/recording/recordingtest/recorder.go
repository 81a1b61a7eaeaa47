package recordingtest

import (
	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
)

// What tests make recordings of.
type (
	Image   = recorder.Image
	Layout  = recorder.Layout
	Module  = recorder.Module
	Frame   = recorder.Frame
	Stack   = recorder.Stack
	Process = recorder.Process
	Thread  = recorder.Thread
	Block   = recorder.Block
)

const (
	Packed = recorder.Packed
	Sparse = recorder.Sparse
)

// NewImage begins the image of a process without a parent's file.
func NewImage(pid uint64, executable string) *Image { return recorder.NewImage(pid, executable) }

// NewProcess begins to record a process into an image.
func NewProcess(im *Image) *Process { return recorder.NewProcess(im) }

// Call is the frame of a call that returns to address.
func Call(module uint32, address uint64) Frame { return recorder.Call(module, address) }

// Truncated stands before the outermost frame that could be unwound.
func Truncated(reason uint64) Frame {
	return Frame{Tag: recording.TagTruncated, Value: reason}
}
