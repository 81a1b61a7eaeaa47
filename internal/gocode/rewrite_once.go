package gocode

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"unicode"
)

// rewriteConstantError makes an error whose text never changes once, in a
// variable of the package. Nobody may be able to tell two such errors apart,
// and no part of the package may need one before it is made.
func rewriteConstantError(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "errors.New" && s.line.Callee != "fmt.Errorf" {
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if len(call.Args) != 1 || call.Ellipsis.IsValid() || !e.begin(&at) {
			continue
		}
		words, ok := e.constantText(call.Args[0])
		if _, literal := call.Args[0].(*ast.BasicLit); !ok || !literal || strings.Contains(words, "%") || s.sources.comparesErrors(e.pkg) || s.sources.calledAtStart(e) {
			continue
		}
		name := e.fresh(nameOf("err", words))
		e.declareBefore(fmt.Sprintf("var %s = %s\n\n", name, e.source(call)))
		e.replace(call, name)
		return "make the error " + text(call.Args[0]) + " once", true
	}
	return "", false
}

// rewriteCompileOnce compiles a constant pattern once, when the program starts.
func rewriteCompileOnce(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "regexp.MustCompile" {
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if len(call.Args) != 1 || !e.begin(&at) || len(at.path) < 2 {
			continue
		}
		pattern, ok := e.constantText(call.Args[0])
		if _, literal := call.Args[0].(*ast.BasicLit); !ok || !literal || s.sources.calledAtStart(e) {
			continue
		}
		if _, err := regexp.Compile(pattern); err != nil {
			continue // it panics when it is called, and must not before
		}
		base := ""
		switch parent := at.path[1].(type) {
		case *ast.SelectorExpr:
			if parent.Sel.Name == "Longest" {
				continue
			}
			base = "pattern"
		case *ast.AssignStmt:
			name, ok := parent.Lhs[0].(*ast.Ident)
			if !ok || parent.Tok != token.DEFINE || len(parent.Lhs) != 1 || !e.onlyMatches(e.info.Defs[name]) {
				continue
			}
			base = name.Name
		default:
			continue
		}
		name := e.fresh(nameOf(base, e.function.Name.Name))
		e.declareBefore(fmt.Sprintf("var %s = %s\n\n", name, e.source(call)))
		e.replace(call, name)
		return "compile " + text(call.Args[0]) + " once", true
	}
	return "", false
}

// onlyMatches tells whether of a pattern nothing but methods are called, none
// that changes it.
func (e *editor) onlyMatches(pattern types.Object) bool {
	if pattern == nil {
		return false
	}
	for _, use := range e.uses(pattern) {
		path := e.around(use)
		selector, ok := path[1].(*ast.SelectorExpr)
		if !ok || selector.Sel.Name == "Longest" {
			return false
		}
		if call, ok := path[2].(*ast.CallExpr); !ok || call.Fun != ast.Expr(selector) {
			return false
		}
	}
	return true
}

// declareBefore puts a declaration before the function.
func (e *editor) declareBefore(declaration string) {
	at := e.function.Pos()
	if e.function.Doc != nil {
		at = e.function.Doc.Pos()
	}
	e.insertAt(at, declaration)
}

// nameOf makes a name of the first words of a text.
func nameOf(prefix, words string) string {
	name := prefix
	for i, word := range strings.FieldsFunc(words, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if i == 4 {
			break
		}
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// comparesErrors tells whether any package that is known compares two errors
// neither of which is a variable of a package, or uses one as a key: then it
// may matter whether two errors are the same one.
func (s *sources) comparesErrors(*types.Package) bool {
	if s.errorsCompared == nil {
		found := false
		for _, f := range s.files {
			found = found || f.comparesErrors()
		}
		s.errorsCompared = &found
	}
	return *s.errorsCompared
}

func (f *sourceFile) comparesErrors() bool {
	found := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				found = found || f.anyError(n.X) && f.anyError(n.Y)
			}
		case *ast.CallExpr:
			if f.callee(n) == "errors.Is" && len(n.Args) == 2 {
				found = found || f.anyError(n.Args[1])
			}
		case *ast.MapType:
			key := f.info.TypeOf(n.Key)
			found = found || isInterface(key) && types.Implements(key, errorType)
		case *ast.SwitchStmt:
			found = found || n.Tag != nil && f.anyError(n.Tag) && f.anyCase(n)
		}
		return !found
	})
	return found
}

