package gocode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mallow/internal/launch"
)

// HeapValue is a value that the compiler puts on the heap.
type HeapValue struct {
	Package  string // import path
	Function string // such as "(*T).Method"; "init" for variables of the package
	Value    string // as the compiler writes it
	File     string // from the folder that was asked about
	Line     int
	Why      string
	Flow     []string // the compiler's own words
}

// HeapValues are those of packages, and of what they import of their module.
type HeapValues struct {
	Version   string // of Go
	Values    []HeapValue
	functions map[[2]string]bool // all that there are, by package and name
}

// ReadHeapValues lets the compiler say what goes to the heap in packages of the
// working directory. Tests are not compiled.
func ReadHeapValues(goFlags, patterns []string) (*HeapValues, error) {
	t, err := FindToolchain()
	if err != nil {
		return nil, err
	}
	folder, err := launch.Scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	b := &Builder{Toolchain: t, GoFlags: goFlags}
	said, err := b.diagnoseInto(folder, ownModules(), append([]string{"build", "--"}, patterns...))
	work, _ := os.Getwd()
	var failed *CommandError
	if errors.As(err, &failed) { // where a commit was written to says nothing to anybody
		failed.What = strings.Join(patterns, " ") + " does not build"
		failed.Output = strings.ReplaceAll(failed.Output, work+"/", "./")
	}
	if err != nil {
		return nil, err
	}
	files, err := ownFiles(goFlags, patterns)
	if err != nil {
		return nil, err
	}
	h := &HeapValues{Version: t.Version, functions: make(map[[2]string]bool)}
	for path, importPath := range files {
		functions := functionsOf(path)
		for _, f := range functions {
			h.functions[[2]string{importPath, f.name}] = true
		}
		short := path
		if inside, err := filepath.Rel(work, path); err == nil {
			short = inside
		}
		for _, escapes := range said[path] {
			for i := range escapes {
				h.add(importPath, short, functions, &escapes[i])
			}
		}
	}
	slices.SortFunc(h.Values, compareHeapValues)
	h.Values = slices.CompactFunc(h.Values, func(a, b HeapValue) bool { // once for each place that it is inlined into
		return a.File == b.File && a.Line == b.Line && a.Value == b.Value && a.Why == b.Why
	})
	return h, nil
}

func (h *HeapValues) add(importPath, file string, functions []sourceFunction, e *Escape) {
	v := HeapValue{Package: importPath, Function: "init", Value: e.value(), File: file, Line: e.Line, Why: e.reason()}
	for _, f := range functions {
		if f.first <= e.Line && e.Line <= f.last {
			v.Function = f.name
		}
	}
	for _, step := range e.Flow {
		v.Flow = append(v.Flow, step.Text)
	}
	h.Values = append(h.Values, v)
}

func compareHeapValues(a, b HeapValue) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Why, b.Why))
}

// value is what escapes, however that is said.
func (e *Escape) value() string {
	what, _ := strings.CutSuffix(e.Message, " escapes to heap")
	return strings.TrimPrefix(what, "moved to heap: ")
}

// ownFiles are the source files of packages, and of what they import of their
// module, with their import paths.
func ownFiles(goFlags, patterns []string) (map[string]string, error) {
	args := append([]string{"list", "-deps", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,Standard,Module"}, goFlags...)
	out, err := goOutput(append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir   string
			GoFiles, CgoFiles []string
			Standard          bool
			Module            *struct{ Main bool }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list says what cannot be read: %w", err)
		}
		if p.Standard || p.Module != nil && !p.Module.Main {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			files[filepath.Join(p.Dir, name)] = p.ImportPath
		}
	}
}

type sourceFunction struct {
	name        string
	first, last int // lines
}

// functionsOf returns the functions that a file declares, none of one that
// cannot be read.
func functionsOf(path string) []sourceFunction {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var all []sourceFunction
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			all = append(all, sourceFunction{declaredName(f), fset.Position(f.Pos()).Line, fset.Position(f.End()).Line})
		}
	}
	return all
}

// declaredName is the name of a function as symbols have it, without its
// package.
func declaredName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of, pointer := f.Recv.List[0].Type, false
	for {
		switch t := of.(type) {
		case *ast.ParenExpr:
			of = t.X
			continue
		case *ast.StarExpr:
			of, pointer = t.X, true
			continue
		case *ast.IndexExpr:
			of = t.X
			continue
		case *ast.IndexListExpr:
			of = t.X
			continue
		case *ast.Ident:
			if pointer {
				return "(*" + t.Name + ")." + f.Name.Name
			}
			return t.Name + "." + f.Name.Name
		}
		return f.Name.Name
	}
}

// EscapeChange is a value that goes to the heap on one side alone.
type EscapeChange struct {
	HeapValue
	New bool // it does now; otherwise it did
	// Kept tells that its function is on both sides.
	Kept bool
}

// DiffHeapValues compares two sides. A value is the same when its function is
// and the compiler writes it the same way, whatever line it is in; of several
// in a function those that escape for the same reason are the same first.
func DiffHeapValues(was, now *HeapValues) []EscapeChange {
	type key struct{ pkg, function, value string }
	group := func(values []HeapValue) map[key][]HeapValue {
		groups := make(map[key][]HeapValue)
		for _, v := range values {
			k := key{v.Package, v.Function, v.Value}
			groups[k] = append(groups[k], v)
		}
		return groups
	}
	before, after := group(was.Values), group(now.Values)
	var all []EscapeChange
	add := func(values []HeapValue, isNew bool, elsewhere *HeapValues) {
		for _, v := range values {
			all = append(all, EscapeChange{v, isNew, elsewhere.functions[[2]string{v.Package, v.Function}] || v.Function == "init"})
		}
	}
	for k, values := range after {
		gone, added := withoutCommon(before[k], values)
		add(added, true, was)
		add(gone, false, now)
		delete(before, k)
	}
	for _, values := range before {
		add(values, false, now)
	}
	slices.SortFunc(all, func(a, b EscapeChange) int {
		order := func(c EscapeChange) int {
			switch {
			case c.New && c.Kept:
				return 0
			case c.New:
				return 1
			case c.Kept:
				return 2
			}
			return 3
		}
		return cmp.Or(cmp.Compare(order(a), order(b)), compareHeapValues(a.HeapValue, b.HeapValue))
	})
	return all
}

// withoutCommon leaves out what both have: first by the reason, then by number.
func withoutCommon(was, now []HeapValue) (gone, added []HeapValue) {
	gone = slices.Clone(was)
	for _, v := range now {
		if at := slices.IndexFunc(gone, func(w HeapValue) bool { return w.Why == v.Why }); at >= 0 {
			gone = slices.Delete(gone, at, at+1)
		} else {
			added = append(added, v)
		}
	}
	common := min(len(gone), len(added))
	return gone[common:], added[common:]
}
