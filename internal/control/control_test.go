package control

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A control file that is mapped already, and not written yet, is waited for.
func TestFindFileThatIsBeingMade(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), fmt.Sprintf("control-%d-1-0", os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(fileBytes); err != nil {
		t.Fatal(err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, fileBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	time.AfterFunc(30*time.Millisecond, func() {
		le := binary.LittleEndian
		le.PutUint32(memory[8:], version)
		le.PutUint64(memory[16:], uint64(os.Getpid()))
		le.PutUint32(memory[32:], pageBytes)
		copy(memory, magic)
	})
	process, err := Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	process.Close()
}
