package gocode

import (
	"slices"
	"testing"
)

func TestFlagsThatLeaveSymbolsOut(t *testing.T) {
	for _, test := range []struct {
		flags       []string
		environment string
		want        []string
	}{
		{nil, "", nil},
		{[]string{"-tags", "a", "-race"}, "-mod=mod", []string{"-tags", "a", "-race"}},
		{[]string{"-ldflags", "-s -w", "-race"}, "", []string{"-ldflags=-s -w -s=0 -w=0", "-race"}},
		{[]string{"-ldflags=-X a.b=c", "--ldflags=all=-s"}, "", []string{"-ldflags=-X a.b=c -s=0 -w=0", "-ldflags=all=-s -s=0 -w=0"}},
		{[]string{"-v"}, `-mod=mod '-ldflags=-s -w' -trimpath`, []string{"-ldflags=-s -w -s=0 -w=0", "-v"}},
		{[]string{"-ldflags"}, "-ldflags=-s", []string{"-ldflags=-s -s=0 -w=0", "-ldflags"}},
	} {
		if got := withSymbols(test.flags, test.environment); !slices.Equal(got, test.want) {
			t.Errorf("%q and %q: %q, want %q", test.flags, test.environment, got, test.want)
		}
	}
}
