package gocode

import (
	"cmp"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"

	"mallow/internal/gocode/poolalias"
)

// Unsound is a line that saves an allocation and is wrong: what it hands out
// may change afterwards.
type Unsound struct {
	File    string
	Line    int
	Message string
}

// Unsound returns what is unsound in the package and in those of its module
// that it imports, by file and line.
func (t *Tests) Unsound() []Unsound {
	if t.sources == nil {
		return nil
	}
	return t.sources.unsound()
}

func (s *sources) unsound() []Unsound {
	var all []Unsound
	for _, f := range s.files {
		pass := &analysis.Pass{
			Analyzer: poolalias.Analyzer, Fset: s.fset, Files: nil, Pkg: f.pkg, TypesInfo: f.info,
			Report: func(d analysis.Diagnostic) {
				at := s.fset.Position(d.Pos)
				all = append(all, Unsound{filepath.Clean(at.Filename), at.Line, d.Message})
			},
		}
		pass.Files = append(pass.Files, f.syntax)
		// The analyzer has no errors of its own.
		_, _ = poolalias.Analyzer.Run(pass)
	}
	return UnsoundOnce(all)
}

// UnsoundOnce sorts by file and line and leaves out what is there twice: several
// packages may import the same one.
func UnsoundOnce(all []Unsound) []Unsound {
	slices.SortFunc(all, func(a, b Unsound) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
