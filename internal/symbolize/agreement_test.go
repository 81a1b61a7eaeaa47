package symbolize

import (
	"testing"
)

// Where addr2line of binutils 2.40 is not asked it is known to be wrong: it
// takes 64-bit DWARF from GNU as for 32-bit, misses inlined calls in DWARF 5 of
// clang and with type units, and shows "<artificial>" as the file after LTO.
// eu-addr2line loses inlined calls after LTO and in Rust, and ends with an error
// over programs of clang.

// most bounds the addresses asked of one program; the C and C++ programs of
// testdata are below it and are compared at every address of .text.
const most = 20000

func TestAgreesWithOtherTools(t *testing.T) {
	tests := []struct {
		name     string
		compiler string
		source   string
		flags    []string
		oracles  []oracle
	}{
		{"gcc DWARF 4", "gcc", "nested.c", []string{"-O2", "-gdwarf-4"}, []oracle{llvm, binutils, libdw}},
		{"gcc DWARF 5", "gcc", "nested.c", []string{"-O2", "-gdwarf-5"}, []oracle{llvm, binutils, libdw}},
		{"gcc -O0", "gcc", "nested.c", []string{"-O0", "-g"}, []oracle{llvm, binutils, libdw}},
		{"gcc 64-bit DWARF", "gcc", "nested.c", []string{"-O2", "-g", "-gdwarf64"}, []oracle{llvm, libdw}},
		{"gcc -gz", "gcc", "nested.c", []string{"-O2", "-g", "-gz=zlib"}, []oracle{llvm, binutils, libdw}},
		{"gcc .zdebug", "gcc", "nested.c", []string{"-O2", "-gdwarf-4", "-gz=zlib-gnu"}, []oracle{binutils, libdw}},
		{"gcc -flto", "gcc", "nested.c", []string{"-O2", "-g", "-flto"}, []oracle{llvm}},
		{"g++ DWARF 4", "g++", "inline.cc", []string{"-O2", "-gdwarf-4"}, []oracle{llvm, places, libdw}},
		{"g++ DWARF 5", "g++", "inline.cc", []string{"-O2", "-gdwarf-5"}, []oracle{llvm, places, libdw}},
		{"g++ -O3 no PIE", "g++", "inline.cc", []string{"-O3", "-g", "-no-pie", "-fno-pie"}, []oracle{llvm, places, libdw}},
		{"g++ type units", "g++", "inline.cc", []string{"-O2", "-g", "-fdebug-types-section"}, []oracle{llvm, libdw}},
		{"g++ sections", "g++", "inline.cc", []string{"-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"}, []oracle{llvm, places, libdw}},
		{"clang DWARF 4", "clang", "nested.c", []string{"-O2", "-gdwarf-4"}, []oracle{llvm, binutils}},
		{"clang DWARF 5", "clang", "nested.c", []string{"-O2", "-gdwarf-5"}, []oracle{llvm}},
		{"clang++ DWARF 4", "clang++", "inline.cc", []string{"-O2", "-gdwarf-4"}, []oracle{llvm, places}},
		{"clang++ DWARF 5", "clang++", "inline.cc", []string{"-O2", "-gdwarf-5"}, []oracle{llvm}},
		{"clang++ -gz", "clang++", "inline.cc", []string{"-O2", "-g", "-gz=zlib"}, []oracle{llvm}},
		{"clang++ only lines", "clang++", "inline.cc", []string{"-O2", "-gline-tables-only"}, []oracle{llvm}},
		{"rustc", "/usr/bin/rustc", "shapes.rs", []string{"-O", "-g"}, []oracle{llvm}},
		{"rustc v0 names", "/usr/bin/rustc", "shapes.rs", []string{"-O", "-g", "-Csymbol-mangling-version=v0"}, []oracle{llvm}},
		{"go", "go", "shapes.go", []string{"build", "-buildvcs=false"}, []oracle{llvmPlaces}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			binary := compile(t, test.compiler, test.source, test.flags...)
			addrs := codeAddresses(t, binary, most)
			ours, warnings := ask(t, binary, addrs)
			if len(warnings) > 0 {
				t.Errorf("warnings: %q", warnings)
			}
			for _, o := range test.oracles {
				checkAgreement(t, o, binary, addrs, ours)
			}
		})
	}
}
