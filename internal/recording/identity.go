package recording

// Identity is what the header of an image file says of its process.
type Identity struct {
	PID        uint64
	ParentPID  uint64
	Executable string
	Forked     bool // began as a copy of a recorded process, not by exec
}

// Reaper is the process that becomes the parent of those whose own has ended,
// such as daemons.
const Reaper = 1

// Identify reads the header of an image file alone.
func Identify(path string) (Identity, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return Identity{}, err
	}
	defer f.Close()
	header, err := readHeader(f, size)
	return Identity{header.PID, header.ParentPID, header.Executable, header.ParentFile != ""}, err
}
