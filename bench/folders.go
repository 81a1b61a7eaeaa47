package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// foldersOptions are those of -only folders.
type foldersOptions struct {
	rounds, scale         int
	match, build, results string
	places                []string // folders on the file systems to compare
}

// place is a way to run a workload: without a recording, or with one in a folder.
type place struct {
	name   string
	mode   mode
	folder string
}

// placed is what a run in a place took. The system writes the recording back when it likes: `synced` is how long that takes
// when it is asked for at the end.
type placed struct {
	sample
	synced time.Duration
}

// measureFolders measures what recording costs on several file systems, and what sampling does.
func measureFolders(o foldersOptions, out io.Writer) error {
	work := absolute(filepath.Join("build", "bench"))
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	if len(o.places) == 0 {
		o.places = []string{work, "/dev/shm"}
	}
	places := []place{{"libmallow", library, work}}
	for i, folder := range o.places {
		name, err := fileSystem(folder)
		if err != nil {
			return err
		}
		own, err := os.MkdirTemp(folder, "mallow-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(own)
		if i == 0 {
			places = append(places, place{"one block in 512 KiB, on " + name, sampled, own})
		}
		places = append(places, place{"recorded, on " + name, recorded, own})
	}
	head := heading(o.rounds)
	works, err := prepare(work, o.scale)
	if err != nil {
		return err
	}
	works = slices.DeleteFunc(works, func(w workload) bool { return !strings.Contains(w.name, o.match) })
	all, err := measurePlaces(o, work, works, places)
	if err != nil {
		return err
	}
	text := "# What recording costs on different file systems\n\n" + head + foldersReading + "\n" + foldersTable(works, places, all)
	fmt.Fprintln(out, text)
	return os.WriteFile(filepath.Join(o.results, "folders.md"), []byte(text), 0o644)
}

const foldersReading = `- of the least: the ratio of the least of all rounds, which other work on the machine disturbs least
- synced: how long fsync of the whole recording takes after the program has ended
`

func measurePlaces(o foldersOptions, work string, works []workload, places []place) (map[string][]placed, error) {
	type run struct {
		work  workload
		place place
	}
	var runs []run
	for _, w := range works {
		for _, p := range places {
			runs = append(runs, run{w, p})
		}
	}
	all := map[string][]placed{}
	err := inRounds(o.rounds, runs, func(r run) error {
		m, err := newMeasurer(r.place.folder, o.build)
		if err != nil {
			return err
		}
		var one placed
		m.ended = func(output string) error {
			start := time.Now()
			err := syncAll(output)
			one.synced = time.Since(start)
			return err
		}
		if one.sample, err = m.measure(r.work, r.place.mode); err != nil {
			return err
		}
		key := r.work.name + "\x00" + r.place.name
		all[key] = append(all[key], one)
		return nil
	})
	return all, err
}

func foldersTable(works []workload, places []place, all map[string][]placed) string {
	var text strings.Builder
	text.WriteString("| workload | under | CPU s | of it system | to libmallow | of the least | synced ms | recording kB |\n|---|---|---|---|---|---|---|---|\n")
	for _, w := range works {
		of := func(p place, figure func(placed) float64) []float64 {
			var values []float64
			for _, one := range all[w.name+"\x00"+p.name] {
				values = append(values, figure(one))
			}
			return values
		}
		cpu := func(p placed) float64 { return cpuSeconds(p.sample) }
		base := of(places[0], cpu)
		for _, p := range places {
			took, size, synced := of(p, cpu), "", ""
			if p.mode != library {
				size = fmt.Sprintf("%.0f", median(of(p, func(p placed) float64 { return float64(p.size) / 1e3 })))
				synced = fmt.Sprintf("%.1f", median(of(p, func(p placed) float64 { return p.synced.Seconds() * 1e3 })))
			}
			fmt.Fprintf(&text, "| %s | %s | %.3f | %.3f | %v | %.2f | %s | %s |\n", w.name, p.name, median(took),
				median(of(p, func(p placed) float64 { return p.system.Seconds() })), ratioOf(took, base), slices.Min(took)/slices.Min(base), synced, size)
		}
	}
	return text.String()
}

// fileSystem names that of a folder.
func fileSystem(folder string) (string, error) {
	var status syscall.Statfs_t
	if err := syscall.Statfs(folder, &status); err != nil {
		return "", fmt.Errorf("%s: %w", folder, err)
	}
	known := map[int64]string{0xef53: "ext4", 0x01021994: "tmpfs", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x794c7630: "overlayfs"}
	if name := known[int64(status.Type)]; name != "" {
		return name, nil
	}
	return fmt.Sprintf("file system %#x", status.Type), nil
}

func syncAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return file.Sync()
	})
}
