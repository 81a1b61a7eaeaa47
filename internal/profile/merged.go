package profile

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// Merged tells what a profile of several recordings was put together from.
type Merged struct {
	Recordings int
	Sampled    int      // of them
	Programs   []string // that began each recording, by name, the most frequent first
	// Least and Most are the allocations of a recording, without libc's own.
	Least, Most uint64
	// Rebuilt are the files of which several builds are in, by name.
	Rebuilt []Rebuilt
}

// Rebuilt is a file that has allocated in several builds. Its lines may stand
// at other places in each, and then are sites of their own.
type Rebuilt struct {
	Name   string
	Builds int
}

// Merged returns nil for a profile of one recording.
func (p *Profile) Merged() *Merged {
	if len(p.Recordings) < 2 {
		return nil
	}
	m := &Merged{Recordings: len(p.Recordings)}
	allocations := make(map[*recording.Image]uint64)
	for _, process := range p.Processes {
		allocations[process.Image] = process.WithoutLibc().Allocations
	}
	programs := make(map[string]int)
	for i, rec := range p.Recordings {
		var sum uint64
		sampled := false
		for _, im := range rec.Images {
			sum += allocations[im]
			sampled = sampled || im.Sampling != nil
		}
		if sampled {
			m.Sampled++
		}
		if len(rec.Images) > 0 && rec.Images[0].Executable != "" {
			programs[filepath.Base(rec.Images[0].Executable)]++
		}
		if m.Most = max(m.Most, sum); i == 0 || sum < m.Least {
			m.Least = sum
		}
	}
	for name := range programs {
		m.Programs = append(m.Programs, name)
	}
	slices.SortFunc(m.Programs, func(a, b string) int { return cmp.Or(cmp.Compare(programs[b], programs[a]), cmp.Compare(a, b)) })
	m.Rebuilt = p.rebuilt()
	return m
}

// rebuilt looks at the files that sites are in, but for libc's. Programs are
// known by their name, since each build may lie in a folder of its own.
func (p *Profile) rebuilt() []Rebuilt {
	builds := make(map[string][]moduleFile)
	for _, im := range p.forest.images {
		modules := im.Modules()
		for i := range modules {
			if m := symbolizeModule(&modules[i]); modules[i].Kind == recording.ModuleExecutable {
				addBuild(builds, filepath.Base(m.Path), fileOf(&m))
			}
		}
	}
	var all []Rebuilt
	seen := make(map[string]bool)
	for _, site := range p.Sites {
		path, _, _ := strings.Cut(site.Module, buildMark)
		name := filepath.Base(path)
		n := max(len(p.places.builds[path]), len(builds[name]))
		if n > 1 && !seen[name] && site.Origin != OriginLibc {
			seen[name] = true
			all = append(all, Rebuilt{name, n})
		}
	}
	slices.SortFunc(all, func(a, b Rebuilt) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// buildsOf lists the builds of each file by its path, in the order of the
// recordings.
func buildsOf(images []*recording.Image, copies map[string]symbolize.Module) map[string][]moduleFile {
	builds := make(map[string][]moduleFile)
	for _, im := range images {
		modules := im.Modules()
		for i := range modules {
			m := symbolizeModule(&modules[i])
			file := fileOf(&m)
			if chosen, copied := copies[file.buildID]; copied && m.IsVersioned() {
				m = chosen
			}
			if m.Path != "" {
				addBuild(builds, m.Path, file)
			}
		}
	}
	return builds
}

func addBuild(builds map[string][]moduleFile, name string, file moduleFile) {
	if !slices.Contains(builds[name], file) {
		builds[name] = append(builds[name], file)
	}
}

// buildMark stands before what tells a build from others in the name of a
// module.
const buildMark = " (build "

// tellBuild marks a frame whose function has no name but where its code lies in
// the file, if there are several builds of that file: at the same place of
// another build lies something else.
func (p *places) tellBuild(f *Frame, m *symbolize.Module) {
	builds := p.builds[m.Path]
	if len(builds) < 2 || f.Named() || f.Function == "" {
		return
	}
	build := fmt.Sprint(slices.Index(builds, fileOf(m)) + 1)
	if m.IsVersioned() {
		build = hex.EncodeToString(m.BuildID[:6])
	}
	offset := strings.TrimPrefix(f.Function, filepath.Base(m.Path))
	f.Module += buildMark + build + ")"
	f.Function = filepath.Base(f.Module) + offset
}
