// Package poolalias finds strings and slices that a function hands out though
// their memory goes back to a sync.Pool: the next user of the pool writes over
// what the caller still reads.
//
// It looks at one function at a time and follows what Get returned through
// assignments, slices, fields, append, Bytes of a bytes.Buffer and package
// unsafe. A conversion that copies, such as string(b), ends the trail. What a
// function does with its arguments it does not know: calls end the trail too,
// so that what is reported is so.
package poolalias

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports each place where memory of a pool is handed out.
var Analyzer = &analysis.Analyzer{
	Name: "poolalias",
	Doc:  "report strings and slices that outlive the Put of the pooled memory that they alias",
	Run:  run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch n := n.(type) {
			case *ast.FuncDecl:
				body = n.Body
			case *ast.FuncLit:
				body = n.Body
			}
			if body != nil {
				inspect(pass, body)
			}
			return true
		})
	}
	return nil, nil
}

// trail is what of a function refers to memory of a pool.
type trail struct {
	info   *types.Info
	pooled map[types.Object]bool
}

func inspect(pass *analysis.Pass, body *ast.BlockStmt) {
	t := &trail{info: pass.TypesInfo, pooled: make(map[types.Object]bool)}
	for t.follow(body) { // until nothing is added
	}
	if len(t.pooled) == 0 {
		return
	}
	put := t.putBack(body)
	if put == token.NoPos {
		return
	}
	own(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				if t.aliases(result) && refers(pass.TypesInfo.TypeOf(result)) {
					pass.Reportf(result.Pos(), "%s is returned, but its memory goes back to the pool in line %d: the next Get may write over it",
						types.ExprString(result), pass.Fset.Position(put).Line)
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if i < len(n.Rhs) && len(n.Lhs) == len(n.Rhs) && t.outlives(left) && t.aliases(n.Rhs[i]) && refers(pass.TypesInfo.TypeOf(n.Rhs[i])) {
					pass.Reportf(n.Rhs[i].Pos(), "%s is kept in %s, but its memory goes back to the pool in line %d: the next Get may write over it",
						types.ExprString(n.Rhs[i]), types.ExprString(left), pass.Fset.Position(put).Line)
				}
			}
		case *ast.SendStmt:
			if t.aliases(n.Value) && refers(pass.TypesInfo.TypeOf(n.Value)) {
				pass.Reportf(n.Value.Pos(), "%s is sent, but its memory goes back to the pool in line %d: the next Get may write over it",
					types.ExprString(n.Value), pass.Fset.Position(put).Line)
			}
		}
	})
}

// own visits the nodes of a function, but for those of function literals in it.
func own(body *ast.BlockStmt, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// follow adds the variables that are set to what aliases pooled memory, and
// tells whether there were new ones.
func (t *trail) follow(body *ast.BlockStmt) (added bool) {
	note := func(left, right ast.Expr) {
		name, ok := ast.Unparen(left).(*ast.Ident)
		if !ok || !t.aliases(right) || !refers(t.info.TypeOf(right)) {
			return
		}
		object := t.info.Defs[name]
		if object == nil {
			object = t.info.Uses[name]
		}
		if object != nil && !t.pooled[object] {
			t.pooled[object] = true
			added = true
		}
	}
	own(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				switch {
				case len(n.Lhs) == len(n.Rhs):
					note(left, n.Rhs[i])
				case i == 0 && len(n.Rhs) == 1: // v, ok := pool.Get().(T)
					note(left, n.Rhs[0])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					note(name, n.Values[i])
				}
			}
		}
	})
	return added
}

// aliases tells whether an expression refers to memory of a pool.
func (t *trail) aliases(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return t.pooled[t.info.Uses[e]]
	case *ast.TypeAssertExpr:
		return t.aliases(e.X)
	case *ast.StarExpr:
		return t.aliases(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.AND && t.aliases(e.X)
	case *ast.SliceExpr:
		return t.aliases(e.X)
	case *ast.IndexExpr:
		return t.aliases(e.X)
	case *ast.SelectorExpr:
		return t.aliases(e.X)
	case *ast.CallExpr:
		return t.callAliases(e)
	}
	return false
}

