package launch

import (
	"os"
	"path/filepath"

	"mallow/internal/recording"
)

// Completed is what Complete found in a recording.
type Completed struct {
	Images   int // 0: nothing was recorded
	Running  int // of these, still written to
	Warnings []string
}

// IsComplete tells whether the recording has its meta.json.
func IsComplete(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, "meta.json"))
	return err == nil
}

// Complete packs what no process writes to any more and adds meta.json, for a
// recording of programs that mallow has not started. Where nothing was
// recorded it leaves no empty file.
func Complete(folder string, m recording.Meta) (done Completed) {
	images, err := filepath.Glob(escapeGlob(folder) + "/image-*")
	unrecorded := takeEmpty(&images)
	if err != nil || len(images) == 0 {
		for _, image := range unrecorded {
			os.Remove(image)
		}
		return done
	}
	done.Images = len(images)
	running, failed := recording.PackEnded(images)
	for i := range images {
		if running[i] {
			done.Running++
		} else if failed[i] != nil {
			done.Warnings = append(done.Warnings, failed[i].Error())
		}
	}
	if err := writeMeta(folder, m); err != nil {
		done.Warnings = append(done.Warnings, err.Error())
	}
	return done
}
