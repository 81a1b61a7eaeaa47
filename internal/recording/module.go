package recording

import (
	"bytes"
	"io"
	"strings"
)

// Module is a file with code that the process had mapped.
type Module struct {
	Path               string
	BuildID            []byte
	Kind               ModuleKind
	Start, End, Bias   uint64
	Device, Inode      uint64
	Size, ModTimeNanos uint64
}

func (im *Image) readModules(r io.ReaderAt) {
	im.read(r, sectionModules, func(chunk []byte) {
		for ; len(chunk) >= 128; chunk = chunk[128:] {
			im.modules = append(im.modules, im.parseModule(chunk))
		}
	})
}

func (im *Image) parseModule(b []byte) Module {
	return Module{
		Start:        le.Uint64(b[0:]),
		End:          le.Uint64(b[8:]),
		Bias:         le.Uint64(b[16:]),
		Path:         im.text(le.Uint32(b[24:]), le.Uint32(b[28:])),
		BuildID:      bytes.Clone(b[40:][:min(le.Uint32(b[32:]), 32)]),
		Kind:         ModuleKind(le.Uint32(b[36:])),
		Device:       le.Uint64(b[72:]),
		Inode:        le.Uint64(b[80:]),
		Size:         le.Uint64(b[88:]),
		ModTimeNanos: le.Uint64(b[96:]),
	}
}

// Modules returns the modules that this image's own file describes.
func (im *Image) Modules() []Module { return im.modules }

// maxExecutable is what the header has room for of the executable's path.
const maxExecutable = 511

// completeExecutable finds the rest of a path that the header had no room for,
// once the image knows its parent: a fork child need not name the module again.
func (im *Image) completeExecutable() {
	if len(im.Executable) < maxExecutable {
		return
	}
	for from := im; from != nil; from = from.Parent {
		for _, m := range from.modules {
			if m.Kind == ModuleExecutable && strings.HasPrefix(m.Path, im.Executable) {
				im.Executable = m.Path
				return
			}
		}
	}
}

// ModulePaths returns the files of the modules that frames of this image's own
// file are in, and of symbolic frames.
func (im *Image) ModulePaths() []string {
	var paths []string
	for i := range im.modules {
		paths = append(paths, im.modules[i].Path)
	}
	for i := range im.symbolic {
		paths = append(paths, im.symbolic[i].Module)
	}
	return paths
}
