package compare

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/launch"
)

// Allocator is a malloc that can be put under a program.
type Allocator struct {
	Name    string
	Library string // a shared library, absolute
	// Given tells that the user named it: that it fails is an error then.
	Given bool
}

// families are the shared libraries that replace malloc, by the beginning of
// their names. Variants for debugging are none of them.
var families = []struct{ stem, name string }{
	{"libjemalloc.so", "jemalloc"},
	{"libmimalloc.so", "mimalloc"},
	{"libtcmalloc_minimal.so", "tcmalloc-minimal"},
	{"libtcmalloc.so", "tcmalloc"},
	{"libtbbmalloc_proxy.so", "tbbmalloc"},
	{"librpmalloc.so", "rpmalloc"},
	{"librpmallocwrap.so", "rpmalloc"},
	{"libsnmallocshim.so", "snmalloc"},
	{"libhardened_malloc.so", "hardened-malloc"},
	{"libscudo.so", "scudo"},
	{"libhoard.so", "hoard"},
}

// familyOf names a library that replaces malloc, "" for others.
func familyOf(library string) string {
	for _, family := range families {
		if strings.HasPrefix(filepath.Base(library), family.stem) {
			return family.name
		}
	}
	return ""
}

// Installed finds the allocators that the dynamic linker knows, in the order
// of families, each file once.
func Installed() []Allocator {
	return inCache(linkerCache())
}

// linkerCache lists the libraries that the dynamic linker knows, a line
// NAME (KIND) => PATH for each; it is empty where that cannot be had.
func linkerCache() string {
	list, err := exec.Command("/sbin/ldconfig", "-p").Output()
	if err != nil {
		return ""
	}
	return string(list)
}

// libcLibrary is the file with libc's malloc, "" where it is not found.
func libcLibrary() string {
	for _, line := range strings.Split(linkerCache(), "\n") {
		name, path, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if ok && strings.HasPrefix(name, "libc.so.6 ") && checkLibrary(path) == nil {
			return path
		}
	}
	return ""
}

// inCache finds them in such a list.
func inCache(list string) []Allocator {
	var found []Allocator
	seen := make(map[string]bool)
	for _, family := range families {
		for _, line := range strings.Split(list, "\n") {
			name, path, ok := strings.Cut(strings.TrimSpace(line), " => ")
			if !ok || !strings.HasPrefix(name, family.stem) || checkLibrary(path) != nil {
				continue
			}
			if file, err := filepath.EvalSymlinks(path); err == nil && !seen[file] {
				seen[file] = true
				found = append(found, Allocator{Name: family.name, Library: path})
			}
		}
	}
	return found
}

// GivenLibrary is the allocator in a file that the user named.
func GivenLibrary(path string) (Allocator, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Allocator{}, err
	}
	if err := checkLibrary(absolute); err != nil {
		return Allocator{}, fmt.Errorf("%s: %w", launch.Quote(path), err)
	}
	name := familyOf(absolute)
	if name == "" {
		name, _, _ = strings.Cut(filepath.Base(absolute), ".so")
	}
	if name == libc {
		name = filepath.Base(absolute) // another one than the system's
	}
	return Allocator{Name: name, Library: absolute, Given: true}, nil
}

// checkLibrary tells why a file is no malloc for programs of this machine.
func checkLibrary(path string) error {
	object, err := elf.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case err != nil:
		return errors.New("it is no shared library")
	}
	defer object.Close()
	if object.Type != elf.ET_DYN || object.Class != elf.ELFCLASS64 || object.Machine != machine {
		return errors.New("it is no shared library for programs of this machine")
	}
	symbols, err := object.DynamicSymbols()
	if err != nil || !slices.ContainsFunc(symbols, definesMalloc) {
		return errors.New("it defines no malloc")
	}
	return nil
}

func definesMalloc(s elf.Symbol) bool {
	kind := elf.ST_TYPE(s.Info)
	return s.Name == "malloc" && s.Section != elf.SHN_UNDEF && (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC)
}

// distinct gives each allocator a name of its own.
func distinct(all []Allocator) {
	count := make(map[string]int)
	for _, a := range all {
		count[a.Name]++
	}
	taken := make(map[string]bool)
	for i := range all {
		if a := &all[i]; count[a.Name] > 1 {
			a.Name = filepath.Base(a.Library)
		}
		name := all[i].Name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", all[i].Name, n)
		}
		all[i].Name = name
		taken[name] = true
	}
}
