package compare

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReadProbe(t *testing.T) {
	folder := t.TempDir()
	write := func(pid, text string) {
		if err := os.WriteFile(filepath.Join(folder, "bound."+pid), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The executable is where its own jump to the library stands.
	write("7", `        7:	binding file /lib/libc.so.6 [0] to /bin/program [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
        7:	binding file /bin/program [0] to /opt/lib to/libx.so [0]: normal symbol `+"`free'"+` [GLIBC_2.2.5]
        7:	binding file /bin/program [0] to /opt/libx.so [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
`)
	write("8", "        8:	binding file /bin/other [0] to /bin/other [0]: normal symbol `malloc'\n")
	write("9", "nothing of interest\n")
	b, err := readProbe(folder, 7)
	if err != nil || !slices.Equal(b.first, []string{"/opt/libx.so"}) || len(b.processes) != 3 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, _ := readProbe(folder, 8); !slices.Equal(b.first, []string{"/bin/other"}) {
		t.Errorf("%+v", b)
	}
	if b, _ := readProbe(folder, 10); b.first != nil {
		t.Errorf("%+v", b)
	}
}
