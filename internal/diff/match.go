package diff

import (
	"cmp"
	"slices"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/profile"
)

// match pairs the sites of two profiles. Which of them is the old one does not
// matter to who is paired with whom. It returns too in which modules
// functions cannot be told by name.
func match(old, new *profile.Profile, all bool) (sites []*Site, names newNames) {
	oldSites, newSites := analyze.Rank(old, all, analyze.ByCalls), analyze.Rank(new, all, analyze.ByCalls)
	if compareProfiles(oldSites, newSites) <= 0 {
		m := newMatcher(old, new, oldSites, newSites)
		return m.sites(), m.newNames
	}
	m := newMatcher(new, old, newSites, oldSites)
	sites = m.sites()
	for _, s := range sites {
		s.Old, s.New = s.New, s.Old
	}
	return sites, m.newNames
}

// newNames are modules in which functions have no names to find them again by:
// by path on either side, with a name of the module for both.
type newNames struct {
	rebuilt map[string]string // built anew, with code without symbols: this has none
	unnamed map[string]string // with symbols on one side only: no function has one
}

// compareProfiles orders two profiles, by nothing but their sites.
func compareProfiles(a, b []*profile.Site) int {
	return slices.CompareFunc(a, b, func(a, b *profile.Site) int {
		return cmp.Or(
			cmp.Compare(a.Counters.Calls, b.Counters.Calls), cmp.Compare(a.Counters.Bytes, b.Counters.Bytes),
			compareFrames(&a.Frame, &b.Frame),
		)
	})
}

// matcher pairs what it is most sure of first, and what is left by ever looser
// names:
//
//  1. module, function and file; several sites of a function by their order of
//     lines, where the numbers differ as they resemble each other (see align);
//  2. module and function: the file was moved or renamed, and what is left of
//     it is looked for in the other one then; so with namespaces and crates;
//  3. function alone: it went to another module, or the program was renamed;
//  4. module, file and the function without its signature, where that names one
//     function only;
//  5. code without symbols, by its order in the module, if it resembles;
//  6. functions of a module that has symbols on one side only, by equal figures
//     that no other has;
//  7. sites with equal figures and callers of which only one is left on either
//     side: the function was renamed, or the compiler inlined it elsewhere.
//
// Names are taken without what compilers number anew in each build.
type matcher struct {
	a, b    side
	modules map[string]string // of b: what the same module is called in a
	newNames
}

// side is one of the profiles, in matching.
type side struct {
	profile   *profile.Profile
	entries   []*entry
	builds    map[string]string
	functions map[string]bool           // all names in stacks; see has
	lines     map[function]map[int]bool // see linesOf
}

// entry is a site, or several that the other side cannot tell apart.
type entry struct {
	place   Place
	module  string // by the name that the other side's is known by, too
	name    string // see stableName
	file    string
	pair    *entry
	match   Match
	settled bool // its function was found on the other side, but not the site
}

func newMatcher(a, b *profile.Profile, aSites, bSites []*profile.Site) *matcher {
	m := &matcher{a: newSide(a, aSites), b: newSide(b, bSites)}
	m.newNames = newNames{rebuilt: make(map[string]string), unnamed: make(map[string]string)}
	m.nameModules()
	return m
}

func newSide(p *profile.Profile, sites []*profile.Site) side {
	s := side{profile: p, builds: builds(p)}
	for _, site := range sites {
		s.entries = append(s.entries, &entry{
			place:  Place{Frame: site.Frame, Origin: site.Origin, Counters: site.Counters, Sites: []*profile.Site{site}},
			module: site.Module, name: stableName(site.Function), file: fileName(&site.Frame),
		})
	}
	return s
}

// builds returns the build id of each module; of a module with several, as
// when it was replaced during the run, all.
func builds(p *profile.Profile) map[string]string {
	of := make(map[string]string)
	seen := make(map[string]bool)
	for _, rec := range p.Recordings {
		for _, im := range rec.Images {
			for _, m := range im.Modules() {
				if id := string(m.BuildID); !seen[m.Path+"\x00"+id] {
					seen[m.Path+"\x00"+id] = true
					of[m.Path] += id + "\x00"
				}
			}
		}
	}
	return of
}

type key struct{ module, function, file string }

func (m *matcher) sites() []*Site {
	m.pass(ByName, func(e *entry) (key, bool) { return key{e.module, e.name, e.file}, m.nameHolds(e) })
	m.matchMovedFiles()
	m.renameScopes()
	m.pass(ByFunction, func(e *entry) (key, bool) { return key{e.module, e.name, ""}, strings.Contains(e.name, "::") })
	m.renameFiles()
	m.lonePass(ByFunction, func(e *entry) (key, bool) { return key{"", e.name, e.file}, e.place.Named() && e.file != "" })
	m.lonePass(BySignature, func(e *entry) (key, bool) {
		return key{e.module, bareName(e.name), e.file}, e.place.Named() && e.place.Origin != profile.OriginLibc
	})
	m.matchNameless()
	m.matchUnnamed()
	m.matchFigures()

	var sites []*Site
	for _, e := range m.a.entries {
		s := &Site{Old: &e.place, Match: e.match}
		if e.pair != nil {
			s.New = &e.pair.place
		}
		sites = append(sites, s)
	}
	for _, e := range m.b.entries {
		if e.pair == nil {
			sites = append(sites, &Site{New: &e.place})
		}
	}
	return sites
}

