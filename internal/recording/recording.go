// Package recording reads recordings: folders of memory-mapped image files
// that libmallow writes, as format/recording.md specifies them.
//
// A recording may be cut, damaged or still growing. Reading never trusts a
// number, uses memory and time linear in what the files hold, and reports
// what it had to leave out as Warnings; it fails only when nothing is
// readable or when a newer mallow wrote the recording.
package recording

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Recording is all that one run of a program, with its children, recorded.
type Recording struct {
	Path   string
	Meta   *Meta    // nil without a readable meta.json
	Images []*Image // by start time; never empty
	// Unrecorded is the number of process images that could not be recorded.
	Unrecorded int
	Warnings   []string // about the recording as a whole; images have their own

	parts    map[string]part // by name
	archived bool
}

const imagePrefix = "image-"

// errUnrecorded is what an empty image file says.
var errUnrecorded = errors.New("this process could not be recorded: the disk was full, a limit of file size or memory was met, the kernel is older than 5.14 or in a sandbox that refuses madvise, or it was killed as it began")

// Open reads the recording at path: a folder, or an archive of one.
func Open(path string) (*Recording, error) { return open(path, nil) }

// open calls choose, if any, for every image before its counters are read.
func open(path string, choose func(*Image)) (*Recording, error) {
	parts, archived, err := findParts(path)
	if err != nil {
		return nil, err
	}
	rec := &Recording{Path: path, parts: parts, archived: archived}
	names := rec.imageNames()
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no recording; there is no image file in it", path)
	}
	if err := rec.readImages(names, choose); err != nil {
		return nil, err
	}
	rec.linkParents()
	for _, im := range rec.Images {
		im.checkSums()
	}
	rec.Meta, err = rec.readMeta()
	if errors.Is(err, ErrNewerVersion) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		rec.Warnings = append(rec.Warnings, err.Error())
	}
	return rec, nil
}

func (rec *Recording) imageNames() []string {
	var names []string
	for name := range rec.parts {
		if strings.HasPrefix(name, imagePrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readImages reads all image files. One that cannot be read at all is left
// out with a warning, unless it is newer than this reader or the only one.
func (rec *Recording) readImages(names []string, choose func(*Image)) error {
	images := make([]*Image, len(names))
	failures := make([]error, len(names))
	forEach(len(names), func(i int) {
		images[i], failures[i] = rec.readImageFile(names[i], choose)
	})
	for i, err := range failures {
		switch {
		case err == nil:
			rec.Images = append(rec.Images, images[i])
		case errors.Is(err, errUnrecorded):
			rec.Unrecorded++
			rec.Warnings = append(rec.Warnings, fmt.Sprintf("%s: %v", names[i], err))
		case errors.Is(err, ErrNewerVersion):
			return fmt.Errorf("%s: %w", rec.Path, err)
		default:
			rec.Warnings = append(rec.Warnings, fmt.Sprintf("%s: %v", names[i], err))
		}
	}
	if len(rec.Images) == 0 {
		return fmt.Errorf("%s: nothing readable in it (%s)", rec.Path, rec.Warnings[0])
	}
	slices.SortStableFunc(rec.Images, startOrder(rec.Images))
	return nil
}

// startOrder goes by the clock that never jumps, where all images know it.
func startOrder(images []*Image) func(a, b *Image) int {
	if slices.ContainsFunc(images, func(im *Image) bool { return im.StartMonotonic == 0 }) {
		return func(a, b *Image) int { return cmpUint64(a.StartRealtime, b.StartRealtime) }
	}
	return func(a, b *Image) int { return cmpUint64(a.StartMonotonic, b.StartMonotonic) }
}

func cmpUint64(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// forEach calls do for 0..n-1 on as many threads as there are processors.
func forEach(n int, do func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// linkParents finds the image of the parent of every fork child. A damaged
// file may name itself or a descendant; such a link is cut, so that following
// Parent always ends.
func (rec *Recording) linkParents() {
	byName := make(map[string]*Image, len(rec.Images))
	for _, im := range rec.Images {
		byName[im.Name] = im
	}
	for _, im := range rec.Images {
		if im.ParentFile == "" {
			continue
		}
		parent := byName[im.ParentFile]
		if parent == nil {
			im.warn("the parent's file %s is missing: stacks from before the fork are unknown", im.ParentFile)
			continue
		}
		if descends(parent, im) {
			im.warn("damaged: the image is its own ancestor")
			continue
		}
		im.Parent = parent
	}
	for _, im := range rec.Images {
		im.completeExecutable()
	}
}

func descends(im, from *Image) bool {
	for ; im != nil; im = im.Parent {
		if im == from {
			return true
		}
	}
	return false
}
