package history

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"mallow/internal/profile"
	"mallow/internal/stacks"
)

// Recorded makes a point of what one run counted, at the commit that is checked
// out in a folder. It has no key yet, and the time at which the run began if
// the profile is of one recording. Frames of the profile are named.
func Recorded(p *profile.Profile, folder string) (Point, error) {
	at := Head(folder)
	root, err := firstLine(folder, "rev-parse", "--show-toplevel")
	if err != nil {
		root = ""
	}
	point := Point{Commit: at.Hash, CommitTime: at.Time, Dirty: at.Dirty, Metrics: Metrics(p)}
	if len(p.Recordings) == 1 && p.Recordings[0].Meta != nil {
		point.Time = p.Recordings[0].Meta.Started.UTC()
	}
	point.Profile, err = stacks.Of(p, root).Cut(mostCallers, 0).Pprof()
	return point, err
}

// mostCallers is how many frames outside of a site a profile keeps.
const mostCallers = 24

// Metrics returns what a profile of one run counts, of the program and its
// libraries, what libc allocates for them apart. Whether other runs agree one
// run cannot tell.
func Metrics(p *profile.Profile) map[string]Value {
	t := p.WithoutLibc()
	metrics := map[string]Value{
		"allocations": {Value: float64(t.Allocations)},
		"bytes":       {Value: float64(t.Bytes), Unit: "bytes"},
		"live":        {Value: float64(t.LiveBytes), Unit: "bytes"},
		"libc":        {Value: float64(p.Origins[profile.OriginLibc].Allocations)},
	}
	if !p.PeakUnknown() {
		metrics["peak"] = Value{Value: float64(t.PeakBytes), Unit: "bytes"}
	}
	if !p.SumsOnly {
		metrics["temporary"] = Value{Value: float64(t.Temporary)}
	}
	if p.Sampling != nil { // chance alone makes others of them
		for name, v := range metrics {
			v.Class = Noisy
			metrics[name] = v
		}
	}
	return metrics
}

// Commit is what a repository has checked out.
type Commit struct {
	Hash  string // "" in no repository, or in one without a commit
	Time  time.Time
	Dirty bool // files that git knows differ from it
}

// Head returns what the repository of a folder has checked out.
func Head(folder string) Commit {
	c, err := CommitNamed(folder, "HEAD")
	if err != nil {
		return Commit{}
	}
	changed, err := firstLine(folder, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=untracked")
	c.Dirty = err != nil || changed != ""
	return c
}

// CommitNamed returns the commit of a name, such as v1.2 or a part of a hash.
func CommitNamed(folder, name string) (Commit, error) {
	line, err := firstLine(folder, "log", "-1", "--no-show-signature", "--format=%H %cI", "--end-of-options", name+"^{commit}", "--")
	hash, when, _ := strings.Cut(line, " ")
	if err != nil || !isHash(hash) {
		return Commit{}, fmt.Errorf("%s is no commit of this repository", name)
	}
	at, err := time.Parse(time.RFC3339, when)
	return Commit{Hash: hash, Time: at.UTC()}, err
}

// Description is what git tells of a commit.
type Description struct {
	Commit
	Author, Subject string
}

// Describe returns what git tells of a commit.
func Describe(folder, name string) (Description, error) {
	c, err := CommitNamed(folder, name)
	if err != nil {
		return Description{}, err
	}
	d := Description{Commit: c}
	line, err := firstLine(folder, "log", "-1", "--no-show-signature", "--format=%an%x00%s", c.Hash, "--")
	d.Author, d.Subject, _ = strings.Cut(line, "\x00")
	return d, err
}

// UnitOf is the unit of a metric of ours.
func UnitOf(metric string) string {
	switch metric {
	case "bytes", "peak", "live", "peak_rss":
		return "bytes"
	case "cpu", "wall":
		return "seconds"
	}
	return ""
}

var (
	loaders = []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"}
	release = regexp.MustCompile(`GNU C Library [^\n]*release version ([0-9.]+[0-9])`)
)

// Platform names what figures depend on besides the program: the target, the
// C library of this machine, and the malloc that was used.
func Platform(malloc string) string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return arch + "-linux-gnu, " + libc() + ", " + malloc
}

func libc() string {
	for _, loader := range loaders {
		at, err := filepath.EvalSymlinks(loader)
		if err != nil {
			continue
		}
		content, err := os.ReadFile(filepath.Join(filepath.Dir(at), "libc.so.6"))
		if err != nil {
			continue
		}
		if m := release.FindSubmatch(content); m != nil {
			return "glibc " + string(m[1])
		}
	}
	return "libc"
}
