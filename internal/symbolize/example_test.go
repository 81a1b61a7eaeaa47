package symbolize_test

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mallow/internal/symbolize"
)

// buildNested builds testdata/nested.c and returns the path and the address of
// scaled, into which the compiler puts build and push.
func buildNested() (binary string, scaled elf.Symbol, remove func(), err error) {
	dir, err := os.MkdirTemp("", "symbolize")
	if err != nil {
		return "", scaled, nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	binary = filepath.Join(dir, "nested")
	if out, err := exec.Command("gcc", "-O2", "-g", "-o", binary, "testdata/nested.c").CombinedOutput(); err != nil {
		remove()
		return "", scaled, nil, fmt.Errorf("%w: %s", err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		remove()
		return "", scaled, nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	for _, s := range symbols {
		if s.Name == "scaled" {
			scaled = s
		}
	}
	return binary, scaled, remove, err
}

func Example() {
	binary, scaled, remove, err := buildNested()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()

	s := symbolize.New(symbolize.Options{})
	defer s.Close()
	module := symbolize.Module{Path: binary}
	deepest := []symbolize.Frame{}
	for addr := scaled.Value; addr < scaled.Value+scaled.Size; addr++ {
		if frames := s.Frames(module, []uint64{addr})[0]; len(frames) > len(deepest) {
			deepest = frames
		}
	}
	for _, f := range deepest {
		fmt.Println(f.Function, filepath.Base(f.File), "inlined:", f.Inlined)
	}
	fmt.Println("warnings:", len(s.Warnings()))
	// Output:
	// push nested.c inlined: true
	// build nested.c inlined: true
	// scaled nested.c inlined: false
	// warnings: 0
}

// BenchmarkFrames asks a fresh Symbolizer for all addresses of one function.
func BenchmarkFrames(b *testing.B) {
	binary, scaled, remove, err := buildNested()
	if err != nil {
		b.Fatal(err)
	}
	defer remove()
	var addrs []uint64
	for addr := scaled.Value; addr < scaled.Value+scaled.Size; addr++ {
		addrs = append(addrs, addr)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := symbolize.New(symbolize.Options{})
		s.Frames(symbolize.Module{Path: binary}, addrs)
		s.Close()
	}
}
