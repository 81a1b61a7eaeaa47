package symbolize

import (
	"io"
	"slices"
)

// UseSymbols adds the names that a recording brings, a symbol file as
// WriteSymbols writes it: for its modules no file is opened as long as they
// suffice. b must not change afterwards.
func (s *Symbolizer) UseSymbols(b []byte) error {
	modules, err := readSymbols(b)
	if err != nil {
		return err
	}
	for _, m := range modules {
		s.mu.Lock()
		s.brought[m.key()] = append(s.brought[m.key()], m)
		var copies []*image
		for _, img := range s.images {
			if img.module.version() == m.key() {
				copies = append(copies, img)
			}
		}
		s.mu.Unlock()
		for _, img := range copies {
			img.mu.Lock()
			img.brought = append(img.brought, m)
			img.mu.Unlock()
		}
	}
	return nil
}

// WriteSymbols writes a symbol file of all that Frames has answered. The same
// answers give the same bytes.
func (s *Symbolizer) WriteSymbols(w io.Writer) error {
	s.mu.Lock()
	images := make([]*image, 0, len(s.images))
	for _, img := range s.images {
		images = append(images, img)
	}
	s.mu.Unlock()
	heads := make([]moduleHead, len(images))
	tables := make([][]byte, len(images))
	for i, img := range images {
		heads[i] = headOf(img.module)
		heads[i].Lines = s.HasLines(img.module)
		img.mu.Lock()
		heads[i].Warnings = slices.Clone(img.warnings)
		if img.damaged {
			heads[i].Warnings = append(heads[i].Warnings, img.damage())
		}
		tables[i] = encodeNames(img.frames)
		img.mu.Unlock()
	}
	return writeSymbols(w, heads, tables)
}
