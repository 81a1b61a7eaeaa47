package html

import (
	"mallow/internal/diff"
	"mallow/internal/profile"
)

// Data returns what Write puts into a page.
func Data(p *profile.Profile, o Options) ([]byte, error) {
	b := newBuilder(o)
	b.addOnly(p)
	return b.data()
}

// DiffData returns what WriteDiff puts into a page.
func DiffData(d *diff.Diff, o Options) ([]byte, error) {
	b := newBuilder(o)
	b.compare(d)
	return b.data()
}
