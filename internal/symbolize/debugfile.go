package symbolize

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"path/filepath"
	"strings"

	"mallow/internal/symbolize/debuginfod"
)

// openDebug finds the separate debug file of img, and the file that dwz moved
// shared entries to.
func (s *Symbolizer) openDebug(img *image, path string) {
	if img.file == nil || !img.file.hasDebugInfo() {
		img.debug = s.findDebug(img, path)
	}
	for _, o := range []*object{img.file, img.debug} {
		if o != nil && o.hasDebugInfo() {
			img.alt = s.findAlternate(img, o)
			return
		}
	}
}

func (s *Symbolizer) findDebug(img *image, path string) *object {
	id := img.module.BuildID
	if img.file != nil {
		id = img.file.buildID
	}
	if o := s.byBuildID(id); o != nil {
		return o
	}
	if img.file != nil {
		if o := s.byDebugLink(img.file, path); o != nil {
			return o
		}
	}
	return s.fetched(img, id, debuginfod.Debuginfo)
}

// byBuildID opens DIR/.build-id/xx/yyyy.debug, if its own id is the same.
func (s *Symbolizer) byBuildID(id []byte) *object {
	if len(id) < 2 {
		return nil
	}
	text := hex.EncodeToString(id)
	for _, dir := range s.debugDirs {
		o, err := openObject(filepath.Join(dir, ".build-id", text[:2], text[2:]+".debug"))
		if err != nil {
			continue
		}
		if bytes.Equal(o.buildID, id) {
			return o
		}
		o.close()
	}
	return nil
}

// debugLink returns the name and the checksum in .gnu_debuglink, "" without.
// Only the last element of the name counts: a link cannot lead elsewhere.
func (o *object) debugLink() (name string, sum uint32) {
	b := o.content(".gnu_debuglink")
	end := bytes.IndexByte(b, 0)
	if end <= 0 {
		return "", 0
	}
	at := (end + 4) &^ 3
	if at+4 > len(b) {
		return "", 0
	}
	name = filepath.Base(string(b[:end]))
	if name == "." || name == ".." || name == "/" {
		return "", 0
	}
	return name, binary.LittleEndian.Uint32(b[at:])
}

// byDebugLink looks where debuggers look: beside the file, in .debug there, and
// under the debug folders.
func (s *Symbolizer) byDebugLink(file *object, path string) *object {
	name, sum := file.debugLink()
	if name == "" {
		return nil
	}
	dir := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		dir = filepath.Dir(real)
	}
	candidates := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, root := range s.debugDirs {
		candidates = append(candidates, filepath.Join(root, dir, name))
	}
	for _, candidate := range candidates {
		o, err := openObject(candidate)
		if err != nil {
			continue
		}
		if o.belongsTo(file, sum) {
			return o
		}
		o.close()
	}
	return nil
}

// belongsTo tells whether o is the debug file of file: by build id where both
// have one, else by the checksum of all its bytes.
func (o *object) belongsTo(file *object, sum uint32) bool {
	if len(file.buildID) > 0 && len(o.buildID) > 0 {
		return bytes.Equal(file.buildID, o.buildID)
	}
	return crc32.ChecksumIEEE(o.data) == sum
}

// alternateLink returns the path and the build id in .gnu_debugaltlink.
func (o *object) alternateLink() (path string, id []byte) {
	b := o.content(".gnu_debugaltlink")
	end := bytes.IndexByte(b, 0)
	if end <= 0 {
		return "", nil
	}
	return string(b[:end]), b[end+1:]
}

// findAlternate opens the file that the debug information of o shares with
// other files. It must have the build id that the link names.
func (s *Symbolizer) findAlternate(img *image, o *object) *object {
	path, id := o.alternateLink()
	if path == "" {
		return nil
	}
	if alt := s.byBuildID(id); alt != nil {
		return alt
	}
	candidates := []string{path}
	if !filepath.IsAbs(path) {
		candidates = []string{filepath.Join(filepath.Dir(o.path), path)}
	}
	// Distributions move the folder; its own .dwz part stays below the root.
	if _, below, ok := strings.Cut(path, "/.dwz/"); ok {
		for _, root := range s.debugDirs {
			candidates = append(candidates, filepath.Join(root, ".dwz", filepath.Clean("/"+below)))
		}
	}
	for _, candidate := range candidates {
		alt, err := openObject(candidate)
		if err != nil {
			continue
		}
		if bytes.Equal(alt.buildID, id) {
			return alt
		}
		alt.close()
	}
	if alt := s.fetched(img, id, debuginfod.Debuginfo); alt != nil {
		return alt
	}
	s.warn(img, "the shared debug file %q is not there; functions that it names are missing", path)
	return nil
}
