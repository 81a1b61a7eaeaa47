package profile_test

import (
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
)

// A region counts the samples that were released inside, and nobody knows what
// those stand for.
func TestFreesInsideOfSamples(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		for _, within := range []string{"", "request"} {
			rec, err := recording.Open("../../format/testdata/handmade/regions.mallow")
			if err != nil {
				t.Fatal(err)
			}
			for _, im := range rec.Images {
				if sampled {
					im.Sampling = &recording.Sampling{MeanBytes: 64}
				}
			}
			p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo(), Filter: profile.Filter{Region: within}})
			for _, region := range p.Regions {
				if (region.Frees == nil) != sampled || (region.LiveChangeBytes == nil) != sampled {
					t.Errorf("sampled %v: region %q: frees %v, live bytes %v", sampled, region.Name, region.Frees, region.LiveChangeBytes)
				}
			}
			if without := p.WithoutLibc(); (without.Frees == nil) != (sampled && within != "") {
				t.Errorf("sampled %v, within %q: frees %v", sampled, within, without.Frees)
			}
		}
	}
}
