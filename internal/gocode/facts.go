package gocode

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// contains tells whether a node is, or stands in, another.
func contains(outer ast.Node, at token.Pos) bool { return at >= outer.Pos() && at < outer.End() }

// outermost returns the declaration, or the literal, of the function around the
// spot that stands in no other; innermost the one that stands around nothing
// else. nil where there is none.
func (s *spot) outermost() (function ast.Node) {
	for _, n := range s.path {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			function = n
		}
	}
	return function
}

func (s *spot) innermost() ast.Node {
	for _, n := range s.path {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return n
		}
	}
	return nil
}

// root returns the variable whose memory an expression names: v of v, v.f and
// v[0], where nothing is followed on the way there.
func (f *sourceFile) root(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := f.info.Uses[e].(*types.Var); ok {
			return v
		}
		v, _ := f.info.Defs[e].(*types.Var)
		return v
	case *ast.SelectorExpr:
		if selection := f.info.Selections[e]; selection != nil && selection.Kind() == types.FieldVal && !selection.Indirect() {
			return f.root(e.X)
		}
	case *ast.IndexExpr:
		if t := f.info.TypeOf(e.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				return f.root(e.X)
			}
		}
	}
	return nil
}

// addressed returns the variable whose address a node takes: by &, by slicing
// an array, or by a method that has a pointer as its receiver.
func (f *sourceFile) addressed(n ast.Node) *types.Var {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return f.root(n.X)
		}
	case *ast.SliceExpr:
		if t := f.info.TypeOf(n.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				return f.root(n.X)
			}
		}
	case *ast.SelectorExpr:
		selection := f.info.Selections[n]
		if selection == nil || selection.Kind() != types.MethodVal || selection.Indirect() {
			return nil
		}
		if method, ok := selection.Obj().(*types.Func); ok {
			if _, pointer := method.Signature().Recv().Type().(*types.Pointer); pointer {
				return f.root(n.X)
			}
		}
	}
	return nil
}

// assigned returns the variables that a node gives a value, or a part of one,
// but for those that it declares.
func (f *sourceFile) assigned(n ast.Node) (all []*types.Var) {
	note := func(e ast.Expr) {
		if e == nil {
			return
		}
		if name, ok := ast.Unparen(e).(*ast.Ident); ok && f.info.Defs[name] != nil {
			return
		}
		if v := f.root(e); v != nil {
			all = append(all, v)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			note(left)
		}
	case *ast.IncDecStmt:
		note(n.X)
	case *ast.RangeStmt:
		note(n.Key)
		note(n.Value)
	}
	return all
}

// changes tells whether a variable of the function may get another value while
// a part of it is executed: the part assigns to it, or something in the function
// could through its address, or a function literal that refers to it.
func (s *spot) changes(v *types.Var, within ast.Node) bool {
	outer, inner := s.outermost(), s.innermost()
	if outer == nil || !contains(outer, v.Pos()) {
		return true
	}
	shared := !contains(inner, v.Pos()) // by the literal in which the part stands
	changes := false
	var visit func(function, n ast.Node)
	visit = func(function, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if literal, ok := n.(*ast.FuncLit); ok && n != function {
				visit(literal, literal.Body)
				return false
			}
			if n == nil {
				return false
			}
			if s.addressed(n) == v {
				changes = true
			}
			if slices.Contains(s.assigned(n), v) {
				changes = changes || shared || contains(within, n.Pos()) || !contains(function, v.Pos())
			}
			return !changes
		})
	}
	visit(outer, outer)
	return changes
}

// stable tells whether an expression has the same value, and evaluating it does
// nothing, from one place of the function to another: constants, and variables
// of the function that do not change there.
func (s *spot) stable(e ast.Expr, within ast.Node) bool {
	if s.isConstant(e) {
		return true
	}
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := s.info.Uses[name].(*types.Var)
	return ok && v.Pkg() != nil && v.Parent() != v.Pkg().Scope() && !s.changes(v, within)
}

// span is the part of a function between two places, as a node.
func span(from, to token.Pos) ast.Node { return &ast.BlockStmt{Lbrace: from, Rbrace: to - 1} }

// calls tells whether an expression calls a function, other than len, cap and
// conversions, or receives from a channel.
func (f *sourceFile) calls(e ast.Node) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			tv := f.info.Types[n.Fun]
			found = found || !tv.IsType() && !(tv.IsBuiltin() && (text(n.Fun) == "len" || text(n.Fun) == "cap"))
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// mentions tells whether a variable stands somewhere in a node.
func (f *sourceFile) mentions(n ast.Node, v types.Object) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && f.info.Uses[name] == v
		return !found
	})
	return found
}

// constantText returns the string that an expression is known to be.
func (f *sourceFile) constantText(e ast.Expr) (string, bool) {
	value := f.info.Types[e].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}

// constantNumber returns the whole number that an expression is known to be.
func (f *sourceFile) constantNumber(e ast.Expr) (int64, bool) {
	value := f.info.Types[e].Value
	if value == nil || value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(value)
}

// local returns the variable of the function that an expression names, nil
// where it names anything else.
func (e *editor) local(x ast.Expr) *types.Var {
	name, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := e.info.Uses[name].(*types.Var)
	if !ok || v.Pkg() == nil || v.IsField() || v.Parent() == v.Pkg().Scope() || !contains(e.function, v.Pos()) {
		return nil
	}
	return v
}

// listed returns the innermost statement around a spot that stands in a list of
// statements of the same function, and that list; nil where there is none.
func (s *spot) listed() (ast.Stmt, []ast.Stmt) {
	for i := 0; i+1 < len(s.path); i++ {
		switch s.path[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil, nil
		}
		if statement, ok := s.path[i].(ast.Stmt); ok {
			if list := listOf(s.path[i+1]); list != nil {
				return statement, list
			}
		}
	}
	return nil, nil
}

// listOf returns the statements of a node that is a list of some.
func listOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// methodOf returns the variable or field whose method a call calls, and whether
// its type is one of those; types are given as "bytes.Buffer", and a pointer to
// it will do.
func (f *sourceFile) methodOf(call *ast.CallExpr, name string, of ...string) (ast.Expr, bool) {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name || f.info.Selections[selector] == nil {
		return nil, false
	}
	return selector.X, slices.Contains(of, f.kindOf(selector.X))
}

// kindOf names the type of an expression, or what it points to.
func (f *sourceFile) kindOf(e ast.Expr) string {
	t := f.info.TypeOf(e)
	if t == nil {
		return ""
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	return types.TypeString(t, nil)
}

// plain tells whether values of a type are printed by package fmt as what they
// are: of a basic kind, without methods.
func plain(t types.Type, info types.BasicInfo) bool {
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&info == 0 || basic.Kind() == types.Uintptr || basic.Info()&types.IsUntyped != 0 {
		return false
	}
	return types.NewMethodSet(types.NewPointer(t)).Len() == 0
}
