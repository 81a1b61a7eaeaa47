package price

import (
	"path/filepath"
	"strings"

	"mallow/internal/recording"
)

// Malloc is what a program allocates from when we are not there.
type Malloc struct {
	Name    string // "glibc's malloc"
	Library string // to be preloaded so as to have it; "" for that of libc
}

// Glibc is for the programs that bring none of their own.
var Glibc = Malloc{Name: "glibc's malloc"}

var mallocs = []struct{ prefix, name string }{
	{"libjemalloc.so", "jemalloc"},
	{"libtcmalloc.so", "tcmalloc"}, {"libtcmalloc_", "tcmalloc"},
	{"libmimalloc.so", "mimalloc"}, {"libmimalloc-", "mimalloc"},
	{"libsnmallocshim", "snmalloc"},
	{"librpmalloc", "rpmalloc"},
	{"libtbbmalloc_proxy", "tbbmalloc"},
}

// MallocOf tells which malloc most of the processes have besides libmallow,
// which was put before it.
func MallocOf(recordings []*recording.Recording) Malloc {
	images := 0
	with := make(map[Malloc]int)
	for _, rec := range recordings {
		for _, im := range rec.Images {
			images++
			if m := mallocIn(im); m != Glibc {
				with[m]++
			}
		}
	}
	for m, n := range with {
		if 2*n > images {
			return m
		}
	}
	return Glibc
}

func mallocIn(im *recording.Image) Malloc {
	for _, m := range im.Modules() {
		base := filepath.Base(m.Path)
		for _, known := range mallocs {
			if strings.HasPrefix(base, known.prefix) {
				return Malloc{Name: known.name, Library: m.Path}
			}
		}
	}
	return Glibc
}
