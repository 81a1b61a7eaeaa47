package profile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/test/harness"
)

// FuzzProfile reads two images, the second as the fork child of the first,
// and asks for everything that a report may ask for.
func FuzzProfile(f *testing.F) {
	for _, golden := range recordingtest.Goldens() {
		parent := golden.Images[0].Bytes()
		f.Add(parent, golden.Images[len(golden.Images)-1].Bytes())
		f.Add(parent[:len(parent)/2], parent)
	}
	habits, err := os.ReadFile(filepath.Join(harness.Root(), "format", "testdata", "habits.mallow", "image-700-1000000000-0"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(habits, habits)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		rec := &recording.Recording{Path: "fuzz"}
		for _, b := range [][]byte{first, second} {
			if im, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b))); err == nil {
				rec.Images = append(rec.Images, im)
			}
		}
		if len(rec.Images) == 2 {
			rec.Images[1].Parent = rec.Images[0]
		}
		p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
		var sum uint64
		for _, s := range p.Sites {
			sum += s.Counters.Calls
			s.Without(profile.OriginLibc)
		}
		if sum != p.Totals.Allocations {
			t.Fatalf("%d allocations, %d by site", p.Totals.Allocations, sum)
		}
		p.Callers(p.Sites)
		p.NamedCallers(p.Sites)
		p.Stacks(p.Sites, 10)
		p.Knowledge(p.Sites)
		p.FreeNullCallers()
		p.OnBehalf()
		p.Timeline(true)
		p.WithoutLibc()
		if cpu := p.CPU(); cpu != nil {
			var flat uint64
			for _, f := range cpu.Functions {
				if flat += f.Flat; f.Cum > cpu.Total || f.Flat > f.Cum {
					t.Fatalf("%+v of %d ns", f, cpu.Total)
				}
			}
			if flat > cpu.Total || cpu.Allocator > cpu.Total || cpu.Truncated > cpu.Total {
				t.Fatalf("%d ns of functions in %+v", flat, cpu)
			}
		}
		p.Warnings()
	})
}
