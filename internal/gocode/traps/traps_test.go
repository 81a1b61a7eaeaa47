package traps_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"mallow/internal/gocode/traps"
)

// Each analyzer has a package of its name that says what it reports and what
// it leaves alone.
func TestTraps(t *testing.T) {
	for _, trap := range traps.All {
		t.Run(trap.Name, func(t *testing.T) { analysistest.Run(t, analysistest.TestData(), trap.Analyzer, trap.Name) })
	}
}
