package poolalias_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"mallow/internal/gocode/poolalias"
)

func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), poolalias.Analyzer, "a")
}
