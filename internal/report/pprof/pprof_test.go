package pprof

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"

	mallow "mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// What pprof reads adds up to the totals.
func TestTotals(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		rec, err := recording.Open(filepath.Join("../../../format/testdata/handmade", golden.Name+".mallow"))
		if err != nil {
			t.Fatal(err)
		}
		p := mallow.New([]*recording.Recording{rec}, mallow.Options{Symbolizer: profiletest.Demo()})
		var written bytes.Buffer
		if err := Write(&written, p, p.Sites); err != nil {
			t.Fatal(err)
		}
		read, err := profile.Parse(&written)
		if err != nil {
			t.Fatal(err)
		}
		var sum [4]int64
		for _, s := range read.Sample {
			for i, v := range s.Value {
				sum[i] += v
			}
		}
		var live, liveBytes int64
		for _, s := range p.Sites {
			live += s.Counters.LiveBlocks()
			liveBytes += s.Counters.LiveBytes()
		}
		if sum[0] != int64(p.Totals.Allocations) || sum[1] != int64(p.Totals.Bytes) {
			t.Errorf("%s: %v, not %d allocations of %d bytes", golden.Name, sum, p.Totals.Allocations, p.Totals.Bytes)
		}
		// The live blocks of a site and those of its stacks differ where one stack is credited with others' releases.
		if sum[2] < live || sum[3] < liveBytes {
			t.Errorf("%s: %v, not %d live blocks of %d bytes", golden.Name, sum, live, liveBytes)
		}
	}
}

// pprof simplifies a name that the system has, too, as one of C++: it leaves out all
// that stands in brackets, be it the type that a function of Rust is of.
func TestNamesThatPprofKeeps(t *testing.T) {
	b := &builder{profile: new(profile.Profile), functions: make(map[functionKey]*profile.Function)}
	for name, simplified := range map[string]bool{
		"std::vector<int, std::allocator<int> >::push_back(int const&)": true,
		"alloc::vec::Vec<T,A>::push":                                    true,
		"main":                                                          true,
		"<serde_json::value::Value as core::clone::Clone>::clone":    false,
		"alloc::slice::<impl [T]>::to_vec":                           false,
		"core::iter::traits::iterator::Iterator::collect::<Vec<u8>>": false,
	} {
		f := b.function(name, "a.rs")
		if f.Name != name || (f.SystemName == name) != simplified {
			t.Errorf("%s is called %q, by the system %q", name, f.Name, f.SystemName)
		}
	}
}
