package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

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
	images := imagesOf(folder)
	if len(images) == 0 {
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

// imagesOf lists the image files of a folder, but for those that are empty, which
// stand for processes that could not be recorded: where there are only such, they
// are removed. What was made under a mask that takes a file from its own owner is
// given back to that one.
func imagesOf(folder string) []string {
	images, _ := filepath.Glob(escapeGlob(folder) + "/image-*")
	logs, _ := filepath.Glob(escapeGlob(folder) + "/log-*")
	for _, path := range slices.Concat(images, logs) {
		giveBack(path)
	}
	empty := takeEmpty(&images)
	if len(images) == 0 {
		for _, image := range empty {
			os.Remove(image)
		}
	}
	return images
}

func giveBack(path string) {
	const ownerOnly = 0o600
	file, err := os.OpenFile(path, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&ownerOnly != ownerOnly {
		os.Chmod(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), ownerOnly)
	}
}
