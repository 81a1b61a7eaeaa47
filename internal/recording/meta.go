package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// Meta is meta.json: what the CLI knows of the run.
type Meta struct {
	Version       int       `json:"version"`
	Command       []string  `json:"command,omitempty"`
	Started       time.Time `json:"started"`
	Ended         time.Time `json:"ended"`
	ExitStatus    int       `json:"exit_status"`
	Signal        int       `json:"signal"`
	PID           uint64    `json:"pid,omitempty"` // of the first process
	Mallow        string    `json:"mallow"`
	UserSeconds   float64   `json:"user_seconds"`
	SystemSeconds float64   `json:"system_seconds"`
	// Unwaited are recorded processes whose times are in neither: they still
	// ran, or their parent had ended before them or ignored SIGCHLD, or they
	// descend from such.
	Unwaited []uint64 `json:"unwaited,omitempty"`
	Notes    []string `json:"notes,omitempty"` // what the recording does not hold, as asked for
	// Joined tells that the program ran already when it was recorded, and that
	// nobody knows how it ended, or whether it did.
	Joined bool `json:"joined,omitempty"`

	// Imported is nil unless the recording was made from another tool's file.
	Imported *Imported `json:"imported,omitempty"`

	Unrecorded []UnrecordedProgram `json:"unrecorded,omitempty"`
	// Exits are how processes of the family ended, as far as mallow heard.
	Exits []ProcessExit `json:"exits,omitempty"`
}

// Imported tells what a recording was made from.
type Imported struct {
	Format    string     `json:"format"`         // one of those below
	File      string     `json:"file,omitempty"` // its name, without folders
	MemoryLog *MemoryLog `json:"memory_log,omitempty"`
}

// Formats of files that are imported.
const (
	ImportedMemoryLog = "curl memory log"
	ImportedHeaptrack = "heaptrack"
	ImportedProfile   = "pprof"
)

// MemoryLog is what curl's memanalyze counts in a memory log, by its own rules.
// What else it says of the log stands in the files MemanalyzeLines and
// Memanalyze2017Lines of the recording, which are not there if it is nothing.
type MemoryLog struct {
	Mallocs      uint64 `json:"mallocs"`
	Reallocs     uint64 `json:"reallocs"`
	Callocs      uint64 `json:"callocs"`
	Strdups      uint64 `json:"strdups"`
	Wcsdups      uint64 `json:"wcsdups"`
	Frees        uint64 `json:"frees"`
	Sockets      uint64 `json:"sockets"`
	MaximumBytes uint64 `json:"maximum_bytes"`
	TotalBytes   uint64 `json:"total_bytes"`
}

// Files of a recording that was made from curl's memory log.
const (
	MemanalyzeLines     = "memanalyze.txt"
	Memanalyze2017Lines = "memanalyze-2017.txt"
)

// ProcessExit is how a process ended.
type ProcessExit struct {
	PID    uint64 `json:"pid"`
	Status int    `json:"status,omitempty"`
	Signal int    `json:"signal,omitempty"`
}

// UnrecordedProgram is a program that processes of the recording executed and
// that left nothing in it, as far as mallow saw.
type UnrecordedProgram struct {
	Executable string   `json:"executable"` // "" where not even the name was seen
	Reason     string   `json:"reason,omitempty"`
	Processes  int      `json:"processes"`
	PIDs       []uint64 `json:"pids"`                 // the first of them
	Parent     uint64   `json:"parent_pid,omitempty"` // of the first of them
}

// ProgramName is what people call an executable, "" being one that was not seen.
func ProgramName(executable string) string {
	if executable == "" {
		return "(unknown)"
	}
	return path.Base(executable)
}

const (
	metaMajor = 1
	metaLimit = 16 << 20
)

// readMeta returns nil without an error when there is no meta.json.
func (rec *Recording) readMeta() (*Meta, error) {
	f, err := rec.OpenFile(metaName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("meta.json: left out: %w", err)
	}
	defer f.Close()
	if f.Size() > metaLimit {
		return nil, errors.New("meta.json: no readable file, left out")
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("meta.json: left out: %w", err)
	}
	var of struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(b, &of) == nil && of.Version > metaMajor {
		return nil, fmt.Errorf("meta.json: %w (version %d, this one reads %d)", ErrNewerVersion, of.Version, metaMajor)
	}
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("meta.json: left out: %w", err)
	}
	return &m, nil
}
