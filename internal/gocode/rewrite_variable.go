package gocode

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rewriteVariable makes a constant of a variable of the package that is given
// its value where it is declared and never again: the compiler lays out the
// interface value of a constant once, that of a variable each time.
func rewriteVariable(s *subject, e *editor) (string, bool) {
	if !strings.HasPrefix(s.line.Callee, "runtime.convT") {
		return "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, isIdentifier) {
		v, ok := at.info.Uses[at.expr.(*ast.Ident)].(*types.Var)
		if !ok || v.Pkg() != at.pkg || v.Parent() != at.pkg.Scope() || !at.becomesInterface() || !e.begin(&at) {
			continue
		}
		file := s.sources.files[s.sources.fset.Position(v.Pos()).Filename]
		if file == nil {
			continue
		}
		declaration := file.variables(v)
		if declaration == nil || !s.sources.fixed(file, declaration) || !e.turnTo(s.sources, file) {
			continue
		}
		e.changes = append(e.changes, change{declaration.TokPos, declaration.TokPos + token.Pos(len("var")), "const"})
		for _, spec := range declaration.Specs {
			of := spec.(*ast.ValueSpec)
			if of.Type == nil && len(of.Names) == 1 && !e.typed(of.Values[0]) {
				e.insertAt(of.Names[0].End(), " "+types.TypeString(e.info.Defs[of.Names[0]].Type(), e.qualifier))
			}
		}
		names := v.Name()
		if len(declaration.Specs) > 1 {
			names += " and those beside it"
		}
		return "make constants of " + names + ", which nothing changes", true
	}
	return "", false
}

func isIdentifier(_ *sourceFile, e ast.Expr) bool {
	_, ok := e.(*ast.Ident)
	return ok
}

// becomesInterface tells whether a value stands where one of an interface type
// is wanted: an argument, a result, an operand or what is assigned.
func (s *spot) becomesInterface() bool {
	if len(s.path) < 2 || isInterface(s.info.TypeOf(s.expr)) {
		return false
	}
	switch parent := s.path[1].(type) {
	case *ast.ReturnStmt:
		results := s.results()
		at := slices.Index(parent.Results, s.expr)
		return results != nil && at >= 0 && results.Len() == len(parent.Results) && isInterface(results.At(at).Type())
	case *ast.CallExpr:
		if parent.Fun == s.expr {
			return false
		}
		if tv := s.info.Types[parent.Fun]; tv.IsType() {
			return isInterface(tv.Type)
		}
		signature, ok := s.info.TypeOf(parent.Fun).(*types.Signature)
		at := slices.Index(parent.Args, s.expr)
		if !ok || at < 0 || parent.Ellipsis.IsValid() {
			return false
		}
		return isInterface(parameter(signature, at, false))
	case *ast.AssignStmt:
		at := slices.Index(parent.Rhs, s.expr)
		return at >= 0 && len(parent.Lhs) == len(parent.Rhs) && isInterface(s.info.TypeOf(parent.Lhs[at]))
	case *ast.BinaryExpr:
		return isInterface(s.info.TypeOf(parent.X)) || isInterface(s.info.TypeOf(parent.Y))
	}
	return false
}

// results are those of the function around the spot.
func (s *spot) results() *types.Tuple {
	var t types.Type
	switch f := s.innermost().(type) {
	case *ast.FuncDecl:
		t = s.info.Defs[f.Name].Type()
	case *ast.FuncLit:
		t = s.info.TypeOf(f)
	}
	if signature, ok := t.(*types.Signature); ok {
		return signature.Results()
	}
	return nil
}

// variables returns the declaration of a variable of the package.
func (f *sourceFile) variables(v *types.Var) *ast.GenDecl {
	for _, d := range f.syntax.Decls {
		if of, ok := d.(*ast.GenDecl); ok && of.Tok == token.VAR && contains(of, v.Pos()) {
			return of
		}
	}
	return nil
}

// fixed tells whether all variables of a declaration could be constants: each
// is given a constant there, of a type of which constants are computed with as
// variables are, and nothing in the package, however it is built, gives it
// another value or takes its address.
func (s *sources) fixed(f *sourceFile, declaration *ast.GenDecl) bool {
	named := make(map[string]bool)
	places := make(map[token.Pos]bool)
	for _, spec := range declaration.Specs {
		of, ok := spec.(*ast.ValueSpec)
		if !ok || len(of.Values) != len(of.Names) {
			return false
		}
		for i, name := range of.Names {
			v, ok := f.info.Defs[name].(*types.Var)
			if !ok || v.Exported() || f.info.Types[of.Values[i]].Value == nil || !constantLike(v.Type()) || of.Type == nil && len(of.Names) > 1 {
				return false
			}
			named[name.Name], places[v.Pos()] = true, true
		}
	}
	for _, other := range s.files {
		if other.pkg.Path() == f.pkg.Path() && other.changesAny(places) {
			return false
		}
	}
	return len(named) > 0 && s.unnamedElsewhere(filepath.Dir(s.path(f)), named)
}

// constantLike tells whether expressions with constants of a type have the
// values that they have with variables, or are no valid program. Strings of the
// type string itself may be set by the linker.
func constantLike(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsString|types.IsInteger|types.IsBoolean) != 0 && basic.Kind() != types.Uintptr &&
		!types.Identical(t, types.Typ[types.String])
}

// changesAny tells whether a file assigns to one of the variables that are
// declared at some places, takes its address, or makes a floating point number
// of it, as which a constant is computed with exactly.
func (f *sourceFile) changesAny(places map[token.Pos]bool) bool {
	is := func(v *types.Var) bool { return v != nil && places[v.Pos()] }
	found := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil || found {
			return false
		}
		found = is(f.addressed(n)) || slices.ContainsFunc(f.assigned(n), is)
		call, ok := n.(*ast.CallExpr)
		if !ok || !f.info.Types[call.Fun].IsType() {
			return !found
		}
		if basic, ok := f.info.TypeOf(call).Underlying().(*types.Basic); ok && basic.Info()&(types.IsFloat|types.IsComplex) == 0 {
			return !found
		}
		ast.Inspect(call, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				v, _ := f.info.Uses[name].(*types.Var)
				found = found || is(v)
			}
			return !found
		})
		return !found
	})
	return found
}

// unnamedElsewhere tells whether no other source of a package's folder, such as
// for another system or in assembly, has one of some names; and none links one
// to another package's.
func (s *sources) unnamedElsewhere(folder string, names map[string]bool) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		known := s.files[path] != nil
		switch filepath.Ext(path) {
		case ".go":
		case ".s", ".S":
			known = false
		default:
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		for name := range names {
			if linked(content, name) || !known && mentionsName(path, content, name) {
				return false
			}
		}
	}
	return true
}

func linked(content []byte, name string) bool {
	for line := range strings.Lines(string(content)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "//go:linkname" && words[1] == name {
			return true
		}
	}
	return false
}

func mentionsName(path string, content []byte, name string) bool {
	if filepath.Ext(path) != ".go" {
		return strings.Contains(string(content), name)
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
	if err != nil {
		return true
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// typed tells whether a constant has its type from what is written.
func (f *sourceFile) typed(value ast.Expr) bool {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	return ok && f.info.Types[call.Fun].IsType()
}
