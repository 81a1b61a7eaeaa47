package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// rewriteJoin collects in a strings.Builder what a loop appends to a string.
func rewriteJoin(s *subject, e *editor) (string, bool) {
	if !strings.HasPrefix(s.line.Callee, "runtime.concatstring") {
		return "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, func(_ *sourceFile, e ast.Expr) bool { return true }) {
		statement, _ := at.listed()
		assign, ok := statement.(*ast.AssignStmt)
		loop := at.loop()
		if !ok || loop == nil || len(assign.Lhs) != 1 || !e.begin(&at) {
			continue
		}
		v := e.local(assign.Lhs[0])
		if v == nil || !types.Identical(v.Type(), types.Typ[types.String]) {
			continue
		}
		// The loop in whose list the string is declared, which may be an outer one.
		declaration := e.declared(v)
		if declaration == nil {
			continue
		}
		outer := loopBeside(at.path, declaration)
		if outer == nil {
			continue
		}
		e.changes = nil
		if title, ok := e.collect(v, declaration, outer); ok {
			return title, true
		}
	}
	return "", false
}

// loopBeside returns the loop around a spot that stands in the same list as a
// statement.
func loopBeside(path []ast.Node, declaration ast.Stmt) ast.Stmt {
	for i, n := range path {
		switch n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.ForStmt, *ast.RangeStmt:
			statement := statementOf(path[i:], n.(ast.Stmt))
			if statement == nil {
				continue
			}
			for _, parent := range path[i+1:] {
				if list := listOf(parent); list != nil {
					for _, s := range list {
						if s == declaration {
							return statement
						}
					}
					break
				}
			}
		}
	}
	return nil
}

// declared returns the statement that declares a variable and nothing else.
func (e *editor) declared(v *types.Var) (found ast.Stmt) {
	ast.Inspect(e.function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeclStmt:
			decl, ok := n.Decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR || len(decl.Specs) != 1 {
				return true
			}
			if spec := decl.Specs[0].(*ast.ValueSpec); len(spec.Names) == 1 && e.info.Defs[spec.Names[0]] == v {
				found = n
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				return true
			}
			if name, ok := n.Lhs[0].(*ast.Ident); ok && e.info.Defs[name] == v {
				found = n
			}
		}
		return true
	})
	return found
}

// initial is the value that a declaration gives its variable, nil for none.
func initial(declaration ast.Stmt) ast.Expr {
	switch d := declaration.(type) {
	case *ast.DeclStmt:
		if values := d.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values; len(values) == 1 {
			return values[0]
		}
	case *ast.AssignStmt:
		return d.Rhs[0]
	}
	return nil
}

// collect rewrites all uses of a string that is declared before a loop, is
// appended to there and nothing else, and is read after it.
func (e *editor) collect(v *types.Var, declaration, loop ast.Stmt) (string, bool) {
	pkg, ok := e.importing("strings")
	if !ok {
		return "", false
	}
	builder := e.fresh(v.Name() + "Builder")
	appended := false
	for _, use := range e.uses(v) {
		if use.Pos() >= loop.End() {
			continue // the string is whole then
		}
		path := e.around(use)
		for _, n := range path {
			if _, literal := n.(*ast.FuncLit); literal && contains(n, use.Pos()) && !contains(n, v.Pos()) {
				return "", false
			}
		}
		if !contains(loop, use.Pos()) {
			return "", false
		}
		assign, ok := path[1].(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || assign.Lhs[0] != ast.Expr(use) {
			if own := e.ownOperand(path, v); own {
				continue // of s = s + x: the other use has the statement
			}
			return "", false
		}
		parts := operands(assign.Rhs[0])
		switch assign.Tok {
		case token.ADD_ASSIGN:
		case token.ASSIGN:
			if name, ok := parts[0].(*ast.Ident); !ok || e.info.Uses[name] != v || len(parts) < 2 {
				return "", false
			}
			parts = parts[1:]
		default:
			return "", false
		}
		if len(path) < 3 || listOf(path[2]) == nil {
			return "", false
		}
		var writes []string
		for _, part := range parts {
			if e.mentions(part, v) {
				return "", false
			}
			writes = append(writes, builder+"."+e.writing(part))
		}
		e.replace(assign, strings.Join(writes, "\n"))
		appended = true
	}
	if !appended || e.jumps() {
		return "", false
	}
	begin := "var " + builder + " " + pkg + ".Builder"
	if value := initial(declaration); value != nil {
		if constant, ok := e.constantText(value); !ok || constant != "" {
			for _, part := range operands(value) {
				begin += "\n" + builder + "." + e.writing(part)
			}
		}
	}
	e.replace(declaration, begin)
	e.insertAt(loop.End(), "\n"+v.Name()+" := "+builder+".String()")
	return "collect " + v.Name() + " in a strings.Builder", true
}

// writing is the call that writes a string to a strings.Builder.
func (e *editor) writing(part ast.Expr) string {
	if words, ok := e.writtenText(part); ok && len(words) == 1 {
		return literalPiece(words)
	}
	return "WriteString(" + e.source(part) + ")"
}

// ownOperand tells whether a use is the first operand of what is assigned to
// the same variable.
func (e *editor) ownOperand(path []ast.Node, v *types.Var) bool {
	for i := 1; i < len(path); i++ {
		switch parent := path[i].(type) {
		case *ast.BinaryExpr:
			if ast.Node(parent.X) != path[i-1] {
				return false
			}
		case *ast.AssignStmt:
			return parent.Tok == token.ASSIGN && len(parent.Lhs) == 1 && e.local(parent.Lhs[0]) == v
		default:
			return false
		}
	}
	return false
}

// operands are what is joined by +, from the left.
func operands(x ast.Expr) []ast.Expr {
	if binary, ok := ast.Unparen(x).(*ast.BinaryExpr); ok && binary.Op == token.ADD {
		return append(operands(binary.X), operands(binary.Y)...)
	}
	return []ast.Expr{ast.Unparen(x)}
}

// jumps tells whether the function has a goto.
func (e *editor) jumps() bool {
	found := false
	ast.Inspect(e.function, func(n ast.Node) bool {
		branch, ok := n.(*ast.BranchStmt)
		found = found || ok && branch.Tok == token.GOTO
		return !found
	})
	return found
}
