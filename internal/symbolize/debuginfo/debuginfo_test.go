package debuginfo

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var allForms = []form{
	formAddr, formBlock2, formBlock4, formData2, formData4, formData8, formString, formBlock, formBlock1, formData1,
	formFlag, formSdata, formStrp, formUdata, formRefAddr, formRef1, formRef2, formRef4, formRef8, formRefUdata,
	formIndirect, formSecOffset, formExprloc, formFlagPresent, formStrx, formAddrx, formRefSup4, formStrpSup,
	formData16, formLineStrp, formRefSig8, formImplicitConst, formLoclistx, formRnglistx, formRefSup8, formStrx1,
	formStrx2, formStrx3, formStrx4, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGnuAddrIndex,
	formGnuStrIndex, formGnuRefAlt, formGnuStrpAlt,
}

// Reading a value and stepping over it must end at the same byte, alone and in
// a compiled abbreviation, or every later entry of the unit is misread.
func TestSkippingEqualsReading(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	encodings := []encoding{{2, 8, false}, {4, 8, false}, {5, 8, false}, {5, 8, true}, {4, 4, false}, {2, 4, true}}
	for range 20000 {
		data := make([]byte, 4000)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		u := &unit{data: &Data{}, encoding: encodings[random.IntN(len(encodings))]}
		var a abbrev
		for range 1 + random.IntN(6) {
			a.attrs = append(a.attrs, attrSpec{name: attrName, form: allForms[random.IntN(len(allForms))]})
		}
		a.compile(u.encoding)
		read, skipped, compiled := cursor{data: data}, cursor{data: data}, cursor{data: data}
		for _, s := range a.attrs {
			u.read(&read, s)
			u.skipForm(&skipped, s.form)
		}
		a.skip(&compiled, u.encoding)
		if read.bad != skipped.bad || read.bad != compiled.bad {
			t.Fatalf("forms %v: bad %v, %v, %v", a.attrs, read.bad, skipped.bad, compiled.bad)
		}
		if !read.bad && (read.off != skipped.off || read.off != compiled.off) {
			t.Fatalf("forms %v end at %d read, %d skipped, %d compiled", a.attrs, read.off, skipped.off, compiled.off)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 300, math.MaxUint32, math.MaxUint64} {
		c := cursor{data: binary.AppendUvarint(nil, v)}
		if got := c.uleb(); got != v || c.bad || c.off != len(c.data) {
			t.Errorf("uleb of %d: %d", v, got)
		}
	}
	for v, data := range map[int64][]byte{
		0: {0}, 2: {2}, -2: {0x7e}, 127: {0xff, 0}, -127: {0x81, 0x7f}, 128: {0x80, 1}, -128: {0x80, 0x7f}, -129: {0xff, 0x7e},
		math.MinInt64: {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f},
	} {
		c := cursor{data: data}
		if got := c.sleb(); got != v || c.bad {
			t.Errorf("sleb of %d: %d", v, got)
		}
	}
	for _, data := range [][]byte{nil, {0x80}, {0xff, 0xff}} {
		c := cursor{data: data}
		if c.uleb(); !c.bad {
			t.Errorf("%v is not bad", data)
		}
	}
}

func TestRangeIndexFindsAll(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var x rangeIndex
		var ranges []addrRange
		for i := range 1 + random.IntN(30) {
			start := random.Uint64N(100)
			r := addrRange{start, start + 1 + random.Uint64N(40)}
			ranges = append(ranges, r)
			x.add([]addrRange{r}, i)
		}
		x.seal()
		for addr := range uint64(150) {
			var want, got []int
			for i, r := range ranges {
				if r.contains(addr) {
					want = append(want, i)
				}
			}
			var starts []uint64
			x.find(addr, func(i int) bool {
				got = append(got, i)
				starts = append(starts, ranges[i].start)
				return false
			})
			if !slices.IsSortedFunc(starts, func(a, b uint64) int { return int(b) - int(a) }) {
				t.Fatalf("%d: starts %v are not innermost first", addr, starts)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%d: items %v, want %v", addr, got, want)
			}
		}
	}
}

// Rows that take no room may be claimed in any number.
func TestRowsWithoutContent(t *testing.T) {
	table := []byte{1, lnctDirectoryIndex, byte(formImplicitConst)}
	table = binary.AppendUvarint(table, math.MaxUint64)
	u := &unit{data: newData(Sections{}, nil), encoding: encoding{5, 8, false}}
	rows := 0
	u.readEntriesV5(&cursor{data: table}, func(string, uint64) { rows++ })
	if rows != 0 {
		t.Errorf("%d rows", rows)
	}
}

// Many entries may share one long list; the work is bounded, not the number.
func TestWorkIsBounded(t *testing.T) {
	list := make([]byte, 1<<20)
	for i := range list {
		list[i] = 1 + byte(i%16/8) // pairs of a start and an end, never 0 and 0
	}
	d := newData(Sections{Ranges: list}, nil)
	u := &unit{data: d, encoding: encoding{4, 8, false}}
	total := 0
	for range 1000 {
		total += len(u.rangeList(value{form: formSecOffset}))
	}
	if !d.Exhausted() || total > len(list) {
		t.Errorf("%d ranges were read from %d bytes", total, len(list))
	}
}

func TestSourcePath(t *testing.T) {
	for _, test := range [][4]string{
		{"/build", "src", "a.c", "/build/src/a.c"},
		{"/build", "../src", "./a.c", "/src/a.c"},
		{"/build", "/usr/include", "a.h", "/usr/include/a.h"},
		{"/build", "", "a.c", "/build/a.c"},
		{"/build", "src", "/abs/a.c", "/abs/a.c"},
		{"", "src", "a.c", "src/a.c"},
		{"", "", "a.c", "a.c"},
		{"/build", "src", "", ""},
	} {
		if got := sourcePath(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("%q: %q", test, got)
		}
	}
}

func FuzzPackage(f *testing.F) {
	index := make([]byte, 16+2*(8+4)+4+8)
	binary.LittleEndian.PutUint32(index, 5)
	binary.LittleEndian.PutUint32(index[4:], 1)
	binary.LittleEndian.PutUint32(index[8:], 1)
	binary.LittleEndian.PutUint32(index[12:], 2)
	binary.LittleEndian.PutUint64(index[16:], 42)
	binary.LittleEndian.PutUint32(index[32:], 1)
	binary.LittleEndian.PutUint32(index[40:], packageInfo)
	binary.LittleEndian.PutUint32(index[48:], 10)
	f.Add(index, uint64(42))
	f.Fuzz(func(t *testing.T, index []byte, id uint64) {
		s, _ := Sections{Info: make([]byte, 100)}.Package(index, id)
		if len(s.Info) > 100 {
			t.Errorf("%d bytes", len(s.Info))
		}
	})
}
