package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// rewriteLazy makes a string where it is needed: in the branch that alone uses
// it.
func rewriteLazy(s *subject, e *editor) (string, bool) {
	declaration, branch := lazyBranch(s, e)
	if branch == nil {
		return "", false
	}
	e.remove(declaration)
	e.insertBefore(branch.List[0], e.source(declaration)+"\n")
	return "make " + text(declaration.Lhs[0]) + " where it is needed", true
}

// lazyBranch returns the declaration of a string that the line makes, and the
// branch that alone needs it; nil where there is none.
func lazyBranch(s *subject, e *editor) (*ast.AssignStmt, *ast.BlockStmt) {
	for _, at := range s.sources.spots(s.line.File, s.line.Line, func(*sourceFile, ast.Expr) bool { return true }) {
		statement, list := at.listed()
		declaration, ok := statement.(*ast.AssignStmt)
		if !ok || declaration.Tok != token.DEFINE || len(declaration.Lhs) != 1 || len(declaration.Rhs) != 1 || !e.begin(&at) {
			continue
		}
		name, ok := declaration.Lhs[0].(*ast.Ident)
		if !ok || e.info.Defs[name] == nil || !s.makes(e, declaration.Rhs[0]) {
			continue
		}
		branch := e.onlyBranch(e.info.Defs[name], declaration, list)
		if branch != nil && e.harmless(declaration.Rhs[0]) && e.sameThere(&at, declaration, branch) {
			return declaration, branch
		}
	}
	return nil, nil
}

// makes tells whether an expression is what allocates on the line.
func (s *subject) makes(e *editor, x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			callee := e.callee(n)
			found = found || callee != "" && (callee == withoutArguments(s.line.Callee) || callee == "fmt.Sprintf" && s.ofCompiler())
		case *ast.BinaryExpr:
			found = found || n.Op == token.ADD && strings.HasPrefix(s.line.Callee, "runtime.concatstring")
		}
		return !found
	})
	return found
}

// onlyBranch returns the block of an if statement, later in the same list,
// which has all uses of a variable.
func (e *editor) onlyBranch(v types.Object, declaration ast.Stmt, list []ast.Stmt) *ast.BlockStmt {
	var branch *ast.BlockStmt
	for _, use := range e.uses(v) {
		in := (*ast.BlockStmt)(nil)
		for _, s := range list {
			choice, ok := s.(*ast.IfStmt)
			if !ok || !contains(choice, use.Pos()) {
				continue
			}
			if contains(choice.Body, use.Pos()) {
				in = choice.Body
			} else if other, ok := choice.Else.(*ast.BlockStmt); ok && contains(other, use.Pos()) {
				in = other
			}
		}
		if in == nil || branch != nil && branch != in || in.Pos() < declaration.Pos() {
			return nil
		}
		branch = in
	}
	if branch == nil || len(branch.List) == 0 || e.jumps() {
		return nil
	}
	if _, labeled := branch.List[0].(*ast.LabeledStmt); labeled {
		return nil
	}
	return branch
}

// harmless tells whether an expression does nothing but make a value, and
// cannot panic.
func (e *editor) harmless(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		if e.isConstant(x) {
			return true
		}
		return e.local(x) != nil
	case *ast.BinaryExpr:
		return x.Op == token.ADD && e.harmless(x.X) && e.harmless(x.Y) && isBasic(e.info.TypeOf(x))
	case *ast.CallExpr:
		for _, argument := range x.Args {
			if !e.harmless(argument) {
				return false
			}
		}
		if x.Ellipsis.IsValid() {
			return false
		}
		if tv := e.info.Types[x.Fun]; tv.IsType() {
			return isBasic(tv.Type) && isBasic(e.info.TypeOf(x.Args[0]))
		} else if tv.IsBuiltin() {
			return text(x.Fun) == "len" && isString(e.info.TypeOf(x.Args[0]))
		}
		callee := e.callee(x)
		return total[callee] != "" || (callee == "fmt.Sprintf" || callee == "fmt.Sprint") && e.printsPlain(x, callee)
	}
	return false
}

func isBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// sameThere tells whether a declaration gives its variable the same value at
// the beginning of a later block: its names mean the same there, and nothing
// has changed.
func (e *editor) sameThere(at *spot, declaration *ast.AssignStmt, branch *ast.BlockStmt) bool {
	between := span(declaration.End(), branch.Lbrace+1)
	scope := e.pkg.Scope().Innermost(branch.Lbrace + 1)
	if scope == nil {
		return false
	}
	same := true
	ast.Inspect(declaration.Rhs[0], func(n ast.Node) bool {
		selector, qualified := n.(*ast.SelectorExpr)
		if qualified {
			n = selector.X // a package: harmless has no other selectors
		}
		if name, ok := n.(*ast.Ident); ok {
			_, there := scope.LookupParent(name.Name, branch.Lbrace+1)
			v, variable := there.(*types.Var)
			same = same && there == e.info.Uses[name] && !(variable && at.changes(v, between))
		}
		return same && !qualified
	})
	return same
}