func (t *trail) callAliases(call *ast.CallExpr) bool {
	if t.info.Types[call.Fun].IsType() && len(call.Args) == 1 {
		from, to := t.info.TypeOf(call.Args[0]), t.info.TypeOf(call)
		return !copies(from, to) && t.aliases(call.Args[0])
	}
	if t.info.Types[call.Fun].IsBuiltin() {
		switch types.ExprString(call.Fun) {
		case "append", "unsafe.String", "unsafe.StringData", "unsafe.Slice", "unsafe.SliceData", "unsafe.Add":
			return t.aliases(call.Args[0])
		}
		return false
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	function, ok := t.info.Uses[selector.Sel].(*types.Func)
	if !ok {
		return false
	}
	switch function.FullName() {
	case "(*sync.Pool).Get":
		return true
	case "(*bytes.Buffer).Bytes", "(*bytes.Buffer).AvailableBuffer", "(*bytes.Buffer).Next":
		return t.aliases(selector.X)
	case "slices.Grow", "slices.Clip", "slices.Delete", "slices.Insert", "bytes.TrimSpace", "bytes.Trim", "bytes.TrimRight", "bytes.TrimLeft":
		return len(call.Args) > 0 && t.aliases(call.Args[0])
	}
	return false
}

// copies tells whether a conversion makes new memory: between strings and
// slices it does.
func copies(from, to types.Type) bool {
	return isString(from) != isString(to) && (isSlice(from) || isSlice(to))
}

func isString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// refers tells whether a value of a type refers to memory that is not its own.
func refers(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Pointer, *types.Map, *types.Interface:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Struct:
		for i := range u.NumFields() {
			if refers(u.Field(i).Type()) {
				return true
			}
		}
	case *types.Array:
		return refers(u.Elem())
	case *types.Tuple:
		return u.Len() > 0 && refers(u.At(0).Type())
	}
	return false
}

// outlives tells whether a variable is there when the function has returned:
// one of the package, or a part of something that is not the function's own.
func (t *trail) outlives(left ast.Expr) bool {
	switch left := ast.Unparen(left).(type) {
	case *ast.Ident:
		v, ok := t.info.Uses[left].(*types.Var)
		return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	case *ast.SelectorExpr:
		return !t.aliases(left.X) && isPointerOrGlobal(t, left.X)
	case *ast.IndexExpr:
		return !t.aliases(left.X) && isPointerOrGlobal(t, left.X)
	}
	return false
}

func isPointerOrGlobal(t *trail, e ast.Expr) bool {
	if name, ok := ast.Unparen(e).(*ast.Ident); ok {
		if v, ok := t.info.Uses[name].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return true
		}
		// A parameter or receiver that is a pointer or a map.
		switch t.info.TypeOf(e).Underlying().(type) {
		case *types.Pointer, *types.Map:
			return t.isParameter(name)
		}
	}
	return false
}

// isParameter holds for variables that are declared outside of the body: the
// scope of a function's parameters is that of its body's parent.
func (t *trail) isParameter(name *ast.Ident) bool {
	v, ok := t.info.Uses[name].(*types.Var)
	if !ok {
		return false
	}
	for node, scope := range t.info.Scopes {
		if scope == v.Parent() {
			_, ofFunction := node.(*ast.FuncType)
			return ofFunction
		}
	}
	return false
}

// putBack returns where pooled memory goes back to a pool, for sure before the
// function has returned: NoPos where it does not.
func (t *trail) putBack(body *ast.BlockStmt) token.Pos {
	found := token.NoPos
	check := func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || found != token.NoPos {
			return
		}
		selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return
		}
		function, ok := t.info.Uses[selector.Sel].(*types.Func)
		if ok && function.FullName() == "(*sync.Pool).Put" && t.aliases(call.Args[0]) {
			found = call.Pos()
		}
	}
	own(body, func(n ast.Node) {
		if deferred, ok := n.(*ast.DeferStmt); ok {
			if literal, ok := deferred.Call.Fun.(*ast.FuncLit); ok {
				own(literal.Body, check)
			}
		}
		check(n)
	})
	return found
}
