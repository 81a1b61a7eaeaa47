package symbolize

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
)

// The kernel maps the vdso into every process; no file holds it. That of this
// process is as good as the recorded one if it has the same build id.

const mostVdso = 1 << 20

func (m Module) isVdso() bool {
	return m.Path == "[vdso]" || strings.HasPrefix(m.Path, "linux-vdso.") || strings.HasPrefix(m.Path, "linux-gate.")
}

// ownVdso returns the vdso of this kernel if it is the module, else nil.
func (m Module) ownVdso() *object {
	if len(m.BuildID) == 0 {
		return nil
	}
	data := readVdso()
	if data == nil {
		return nil
	}
	o, err := newObject(&mapping{path: m.Path, data: data})
	if err != nil || !bytes.Equal(o.buildID, m.BuildID) {
		return nil
	}
	return o
}

func readVdso() []byte {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[len(fields)-1] != "[vdso]" {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, startErr := strconv.ParseUint(from, 16, 63)
		end, endErr := strconv.ParseUint(to, 16, 63)
		if startErr != nil || endErr != nil || end <= start || end-start > mostVdso {
			return nil
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil
		}
		defer memory.Close()
		data := make([]byte, end-start)
		if _, err := io.ReadFull(io.NewSectionReader(memory, int64(start), int64(len(data))), data); err != nil {
			return nil
		}
		return data
	}
	return nil
}
