package diff

import (
	"path"
	"slices"

	"mallow/internal/profile"
)

// nameModules finds out which modules of the two sides are the same one, and
// gives those of b the names of a: by the whole path, by the file's name, as
// the first program of either family, by the name without its version.
func (m *matcher) nameModules() {
	m.modules = make(map[string]string)
	taken := make(map[string]bool)
	as, bs := modulesOf(m.a.entries), modulesOf(m.b.entries)
	pair := func(a, b string) {
		if _, done := m.modules[b]; !done && !taken[a] {
			m.modules[b], taken[a] = a, true
		}
	}
	by := func(name func(string) string) {
		for _, b := range bs {
			if _, done := m.modules[b]; done {
				continue
			}
			same := func(a string) bool { return !taken[a] && name(a) == name(b) }
			if i := slices.IndexFunc(as, same); i >= 0 && !slices.ContainsFunc(as[i+1:], same) {
				pair(as[i], b)
			}
		}
	}
	by(func(module string) string { return module })
	by(path.Base)
	if a, b := program(m.a.profile), program(m.b.profile); slices.Contains(as, a) && slices.Contains(bs, b) {
		pair(a, b)
	}
	by(moduleFamily)
	for _, e := range m.b.entries {
		if name, paired := m.modules[e.module]; paired {
			e.module = name
		}
	}
}

func modulesOf(entries []*entry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.module)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// program is the file that the first process executed.
func program(p *profile.Profile) string {
	if len(p.Processes) == 0 {
		return ""
	}
	return p.Processes[0].Image.Executable
}
