package live

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording/recordingtest"
)

// FuzzWatch puts two images, the second in the place of the first, into a
// recording, as if one process had written both.
func FuzzWatch(f *testing.F) {
	for _, golden := range recordingtest.Goldens() {
		image := golden.Images[0].Bytes()
		f.Add(image, image)
		f.Add(image, image[:len(image)/2])
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		folder := t.TempDir()
		watch := New(folder, profile.Options{Symbolizer: profiletest.Demo()})
		for i, content := range [][]byte{first, second} {
			name := filepath.Join(folder, []string{"image-1-1-0", "image-1-2-0"}[i])
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := watch.Next()
			if err != nil {
				continue
			}
			for _, s := range v.Sites {
				if s.AllocationRate < 0 || math.IsNaN(s.AllocationRate) || math.IsInf(s.AllocationRate, 0) {
					t.Fatalf("rate %v", s.AllocationRate)
				}
			}
		}
	})
}

func TestGoingBackwards(t *testing.T) {
	f := Figures{Allocations: 10, Bytes: 5}
	f.rate(Figures{Allocations: 20, Bytes: 1}, 2)
	if f.AllocationRate != 0 || f.ByteRate != 2 {
		t.Errorf("%+v", f)
	}
}
