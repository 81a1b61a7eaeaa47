package profile_test

import (
	"slices"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

func open(t *testing.T, names ...string) []*recording.Recording {
	t.Helper()
	var all []*recording.Recording
	for _, name := range names {
		rec, err := recording.Open("../../format/testdata/handmade/" + name + ".mallow")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	return all
}

func load(t *testing.T, names ...string) *profile.Profile {
	t.Helper()
	return profile.New(open(t, names...), profile.Options{Symbolizer: profiletest.Demo()})
}

// profileOf is the profile of a process that a test made up.
func profileOf(t *testing.T, process *recordingtest.Process) *profile.Profile {
	t.Helper()
	folder := t.TempDir()
	if err := process.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

func site(t *testing.T, p *profile.Profile, function string, line int) *profile.Site {
	t.Helper()
	i := slices.IndexFunc(p.Sites, func(s *profile.Site) bool { return s.Function == function && s.Line == line })
	if i < 0 {
		t.Fatalf("no site %s:%d", function, line)
	}
	return p.Sites[i]
}
