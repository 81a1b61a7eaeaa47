package gocode

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// asInterface tells that the line's object is returned as an interface value, for which
// a value would need a place on the heap as well.
func (s *subject) asInterface() bool {
	return slices.ContainsFunc(s.escapes, func(e Escape) bool {
		return strings.HasSuffix(e.reason(), "it is returned") && slices.ContainsFunc(e.Flow, func(step Step) bool { return strings.HasSuffix(step.Text, "(interface-converted)") })
	})
}

// keptByCallers tells what those who are given the objects of the line do with them
// that puts them on the heap wherever they are made, and whether they store them; ""
// where it is not so of most.
func (s *subject) keptByCallers() (how string, stored bool) {
	const most = 0.9
	var all, kept float64
	for _, stack := range s.line.Stacks {
		all += stack.Allocs
		at := slices.Index(stack.Frames, s.line.Frame)
		if at < 0 || at+1 == len(stack.Frames) {
			continue
		}
		caller := &stack.Frames[at+1]
		for _, call := range s.sources.calls(caller.File, caller.Line, s.line.Function) {
			words, stores := call.keeps(call.path, true)
			if words == "" {
				continue
			}
			if kept += stack.Allocs; how == "" {
				how, stored = words, stores
			}
			break
		}
	}
	if kept < most*all {
		return "", false
	}
	return how, stored
}

// keeps tells what becomes of an object outside of the function that has it, "" where
// it may be nothing: it is stored, or passed to a method of which nobody knows whose
// it is. The path leads from the object outwards; follow tells whether to look at
// what is done with a variable that is given the object, too.
func (f *sourceFile) keeps(path []ast.Node, follow bool) (how string, stored bool) {
	object := path[0].(ast.Expr)
	for _, n := range path[1:] {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.KeyValueExpr, *ast.CompositeLit, *ast.UnaryExpr:
			object = n.(ast.Expr) // which has it
			continue
		case *ast.AssignStmt:
			if at := slices.Index(n.Rhs, object); at >= 0 { // of several results it is the first
				return f.keptIn(n.Lhs[at], object, path, follow)
			}
		case *ast.SendStmt:
			if n.Value == object {
				return "it is sent on a channel", true
			}
		case *ast.CallExpr:
			return f.keptBy(n, object)
		}
		break
	}
	return "", false
}

func (f *sourceFile) keptIn(to, object ast.Expr, path []ast.Node, follow bool) (how string, stored bool) {
	name, ok := ast.Unparen(to).(*ast.Ident)
	if !ok {
		return storedBy + text(to) + " = " + text(object), true
	}
	variable, ok := f.info.ObjectOf(name).(*types.Var)
	switch {
	case !ok:
		return "", false
	case variable.Parent() == f.pkg.Scope():
		return storedBy + text(to) + " = " + text(object), true
	case !follow:
		return "", false
	}
	ast.Inspect(path[len(path)-2], func(n ast.Node) bool { // the function; outside of it is the file
		if use, ok := n.(*ast.Ident); ok && how == "" && f.info.Uses[use] == types.Object(variable) {
			around, _ := astutil.PathEnclosingInterval(f.syntax, use.Pos(), use.End())
			how, stored = f.keeps(around, false)
		}
		return how == ""
	})
	return how, stored
}

func (f *sourceFile) keptBy(call *ast.CallExpr, argument ast.Expr) (how string, stored bool) {
	if !slices.Contains(call.Args, argument) {
		return "", false
	}
	name := callName(text(call))
	if name == "append" {
		return storedBy + text(call), true
	}
	if method, ok := f.calledObject(call).(*types.Func); ok && method.Signature().Recv() != nil && types.IsInterface(method.Signature().Recv().Type()) {
		return argumentOf + name + ", " + mayKeep, false
	}
	return "", false
}
