package recording

import "os"

// Identity is what the header of an image file says of its process.
type Identity struct {
	PID        uint64
	Executable string
	Forked     bool // began as a copy of a recorded process, not by exec
}

// Identify reads the header of an image file alone.
func Identify(path string) (Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return Identity{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Identity{}, err
	}
	header, err := readHeader(f, info.Size())
	return Identity{header.PID, header.Executable, header.ParentFile != ""}, err
}
