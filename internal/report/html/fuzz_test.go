package html_test

import (
	"bytes"
	"testing"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/report/html"
)

// FuzzData makes the data of pages from whatever a recording can be read from, and holds
// what the page's script relies on.
func FuzzData(f *testing.F) {
	for _, g := range recordingtest.Goldens() {
		f.Add(g.Images[0].Bytes(), 1000)
	}
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		rec := &recording.Recording{Path: "fuzz"}
		if im, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b))); err == nil {
			rec.Images = append(rec.Images, im)
		}
		p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
		one, err := html.Data(p, html.Options{Advice: advise.For(p, advise.Options{}), Limit: max(1, limit)})
		if err != nil {
			t.Fatal(err)
		}
		two, err := html.DiffData(diff.Compare(p, p, diff.Options{All: true}), html.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, all := range [][]byte{one, two} {
			d := parse(t, all)
			within := func(name string, least, most int) {
				for i, v := range d.column(t, name) {
					if v < int64(least) || v >= int64(most) {
						t.Fatalf("%s: number %d is %d, not from %d to %d", name, i, v, least, most)
					}
				}
			}
			within("function.name", 0, len(d.Strings))
			within("function.module", 0, len(d.Strings))
			within("frame.function", 0, d.Columns["function.name"].N)
			within("frame.file", 0, len(d.Strings))
			within("node.frame", 0, d.Columns["frame.function"].N)
			within("stack.node", -1, d.Columns["node.frame"].N)
			within("stack.site", 0, len(d.Sites))
			within("stack.side", 0, 2)
			for i, back := range d.column(t, "node.parent") {
				if back < 1 || back > int64(i)+1 {
					t.Fatalf("node %d is %d after its parent", i, back)
				}
			}
			for _, s := range d.Sites {
				if s.Frame < -1 || s.Frame >= d.Columns["frame.function"].N {
					t.Fatalf("a site is frame %d", s.Frame)
				}
			}
		}
	})
}