// anyError tells whether an expression is an interface value, as an error is,
// that may be any: not nil and no variable of a package.
func (f *sourceFile) anyError(e ast.Expr) bool {
	tv := f.info.Types[e]
	if tv.IsNil() || tv.Type == nil || !isInterface(tv.Type) {
		return false
	}
	var name *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	default:
		return true
	}
	v, ok := f.info.Uses[name].(*types.Var)
	return !ok || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope()
}

func (f *sourceFile) anyCase(s *ast.SwitchStmt) bool {
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			if f.anyError(e) {
				return true
			}
		}
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func isInterface(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Interface)
	return ok
}

// calledAtStart tells whether the variables of the package could be given
// their first values by code that calls the function in a way that the compiler
// does not see: by a function value or an interface. Those that it does see
// have the new variable made first.
func (s *sources) calledAtStart(e *editor) bool {
	seen := make(map[types.Object]bool)
	for _, f := range s.files {
		if f.pkg != e.pkg {
			continue
		}
		for _, d := range f.syntax.Decls {
			variables, ok := d.(*ast.GenDecl)
			if ok && variables.Tok == token.VAR && s.callsHidden(f, variables, seen) {
				return true
			}
		}
	}
	return false
}

// callsHidden tells whether a node calls what is not known, or hands code of
// the package to another package, which may call it.
func (s *sources) callsHidden(f *sourceFile, n ast.Node, seen map[types.Object]bool) bool {
	hidden := false
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || hidden {
			return !hidden
		}
		if tv := f.info.Types[call.Fun]; tv.IsType() || tv.IsBuiltin() {
			return true
		}
		function := f.called(call)
		switch {
		case function == nil || function.Pkg() == nil:
			hidden = true
		case function.Pkg() != f.pkg:
			for _, argument := range call.Args {
				hidden = hidden || carriesCode(f.info.TypeOf(argument))
			}
		case !seen[function]:
			seen[function] = true
			body, of := s.bodyOf(function)
			hidden = body == nil || s.callsHidden(of, body, seen)
		}
		return !hidden
	})
	return hidden
}

// called returns the function or method that a call names, nil where it is a
// value or the method of an interface.
func (f *sourceFile) called(call *ast.CallExpr) *types.Func {
	var name *ast.Ident
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name = fun.Sel
		if selection := f.info.Selections[fun]; selection != nil && isInterface(selection.Recv()) {
			return nil
		}
	default:
		return nil
	}
	function, _ := f.info.Uses[name].(*types.Func)
	return function
}

// bodyOf returns the declaration of a function that is known.
func (s *sources) bodyOf(function *types.Func) (*ast.BlockStmt, *sourceFile) {
	f := s.files[s.fset.Position(function.Pos()).Filename]
	if f == nil {
		return nil, nil
	}
	for _, d := range f.syntax.Decls {
		if of, ok := d.(*ast.FuncDecl); ok && of.Name.Pos() == function.Origin().Pos() {
			return of.Body, f
		}
	}
	return nil, nil
}

// carriesCode tells whether a value of a type may have functions of the
// package in it.
func carriesCode(t types.Type) bool {
	if t == nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Slice:
		return carriesCode(u.Elem())
	case *types.Array:
		return carriesCode(u.Elem())
	case *types.Map:
		return carriesCode(u.Key()) || carriesCode(u.Elem())
	}
	return true
}
