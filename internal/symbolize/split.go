package symbolize

import (
	"path/filepath"

	"mallow/internal/symbolize/debuginfo"
)

// findSplit finds a split unit: in the package beside the file that names it,
// else in the .dwo file where the compiler left it or beside the program. The
// id in the file must be the one asked for, so a stale file is not believed.
func (img *image) findSplit(u debuginfo.SplitUnit) (debuginfo.Sections, bool) {
	for _, o := range []*object{img.file, img.debug} {
		if o == nil {
			continue
		}
		if s, ok := img.fromPackage(o.path+".dwp", u); ok {
			return s, true
		}
	}
	for _, path := range img.splitPaths(u) {
		if o := img.openSplit(path); o != nil {
			return o.debugSections(".dwo"), true
		}
	}
	if img.missingSplit == "" {
		img.missingSplit = u.Name
	}
	return debuginfo.Sections{}, false
}

func (img *image) splitPaths(u debuginfo.SplitUnit) []string {
	path := u.Name
	if !filepath.IsAbs(path) {
		path = filepath.Join(u.CompDir, path)
	}
	paths := []string{path}
	for _, o := range []*object{img.file, img.debug} {
		if o != nil {
			paths = append(paths, filepath.Join(filepath.Dir(o.path), filepath.Base(path)))
		}
	}
	return paths
}

func (img *image) fromPackage(path string, u debuginfo.SplitUnit) (debuginfo.Sections, bool) {
	o := img.openSplit(path)
	if o == nil {
		return debuginfo.Sections{}, false
	}
	return o.debugSections(".dwo").Package(o.content(".debug_cu_index"), u.ID)
}

// openSplit opens a file of split units once; nil if it cannot be read.
func (img *image) openSplit(path string) *object {
	if o, ok := img.splits[path]; ok {
		return o
	}
	o, err := openObject(path)
	if err != nil {
		o = nil
	}
	if img.splits == nil {
		img.splits = map[string]*object{}
	}
	img.splits[path] = o
	return o
}
