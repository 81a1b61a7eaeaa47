package symbolize

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mallow/internal/own"
)

// cache keeps the names that were found, a symbol file for each version of a
// module, so that the next report of it need not read its debug information.
// What cannot be read, written or believed is as if it were not there.
type cache struct{ folder string }

const (
	// readerVersion must be raised when the same files get other names: what
	// older readers kept is then not used.
	readerVersion = 5

	mostCached     = 256 << 20 // bytes of all entries together
	mostEntry      = 64 << 20  // bytes of one
	mostRemembered = 1 << 20   // addresses of one
	leastBuildID   = 8         // bytes; shorter ones are not made from the content
	unusedFor      = 24 * time.Hour

	// In the folder that the user names nothing else is ours.
	entriesPrefix = "names-"
	entriesGlob   = entriesPrefix + "[0-9]*.[0-9]*"
)

// UserCache returns the folder of the user's cache of names, "" without one.
// MALLOW_SYMBOL_CACHE names another folder; off turns it off.
func UserCache() string {
	switch folder := os.Getenv("MALLOW_SYMBOL_CACHE"); {
	case folder == "off":
		return ""
	case filepath.IsAbs(folder):
		return folder
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "mallow", "symbols")
}

// entry returns the path of what is kept of a module, "" when nothing can be:
// its build id names it, or where it lies with size and time, so that a changed
// file is another one.
func (c cache) entry(img *image) string {
	if c.folder == "" {
		return ""
	}
	m := img.module
	id := m.BuildID
	if len(id) == 0 && img.file != nil {
		id = img.file.buildID
	}
	name := hex.EncodeToString(id)
	if len(id) < leastBuildID {
		size, modTime := m.Size, m.ModTimeNs
		if img.file != nil && img.file.info != nil {
			size, modTime = uint64(img.file.info.Size()), uint64(img.file.info.ModTime().UnixNano())
		}
		if modTime == 0 {
			return ""
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", m.Path, size, modTime))
		name = "file-" + hex.EncodeToString(sum[:16])
	}
	return filepath.Join(c.folder, fmt.Sprintf("%s%d.%d", entriesPrefix, symbolVersion, readerVersion), name)
}

// find returns what is kept of a module, nil when it was read from other files
// than those that there are now. Of files that are gone it is all that is left.
func (c cache) find(img *image) *moduleNames {
	path := c.entry(img)
	if path == "" {
		return nil
	}
	b, err := own.Read(path, mostEntry)
	if err != nil {
		return nil
	}
	modules, err := readSymbols(b)
	if err != nil || len(modules) != 1 {
		return nil
	}
	kept := &modules[0]
	if filepath.Base(kept.Path) != img.module.name() { // names without symbols begin with it
		return nil
	}
	for _, source := range img.sources() {
		if !slices.Contains(kept.Sources, source) {
			return nil
		}
	}
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > unusedFor {
		_ = os.Chtimes(path, time.Time{}, time.Now())
	}
	return kept
}

// sources tells which files the names of img are read from.
func (img *image) sources() []sourceFile {
	var all []sourceFile
	for _, f := range []struct {
		role string
		o    *object
	}{{"file", img.file}, {"debug", img.debug}, {"shared", img.alt}} {
		if f.o != nil && f.o.info != nil { // the vdso is no file
			all = append(all, sourceFile{f.role, f.o.info.Size(), f.o.info.ModTime().UnixNano()})
		}
	}
	return all
}

// keep writes the names of a module if there are new ones and nothing is wrong
// with them, and tells whether it did.
func (c cache) keep(img *image) bool {
	img.mu.Lock()
	defer img.mu.Unlock()
	if !img.fresh || img.damaged || img.missingSplit != "" || img.file == nil && img.debug == nil {
		return false
	}
	path := c.entry(img)
	if path == "" {
		return false
	}
	img.adopt(img.cached)
	var b bytes.Buffer
	head := headOf(img.module)
	head.Path = img.module.name()
	head.Lines, head.Sources = img.hasLines(), img.sources()
	if writeSymbols(&b, []moduleHead{head}, [][]byte{encodeNames(img.frames)}) != nil || b.Len() > mostEntry {
		return false
	}
	return own.Replace(path, b.Bytes()) == nil
}

// adopt adds the names that were kept and not asked for, as far as there is
// room for them.
func (img *image) adopt(kept *moduleNames) {
	if kept == nil {
		return
	}
	for i := 0; i < kept.table.len() && len(img.frames) < mostRemembered; i++ {
		if addr := kept.table.address(i); img.frames[addr] == nil {
			img.frames[addr] = kept.table.framesAt(i)
		}
	}
}

// evict removes what was not used for longest, until the rest takes no more
// than three quarters of the room, and what was left half written.
func (c cache) evict() {
	type entry struct {
		path string
		size int64
		used time.Time
	}
	var entries []entry
	var total int64
	folders, _ := filepath.Glob(filepath.Join(c.folder, entriesGlob))
	for _, folder := range folders {
		files, _ := os.ReadDir(folder)
		for _, file := range files {
			info, err := file.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			path := filepath.Join(folder, file.Name())
			if strings.HasPrefix(file.Name(), own.NewPrefix) && time.Since(info.ModTime()) > unusedFor {
				os.Remove(path)
				continue
			}
			entries = append(entries, entry{path, info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	if total <= mostCached {
		return
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if total <= mostCached*3/4 {
			return
		}
		if os.Remove(e.path) == nil {
			total -= e.size
		}
	}
}
