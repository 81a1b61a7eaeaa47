package live

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
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

// A recording of a process that ran already names no first process.
func TestEndedSession(t *testing.T) {
	folder := t.TempDir()
	process := recordingtest.NewProcess(recordingtest.NewImage(7, "/opt/server"))
	process.Thread()
	if err := process.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	const meta = `{"version":1,"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:07Z","exit_status":0,"signal":0,"joined":true}`
	if err := os.WriteFile(filepath.Join(folder, "meta.json"), []byte(meta), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := New(folder, profile.Options{Symbolizer: profiletest.Demo()}).Next()
	if err != nil || !v.Ended || v.Seconds != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()}); p.Processes[0].Exit != nil {
		t.Errorf("how it ended is not known, and not %+v", p.Processes[0].Exit)
	}
}
