package profile

import (
	"cmp"
	"slices"

	"mallow/internal/recording"
)

// Region is a named kind of work: all that was done within regions of that
// name, in all threads and processes.
type Region struct {
	Name    string
	Entries uint64
	Inside  uint64 // threads that were inside at the end, or still are
	// Of samples only the number is known that were released inside, not what they
	// stand for: nil.
	Frees           *uint64 // calls of free and delete made inside
	LiveChangeBytes *int64  // by how much live bytes grew inside
	Origins         [Origins]Totals
	Sites           []*Site // with what they allocated inside

	stacks []*stack
}

// Totals returns what was allocated inside, with or without libc's own calls.
func (r *Region) Totals(libc bool) Totals {
	t := r.Origins[OriginProgram]
	t.Add(&r.Origins[OriginLibraries])
	if libc {
		t.Add(&r.Origins[OriginLibc])
	}
	t.Frees = r.Frees
	return t
}

// addRegions groups the stacks by the regions that they were called in, and
// adds what only the threads know.
func (p *Profile) addRegions(stacks []*stack) {
	byName := make(map[string]*Region)
	named := func(name string) *Region {
		region := byName[name]
		if region == nil {
			region = &Region{Name: name}
			if p.Sampling == nil {
				region.Frees, region.LiveChangeBytes = new(uint64), new(int64)
			}
			byName[name] = region
			p.Regions = append(p.Regions, region)
		}
		return region
	}
	for _, s := range stacks {
		for _, name := range p.within(s.regions()) {
			region := named(name)
			region.Origins[s.origin].addStack(s.function, s.counters)
			region.stacks = append(region.stacks, s)
		}
	}
	for _, process := range p.Processes {
		process.Image.EachRegion(func(id uint32, f *recording.RegionFigures) {
			names := p.within(p.forest.regionNames(process.Image, id))
			if len(names) == 0 {
				return
			}
			region := named(names[0])
			region.Entries += f.Entries
			region.Inside += f.Inside
			if region.Frees != nil {
				*region.Frees += uint64(max(0, f.Frees))
				*region.LiveChangeBytes += f.LiveBytes
			}
		})
	}
	for _, region := range p.Regions {
		region.Sites = newSites(p.sites, region.stacks)
	}
	slices.SortFunc(p.Regions, func(a, b *Region) int {
		ofA, ofB := a.Totals(true), b.Totals(true)
		return cmp.Or(cmp.Compare(ofB.Allocations, ofA.Allocations), cmp.Compare(a.Name, b.Name))
	})
}

// within leaves out the regions around the one that the profile is restricted
// to; all are left out where that is not among them.
func (p *Profile) within(names []string) []string {
	if p.Restriction.Region == "" {
		return names
	}
	return names[:slices.Index(names, p.Restriction.Region)+1]
}

// restrict replaces what the threads know of the whole process by what is
// known of the stacks: peak_bytes is then what was live at the process's peak.
// The frees that were made within a region are known, and those that threads
// made; who released the blocks of a stack is not.
func (process *Process) restrict(r *Restriction) {
	t := Totals{}
	for i := range process.Origins {
		process.Origins[i].Frees = nil
		t.Add(&process.Origins[i])
	}
	process.programPeak = t.PeakBytes - process.Origins[OriginLibc].PeakBytes
	process.Totals, t = t, process.Totals
	beyond := r.Filter
	beyond.Region = ""
	switch {
	case !beyond.empty() || r.Region != "" && (len(r.Threads) > 0 || process.Image.Sampling != nil):
		process.freesUnknown = true
	case r.Region != "":
		var frees, none uint64
		process.Image.EachRegion(func(id uint32, f *recording.RegionFigures) {
			if names := process.Image.RegionNames(id); len(names) > 0 && names[0] == r.Region {
				frees += uint64(max(0, f.Frees))
			}
		})
		process.programFrees = frees
		process.Origins[OriginLibc].Frees = &none
		process.Totals.Frees = &frees
	default:
		libc := *t.Frees - process.programFrees
		process.Origins[OriginLibc].Frees = &libc
		process.Totals.Frees = t.Frees
	}
}

// HasRegion tells whether a recording has a region of that name.
func HasRegion(recordings []*recording.Recording, name string) bool {
	for _, rec := range recordings {
		for _, im := range rec.Images {
			found := false
			im.EachRegion(func(id uint32, _ *recording.RegionFigures) {
				found = found || slices.Contains(im.RegionNames(id), name)
			})
			if found {
				return true
			}
		}
	}
	return false
}
