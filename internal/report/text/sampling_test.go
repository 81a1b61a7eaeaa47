package text

import (
	"strings"
	"testing"

	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// What samples tell is marked wherever it stands.
func TestSampledIsMarked(t *testing.T) {
	facts := []analyze.Fact{{Kind: analyze.Temporary, Share: 1}, {Kind: analyze.OneSize, Bytes: 16}}
	callers := []profile.Caller{
		{Frame: profile.Frame{Function: "a"}, Counters: recording.Counters{Calls: 70}},
		{Frame: profile.Frame{Function: "b"}, Counters: recording.Counters{Calls: 30}},
	}
	result := advise.Result{Advice: []advise.Advice{{Title: "x", Remedy: "y"}}}
	for _, test := range []struct {
		sampling             *profile.Sampling
		facts, callers, todo string
	}{
		{nil, "temporary: freed with nothing allocated in between, always 16 B", "a (70), b (30)", "what to do"},
		{&profile.Sampling{}, "its samples: temporary: freed with nothing allocated in between, always 16 B", "a (~70), b (~30)",
			"what to do     (by samples: all figures are estimates)"},
	} {
		r := newReport(&profile.Profile{Sampling: test.sampling}, Options{Advice: &result})
		if got := r.sentences(facts); got != test.facts {
			t.Errorf("%q, want %q", got, test.facts)
		}
		if got := r.callerList(callers, "", callersShown); got != test.callers {
			t.Errorf("%q, want %q", got, test.callers)
		}
		if got := strings.TrimSpace(strings.Join(r.part(r.advice)[:2], "\n")); got != test.todo {
			t.Errorf("%q, want %q", got, test.todo)
		}
	}
}
