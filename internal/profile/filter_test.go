package profile_test

import (
	"regexp"
	"testing"
	"time"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
)

func restricted(t *testing.T, name string, f profile.Filter) *profile.Profile {
	t.Helper()
	return profile.New(open(t, name), profile.Options{Symbolizer: profiletest.Demo(), Filter: f})
}

func expressions(texts ...string) (all []*regexp.Regexp) {
	for _, text := range texts {
		all = append(all, regexp.MustCompile(text))
	}
	return all
}

// TestFilters checks what each filter leaves of the 1073 allocations.
func TestFilters(t *testing.T) {
	for name, c := range map[string]struct {
		filter profile.Filter
		want   uint64
	}{
		"a function":               {profile.Filter{Include: expressions("^collect$")}, 1000},
		"an outer function":        {profile.Filter{Include: expressions("^main$")}, 1073},
		"an inlined wrapper":       {profile.Filter{Include: expressions("push_back")}, 1000},
		"a file and line":          {profile.Filter{Include: expressions(`demo\.c:20$`)}, 1000},
		"a module":                 {profile.Filter{Include: expressions("libtable")}, 65},
		"one of two":               {profile.Filter{Include: expressions("^collect$", "libtable")}, 1065},
		"all but a function":       {profile.Filter{Exclude: expressions("^collect$")}, 73},
		"in and not in":            {profile.Filter{Include: expressions("main"), Exclude: expressions("collect", "libtable")}, 8},
		"nothing":                  {profile.Filter{Include: expressions("nosuch")}, 0},
		"an origin":                {profile.Filter{Origins: []profile.Origin{profile.OriginLibraries}}, 65},
		"two origins":              {profile.Filter{Origins: []profile.Origin{profile.OriginLibraries, profile.OriginLibc}}, 66},
		"sites in a module":        {profile.Filter{Modules: []string{"libtable.so.1"}}, 65},
		"by its path":              {profile.Filter{Modules: []string{"/opt/demo/bin/demo"}}, 1007},
		"small blocks":             {profile.Filter{MaxSize: number(16)}, 1040},
		"no blocks":                {profile.Filter{MaxSize: number(0)}, 0},
		"at no time that is known": {profile.Filter{Active: &profile.Span{To: time.Hour}}, 0},
	} {
		p := restricted(t, "single-thread", c.filter)
		var sites uint64
		for _, s := range p.Sites {
			sites += s.Counters.Calls
		}
		if p.Totals.Allocations != c.want || sites != c.want || p.Processes[0].Totals.Allocations != c.want {
			t.Errorf("%s: %d allocations, %d by site, want %d", name, p.Totals.Allocations, sites, c.want)
		}
		if !p.Restricted() || p.Totals.Frees != nil || p.WithoutLibc().Frees != nil || p.Timeline(true) != nil || p.CPU() != nil {
			t.Errorf("%s: it claims to know of a part what is only known of all", name)
		}
		whole := p.Restriction.Whole
		if whole[0]+whole[1]+whole[2] != 1073 {
			t.Errorf("%s: out of %v", name, whole)
		}
	}
}

// TestSmallBlocks: a stack is small by its greatest block.
func TestSmallBlocks(t *testing.T) {
	p := restricted(t, "single-thread", profile.Filter{MaxSize: number(11)})
	for _, s := range p.Sites {
		if s.Counters.SizeMax > 11 {
			t.Errorf("%+v", s)
		}
	}
	if p.Totals.Strdups != 40 || p.Totals.Allocations != 40 || p.Totals.FreeNulls != 0 {
		t.Errorf("%+v", p.Totals)
	}
}

// TestThreadProfile adds up what one thread did.
func TestThreadProfile(t *testing.T) {
	rec, err := recording.OpenThreads("../../format/testdata/handmade/two-threads.mallow", []string{recording.MainThread})
	if err != nil {
		t.Fatal(err)
	}
	p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo(), Threads: []string{recording.MainThread}})
	if p.Totals.News != 500 || p.Totals.Allocations != 500 || *p.Totals.Frees != 500 || p.Totals.LiveBlocks != 0 || !p.Restricted() {
		t.Errorf("%+v, %d frees", p.Totals, *p.Totals.Frees)
	}
}

// TestPartnersThatWereLeftOut are named all the same.
func TestPartnersThatWereLeftOut(t *testing.T) {
	whole, part := load(t, "single-thread"), restricted(t, "single-thread", profile.Filter{Include: expressions("libtable")})
	known := func(p *profile.Profile) (frames []profile.Frame) {
		for _, k := range p.Knowledge([]*profile.Site{site(t, p, "strdup_checked", 4)}) {
			for _, common := range []*profile.Common{k.BornAfter, k.FreedAfter} {
				if common != nil {
					frames = append(frames, common.Frame)
				}
			}
		}
		return frames
	}
	all, left := known(whole), known(part)
	if len(all) != len(left) {
		t.Fatalf("%v of all, %v of a part", all, left)
	}
	for i := range all {
		if all[i] != left[i] {
			t.Errorf("%v of all, %v of a part", all[i], left[i])
		}
	}
}

func TestCheckModules(t *testing.T) {
	recordings := open(t, "single-thread")
	if err := profile.CheckModules(recordings, []string{"demo", "/opt/demo/lib/libtable.so.1"}); err != nil {
		t.Error(err)
	}
	if err := profile.CheckModules(recordings, []string{"nosuch"}); err == nil || err.Error() != "--module nosuch: there is none; there are demo, libc.so.6, libtable.so.1" {
		t.Error(err)
	}
}

func TestGroups(t *testing.T) {
	p := load(t, "single-thread")
	for by, want := range map[profile.Grouping]int{profile.ByLine: len(p.Sites), profile.ByModule: 3, profile.ByFunction: 5, profile.ByType: 5} {
		groups := p.Group(p.Sites, by)
		var calls uint64
		for _, g := range groups {
			calls += g.Counters.Calls
		}
		if len(groups) != want || calls != p.Totals.Allocations {
			t.Errorf("by %s: %d groups, %d calls", by, len(groups), calls)
		}
	}
	first := p.Group(p.Sites, profile.ByType)[0]
	if first.AllocatedType != "std::vector<int>" || first.Counters.Calls != 1000 || first.Function != "" {
		t.Errorf("by type: %+v", first)
	}
}

// Times are whole milliseconds: what has the time of a boundary may have been on either side of it. Of 70,028 calls 28
// were from 3 to 1000 ms, and as far as the recorder looked 70,000 from 1100 to 1900 ms.
func TestSurelyWithin(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		span profile.Span
		want uint64
	}{
		{profile.Span{From: 0, To: 1050 * ms}, 28},
		{profile.Span{From: 2 * ms, To: 1001 * ms}, 28},
		{profile.Span{From: 3 * ms, To: 1050 * ms}, 0},
		{profile.Span{From: 0, To: 1000 * ms}, 0},
		{profile.Span{From: 0, To: 1000 * ms, Last: true}, 28},
		{profile.Span{From: 1050 * ms, To: 1950 * ms}, 70000 - 200},
		{profile.Span{From: 1050 * ms, To: 1900 * ms, Last: true}, 70000},
	} {
		p := restricted(t, "../habits", profile.Filter{Active: &c.span})
		var got uint64
		for _, of := range p.Restriction.Surely {
			got += of
		}
		if got != c.want {
			t.Errorf("%+v: %d, want %d", c.span, got, c.want)
		}
	}
}
