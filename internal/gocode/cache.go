package gocode

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// What is kept in the user's cache folder is bounded: of what the compiler said
// of packages, and of changed files of versions of Go, what has not been used
// for long goes first.
const (
	mostKept = 256 << 20           // bytes of what the compiler said
	keptFor  = 30 * 24 * time.Hour // after the last use
	inUse    = time.Hour           // nothing is removed so soon after its last use
)

// used notes that an entry of the cache is.
func used(path string) {
	_ = os.Chtimes(path, time.Time{}, time.Now())
}

// entry is a folder of the cache.
type entry struct {
	path  string
	used  time.Time
	bytes int64
}

// contentName is a folder that is named by what is in it.
var contentName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// prune removes what nobody has used for long, and of what the compiler said
// what is too much. What cannot be removed stays.
func prune(base string, now time.Time) {
	for _, e := range entriesOf(base) {
		if now.Sub(e.used) > keptFor {
			os.RemoveAll(e.path)
		}
	}
	said := entriesOf(filepath.Join(base, "escapes"))
	slices.SortFunc(said, func(a, b entry) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.path, b.path)) })
	var kept int64
	for _, e := range said {
		kept += e.bytes
		if now.Sub(e.used) > keptFor || kept > mostKept && now.Sub(e.used) > inUse {
			kept -= e.bytes
			os.RemoveAll(e.path)
		}
	}
}

func entriesOf(folder string) []entry {
	names, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var all []entry
	for _, name := range names {
		info, err := name.Info()
		if err != nil || !info.IsDir() || !contentName.MatchString(name.Name()) {
			continue
		}
		e := entry{path: filepath.Join(folder, name.Name()), used: info.ModTime()}
		_ = filepath.WalkDir(e.path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					e.bytes += info.Size()
				}
			}
			return nil
		})
		all = append(all, e)
	}
	return all
}
