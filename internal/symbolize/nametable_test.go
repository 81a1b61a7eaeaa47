package symbolize

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func someNames() map[uint64][]Frame {
	return map[uint64][]Frame{
		0x10:       {{Function: "push", File: "stl_vector.h", Line: 7, Inlined: true}, {Function: "main", File: "a.cc", Line: 3}},
		0x11:       {{Function: "push", File: "stl_vector.h", Line: 7, Inlined: true}, {Function: "main", File: "a.cc", Line: 3}},
		0x0:        {{Function: "a\nb\x1b[31m\xff"}},
		^uint64(0): {{Function: "last", Line: 1<<32 - 1}},
	}
}

func TestNameTable(t *testing.T) {
	names := someNames()
	b := encodeNames(names)
	table, err := newNameTable(b)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range names {
		for range 2 {
			if got, ok := table.find(addr); !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("%#x: %v, want %v", addr, got, want)
			}
		}
	}
	for _, addr := range []uint64{1, 0xf, 0x12, ^uint64(1)} {
		if got, ok := table.find(addr); ok {
			t.Errorf("%#x: %v", addr, got)
		}
	}
	if again := encodeNames(someNames()); !bytes.Equal(b, again) {
		t.Error("equal names give other bytes")
	}
	if table, err := newNameTable(encodeNames(nil)); err != nil || table.len() != 0 {
		t.Errorf("empty table: %v", err)
	}
}

// Whatever the bytes of a table are, it is refused or can be read.
func TestDamagedNameTable(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	sound := encodeNames(someNames())
	for n := range sound {
		if _, err := newNameTable(sound[:n]); err == nil {
			t.Errorf("cut to %d bytes: taken", n)
		}
	}
	for range 20000 {
		b := bytes.Clone(sound)
		for range 1 + random.IntN(4) {
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		}
		readTable(b)
	}
}

func readTable(b []byte) {
	table, err := newNameTable(b)
	if err != nil {
		return
	}
	for i := range table.len() {
		table.framesAt(i)
		table.find(table.address(i))
	}
}

func FuzzSymbolFile(f *testing.F) {
	var b bytes.Buffer
	if err := writeSymbols(&b, []moduleHead{{Path: "/x"}}, [][]byte{encodeNames(someNames())}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(encodeNames(someNames()))
	f.Fuzz(func(_ *testing.T, b []byte) {
		readTable(b)
		modules, _ := readSymbols(b)
		for _, m := range modules {
			m.key()
			m.table.find(0x10)
		}
	})
}

func sameNames(a, b moduleNames) bool {
	return a.key() == b.key() && bytes.Equal(a.table.texts, b.table.texts) && bytes.Equal(a.table.frames, b.table.frames) &&
		bytes.Equal(a.table.first, b.table.first) && bytes.Equal(a.table.addresses, b.table.addresses)
}

func TestTooManyInlined(t *testing.T) {
	deep := make([]Frame, mostInlined+5)
	for i := range deep {
		deep[i] = Frame{Function: "f", Inlined: true}
	}
	table, err := newNameTable(encodeNames(map[uint64][]Frame{1: deep}))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := table.find(1); len(got) != mostInlined {
		t.Errorf("%d frames", len(got))
	}
}

func TestSymbolFile(t *testing.T) {
	heads := []moduleHead{{Path: "/b", BuildID: "0102", Lines: true, Warnings: []string{"w"}}, {Path: "/a", Size: 3, ModTimeNs: 4}}
	tables := [][]byte{encodeNames(someNames()), encodeNames(map[uint64][]Frame{2: {{Function: "two"}}})}
	var b, turned bytes.Buffer
	if err := writeSymbols(&b, heads, tables); err != nil {
		t.Fatal(err)
	}
	if err := writeSymbols(&turned, []moduleHead{heads[1], heads[0]}, [][]byte{tables[1], tables[0]}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), turned.Bytes()) {
		t.Error("the order of the modules shows")
	}
	modules, err := readSymbols(b.Bytes())
	if err != nil || len(modules) != 2 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	if modules[0].key() != (moduleKey{"/a", "", 3, 4}) || modules[1].key() != (moduleKey{"/b", "\x01\x02", 0, 0}) {
		t.Errorf("keys %v, %v", modules[0].key(), modules[1].key())
	}
	if got, _ := modules[0].table.find(2); got[0].Function != "two" {
		t.Errorf("got %v", got)
	}
	for n := range b.Len() {
		if _, err := readSymbols(b.Bytes()[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes: taken", n, b.Len())
		}
	}
	for i := range b.Len() {
		damaged := bytes.Clone(b.Bytes())
		damaged[i] ^= 0x10
		// Some bits of how the content is compressed do not matter.
		got, err := readSymbols(damaged)
		if err == nil && i >= symbolHead && !slices.EqualFunc(got, modules, sameNames) {
			t.Errorf("byte %d changed: taken, with other names", i)
		}
	}
	newer := bytes.Clone(b.Bytes())
	newer[8]++
	if _, err := readSymbols(newer); !errors.Is(err, ErrNewerSymbols) || !strings.Contains(fmt.Sprint(err), "symbols 2") {
		t.Errorf("newer version: %v", err)
	}
}
