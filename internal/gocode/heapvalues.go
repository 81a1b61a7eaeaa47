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
	"regexp"
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
	// inlined are the functions that are inlined there, up to that of the value.
	inlined []functionKey
}

// functionKey is a function by its package and name.
type functionKey struct{ pkg, name string }

// HeapValues are those of packages, and of what they import of their module.
type HeapValues struct {
	Version   string // of Go
	Values    []HeapValue
	functions map[functionKey]bool // all that there are
	called    map[functionKey]bool // those of them that are never inlined
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
	said, err := b.diagnoseInto(folder, ownModules(), patterns, false)
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
	h := &HeapValues{Version: t.Version, functions: make(map[functionKey]bool), called: make(map[functionKey]bool)}
	sources := make(map[string]*source, len(files))
	for path, importPath := range files {
		s := &source{importPath, path, functionsOf(path)}
		if inside, err := filepath.Rel(work, path); err == nil {
			s.short = inside
		}
		for _, f := range s.functions {
			h.functions[functionKey{importPath, f.name}] = true
		}
		sources[path] = s
	}
	for path, s := range sources {
		for _, escapes := range said[path] {
			for i := range escapes {
				h.add(sources, s, &escapes[i])
			}
		}
	}
	err = eachDiagnostic(folder, func(path string, d *diagnostic) {
		if s := sources[path]; s != nil && d.Code == "cannotInlineFunction" {
			h.called[s.functionAt(d.Range.Start.Line)] = true
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(h.Values, compareHeapValues)
	h.Values = slices.CompactFunc(h.Values, func(a, b HeapValue) bool { // once for each place that it is inlined into
		return compareHeapValues(a, b) == 0
	})
	return h, nil
}

// source is a file with the functions that it declares.
type source struct {
	importPath string
	short      string // path from the folder that was asked about
	functions  []sourceFunction
}

// functionAt returns the function that a line is in: "init" for variables of
// the package.
func (s *source) functionAt(line int) functionKey {
	for _, f := range s.functions {
		if f.first <= line && line <= f.last {
			return functionKey{s.importPath, f.name}
		}
	}
	return functionKey{s.importPath, "init"}
}

func (h *HeapValues) add(sources map[string]*source, s *source, e *Escape) {
	v := HeapValue{Package: s.importPath, Function: s.functionAt(e.Line).name, Value: e.value(), File: s.short, Line: e.Line, Why: e.reason()}
	for _, step := range e.Flow {
		v.Flow = append(v.Flow, step.Text)
	}
	for _, place := range e.Inlined {
		of := sources[place.File]
		if of == nil { // of another module: of whether it is inlined nothing is known
			v.inlined = nil
			break
		}
		v.inlined = append(v.inlined, of.functionAt(place.Line))
	}
	h.Values = append(h.Values, v)
}

func compareHeapValues(a, b HeapValue) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Why, b.Why),
		slices.CompareFunc(a.inlined, b.inlined, func(a, b functionKey) int {
			return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
		}))
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
// in a function those that escape for the same reason are the same first. One
// of an inlined function is no other than where that function is called.
func DiffHeapValues(was, now *HeapValues) []EscapeChange {
	before, after := was.groups(now), now.groups(was)
	var all []EscapeChange
	add := func(values []HeapValue, isNew bool, elsewhere *HeapValues) {
		for _, v := range values {
			all = append(all, EscapeChange{v, isNew, elsewhere.functions[functionKey{v.Package, v.Function}] || v.Function == "init"})
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
	return slices.CompactFunc(withoutRenamed(all), func(a, b EscapeChange) bool { // of several functions that are inlined into a line
		a.inlined = b.inlined
		return a.New == b.New && compareHeapValues(a.HeapValue, b.HeapValue) == 0
	})
}

type valueKey struct {
	functionKey
	value string
}

// groups are the values by function and how they are written, without those of
// inlined functions that have them where they are called, on the other side.
func (h *HeapValues) groups(other *HeapValues) map[valueKey][]HeapValue {
	there := make(map[valueKey]bool)
	for _, v := range other.Values {
		there[valueKey{functionKey{v.Package, v.Function}, v.Value}] = true
	}
	groups := make(map[valueKey][]HeapValue)
	for _, v := range h.Values {
		if f, ok := other.calledOf(v.inlined); ok && there[valueKey{f, v.Value}] {
			continue
		}
		k := valueKey{functionKey{v.Package, v.Function}, v.Value}
		groups[k] = append(groups[k], v)
	}
	return groups
}

// calledOf returns the innermost of inlined functions that is called here.
func (h *HeapValues) calledOf(inlined []functionKey) (functionKey, bool) {
	for _, f := range slices.Backward(inlined) {
		if h.called[f] {
			return f, true
		}
	}
	return functionKey{}, false
}

// withoutRenamed leaves out values that the compiler only writes differently: of
// a call that is inlined on one side it writes the result there, "~r0".
func withoutRenamed(all []EscapeChange) []EscapeChange {
	for i := 0; i < len(all); i++ {
		c := all[i]
		if !strings.Contains(c.Value, "~r") {
			continue
		}
		written := regexp.MustCompile("^" + resultName.ReplaceAllLiteralString(regexp.QuoteMeta(c.Value), `([\pL_][^ ]*\(.*\))`) + "$")
		other := slices.IndexFunc(all, func(o EscapeChange) bool {
			if o.New == c.New || o.Package != c.Package || o.Function != c.Function {
				return false
			}
			calls := written.FindStringSubmatch(o.Value)
			return calls != nil && !slices.ContainsFunc(calls[1:], isBuiltIn)
		})
		if other >= 0 {
			all = slices.Delete(all, max(i, other), max(i, other)+1)
			all = slices.Delete(all, min(i, other), min(i, other)+1)
			i = -1
		}
	}
	return all
}

// resultName is how the compiler writes the result of a call that it inlined.
var resultName = regexp.MustCompile(`~r\d+`)

func isBuiltIn(call string) bool {
	return slices.Contains([]string{"append", "make", "new", "string"}, callName(call))
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
