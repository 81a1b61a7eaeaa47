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
        7:	binding file /opt/libx.so [0] to /bin/program [0]: normal symbol `+"`malloc'"+`
        7:	binding file /opt/libx.so [0] to /opt/libx.so [0]: normal symbol `+"`malloc'"+`
        7:	binding file /bin/program [0] to /bin/program [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
        7:	initialize program: /bin/program
        7:	binding file /bin/program [0] to /opt/lib to/libx.so [0]: normal symbol `+"`free'"+` [GLIBC_2.2.5]
        7:	binding file /bin/program [0] to /opt/libx.so [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
`)
	write("8", "        8:	binding file /bin/other [0] to /bin/other [0]: normal symbol `malloc'\n")
	write("9", "nothing of interest\n")
	// A process that executes another program with another malloc.
	write("11", `        11:	binding file /lib/libc.so.6 [0] to /opt/libx.so [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
        11:	initialize program: env
        11:	binding file env [0] to /opt/libx.so [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
        11:	binding file env [0] to /opt/libx.so [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
        11:	binding file /lib/libc.so.6 [0] to /lib/libc.so.6 [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
        11:	binding file ./program [0] to /lib/libc.so.6 [0]: normal symbol `+"`malloc'"+` [GLIBC_2.2.5]
`)
	same := func(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal) }
	b, err := readProbe(folder, 7)
	if err != nil || !same(b.first, [][]string{{"/opt/libx.so"}}) || len(b.programs) != 4 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, _ := readProbe(folder, 8); !same(b.first, [][]string{{"/bin/other"}}) {
		t.Errorf("%+v", b)
	}
	if b, _ := readProbe(folder, 11); !same(b.first, [][]string{{"/opt/libx.so"}, {"/lib/libc.so.6"}}) {
		t.Errorf("%+v", b)
	}
	if b, _ := readProbe(folder, 10); b.first != nil {
		t.Errorf("%+v", b)
	}
}
