package gocode

import (
	"cmp"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"mallow/internal/gocode/poolalias"
	"mallow/internal/gocode/traps"
)

// Unsound is a line that saves an allocation and is wrong, as what it hands out
// may change afterwards; or one that looks as if it saved one.
type Unsound struct {
	File    string
	Line    int
	Message string
	Rule    string // the analyzer
	// Wasteful lines are not wrong, but cost more than they save.
	Wasteful bool
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
	analyze := func(a *analysis.Analyzer, rule string, wasteful bool, of *sourceFile, files []*ast.File) {
		pass := &analysis.Pass{
			Analyzer: a, Fset: s.fset, Files: files, Pkg: of.pkg, TypesInfo: of.info,
			Report: func(d analysis.Diagnostic) {
				at := s.fset.Position(d.Pos)
				all = append(all, Unsound{filepath.Clean(at.Filename), at.Line, d.Message, rule, wasteful})
			},
		}
		// The analyzers have no errors of their own.
		_, _ = a.Run(pass)
	}
	packages := make(map[*types.Info][]*ast.File) // without tests, which may waste
	of := make(map[*types.Info]*sourceFile)
	for path, f := range s.files {
		analyze(poolalias.Analyzer, "pool-alias", false, f, []*ast.File{f.syntax})
		if !strings.HasSuffix(path, "_test.go") {
			packages[f.info] = append(packages[f.info], f.syntax)
			of[f.info] = f
		}
	}
	for info, files := range packages {
		for _, trap := range traps.All {
			analyze(trap.Analyzer, trap.Name, !trap.Wrong, of[info], files)
		}
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
