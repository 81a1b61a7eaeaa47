package eventlog

import "mallow/internal/recording"

// Kind is what an event did.
type Kind uint8

const (
	Birth       Kind = 1 + iota // a call returned a block: Stack, Size, Address, Argument
	Death                       // a block was released: Caller, Old
	Move                        // realloc gave a block for a block: Stack, Size, Address, Old
	Failure                     // a call returned no block: Stack, Size
	NullRelease                 // free(NULL): Caller
)

// Event is one call.
type Event struct {
	Image *recording.Image
	Kind  Kind
	// Thread is the kernel's number of the thread.
	Thread uint32
	// Stack is the id of the stack that asked for memory, its innermost node
	// the function called; see recording.Image.StackNode.
	Stack uint32
	// Caller is the innermost node of the stack that released.
	Caller uint32
	// Size in bytes as requested; UnknownSize where the call failed before
	// anybody looked at it.
	Size    uint64
	Address uint64 // of the new block
	Old     uint64 // address of the block that was given
	// Argument is the alignment of the aligned functions, the count of calloc
	// (0: 1), the source of strdup and its like, else 0.
	Argument uint64
	// Stamp orders the events of a process, and where Log.Ordered holds those
	// of all processes: if one call had returned before another one began, its
	// stamp is not the greater one.
	Stamp uint64
	// Nanoseconds of the system's monotonic clock.
	Nanoseconds uint64
}
