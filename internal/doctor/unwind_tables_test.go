package doctor

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

func TestUnwindTables(t *testing.T) {
	var source strings.Builder
	for i := range 100 {
		fmt.Fprintf(&source, "int f%d(int a) { return a * %d + %d; }\n", i, i, i)
	}
	source.WriteString(plain)
	for name, test := range map[string]struct {
		options []string
		want    bool
	}{
		"with":          {nil, true},
		"without":       {[]string{"-fno-asynchronous-unwind-tables", "-fno-unwind-tables"}, false},
		"stripped":      {[]string{"-s"}, true},
		"without, bare": {[]string{"-s", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"}, false},
		"not PIE":       {[]string{"-no-pie"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Inspect(build(t, source.String(), test.options...))
			if err != nil || p.UnwindTables != test.want {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// No option of a compiler gives Go's and Haskell's functions tables.
func TestNoTablesToAskFor(t *testing.T) {
	for want, p := range map[string]*Program{
		"whole: unwind tables are there":                                                                        {GoVersion: "go1.26", UnwindTables: true},
		"cut at Go's functions, which have no unwind tables":                                                    {GoVersion: "go1.26"},
		"cut at Haskell's functions, which have no unwind tables":                                               {OwnHeaps: []OwnHeap{haskell}},
		"cut at this program's own functions: no unwind tables (build without -fno-asynchronous-unwind-tables)": {OwnHeaps: []OwnHeap{nim}},
	} {
		if got := p.stacksLine(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Every cut and every changed byte of a real section is read or given up, never a crash.
func TestDamagedUnwindTables(t *testing.T) {
	object, err := elf.Open(build(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	defer object.Close()
	data, err := object.Section(".eh_frame").Data()
	if err != nil {
		t.Fatal(err)
	}
	if covered, readable := coveredBytes(data, binary.LittleEndian); covered == 0 || !readable {
		t.Errorf("%d bytes covered, readable %v", covered, readable)
	}
	for i := range data {
		coveredBytes(data[:i], binary.LittleEndian)
		for _, value := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			changed := append([]byte{}, data...)
			changed[i] = value
			coveredBytes(changed, binary.LittleEndian)
		}
	}
	if _, readable := coveredBytes([]byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}, binary.LittleEndian); readable {
		t.Error("a length beyond the end was believed")
	}
}