// renameFiles gives what is left of b the files of a, where a file is on one
// side only and the functions found in another one all went to the same.
func (m *matcher) renameFiles() {
	inA, inB := make(map[string]bool), make(map[string]bool)
	for _, e := range m.a.entries {
		inA[e.file] = true
	}
	for _, e := range m.b.entries {
		inB[e.file] = true
	}
	from := make(map[string]string) // "" where they came from several
	for _, e := range m.b.entries {
		if e.pair == nil || e.file == "" || inA[e.file] || e.pair.file == "" || inB[e.pair.file] {
			continue
		}
		if other, known := from[e.file]; known && other != e.pair.file {
			from[e.file] = ""
		} else {
			from[e.file] = e.pair.file
		}
	}
	for _, e := range m.b.entries {
		if name := from[e.file]; name != "" {
			e.file = name
		}
	}
}

// nameHolds tells whether the name of a function means the same in another
// build: the start of code without a symbol does only in the same one.
func (m *matcher) nameHolds(e *entry) bool {
	return e.place.Named() || e.place.Function == "" || m.sameBuild(e.module)
}

func (m *matcher) sameBuild(module string) bool {
	id := m.a.builds[module]
	if id == "" || id == "\x00" {
		return false
	}
	for path, name := range m.modules {
		if name == module && m.b.builds[path] == id {
			return true
		}
	}
	return false
}

// groups are the entries without a partner, by key, in the order of their
// lines.
func groups(entries []*entry, keyOf func(*entry) (key, bool)) map[key][]*entry {
	by := make(map[key][]*entry)
	for _, e := range entries {
		if e.pair != nil || e.settled {
			continue
		}
		if k, ok := keyOf(e); ok {
			by[k] = append(by[k], e)
		}
	}
	for _, group := range by {
		slices.SortStableFunc(group, func(a, b *entry) int { return compareFrames(&a.place.Frame, &b.place.Frame) })
	}
	return by
}

// pass aligns the sites of each function that both sides have.
func (m *matcher) pass(how Match, keyOf func(*entry) (key, bool)) {
	b := groups(m.b.entries, keyOf)
	for k, group := range groups(m.a.entries, keyOf) {
		if others := b[k]; len(others) > 0 {
			m.pairUp(m.a.lumped(group, others), m.b.lumped(others, group), how, mustPair)
		}
	}
	m.a.dropLumped()
	m.b.dropLumped()
}

// matchMovedFiles pairs functions that are in another file now. Where several
// files have one of that name, they must resemble.
func (m *matcher) matchMovedFiles() {
	keyOf := func(e *entry) (key, bool) { return key{e.module, e.name, ""}, e.name != "" && m.nameHolds(e) }
	common := make(map[key]bool) // names that several files of one side have
	for _, entries := range [][]*entry{m.a.entries, m.b.entries} {
		seen := make(map[key]string)
		for _, e := range entries {
			k := key{e.module, e.name, ""}
			if file, known := seen[k]; known && file != e.file {
				common[k] = true
			}
			seen[k] = e.file
		}
	}
	b := groups(m.b.entries, keyOf)
	for k, group := range groups(m.a.entries, keyOf) {
		others := b[k]
		switch {
		case len(others) == 0:
		case common[k]:
			m.pairUp(group, others, ByFunction, mayResemble)
		default:
			m.pairUp(m.a.lumped(group, others), m.b.lumped(others, group), ByFunction, mustPair)
		}
	}
	m.a.dropLumped()
	m.b.dropLumped()
}

// lonePass is as pass, for keys that mean one function only, on either side.
func (m *matcher) lonePass(how Match, keyOf func(*entry) (key, bool)) {
	oneFunction := func(group []*entry) bool {
		return !slices.ContainsFunc(group, func(e *entry) bool {
			return e.name != group[0].name || e.module != group[0].module
		})
	}
	b := groups(m.b.entries, keyOf)
	for k, group := range groups(m.a.entries, keyOf) {
		if others := b[k]; len(others) > 0 && oneFunction(group) && oneFunction(others) {
			m.pairUp(group, others, how, mustPair)
		}
	}
}

func (m *matcher) pairUp(group, others []*entry, how Match, unpaired float64) {
	pairs := align(group, others, unpaired)
	if !asOne(pairs, group, others) {
		if shift, sure := shiftOf(m.a.linesOf(group[0]), m.b.linesOf(others[0])); sure {
			like := newLikeness(group, others)
			like.haveMoved(shift)
			pairs = like.align(unpaired)
		}
	}
	untangle(pairs)
	for _, p := range pairs {
		p.a.pair, p.b.pair = p.b, p.a
		p.a.match, p.b.match = how, how
	}
	for _, e := range slices.Concat(group, others) {
		e.settled = e.pair == nil
	}
}

// lumped makes one entry of the sites of a function whose lines are known on
// this side only.
func (s *side) lumped(group, others []*entry) []*entry {
	lines := func(e *entry) bool { return e.place.Line > 0 }
	if len(group) < 2 || !slices.ContainsFunc(group, lines) || slices.ContainsFunc(others, lines) {
		return group
	}
	group[0].takeIn(group[1:])
	return group[:1]
}

// takeIn adds other sites of the function, which are nothing on their own
// then.
func (e *entry) takeIn(others []*entry) {
	if len(others) > 0 {
		e.place.Line = 0
	}
	for _, o := range others {
		e.place.Counters.Add(&o.place.Counters)
		e.place.Sites = append(e.place.Sites, o.place.Sites...)
		o.place.Sites = nil
	}
}

// dropLumped leaves out the entries that have gone into others.
func (s *side) dropLumped() {
	s.entries = slices.DeleteFunc(s.entries, func(e *entry) bool { return len(e.place.Sites) == 0 })
}
