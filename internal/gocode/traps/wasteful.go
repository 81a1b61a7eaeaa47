package traps

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// PoolSlice reports what is put into a pool by value: it is boxed, which
// allocates each time.
var PoolSlice = &analysis.Analyzer{
	Name: "poolslice",
	Doc:  "report values that are put into a sync.Pool and are no pointers",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				if args, ok := method(pass.TypesInfo, n, "(*sync.Pool).Put"); ok && len(args) == 1 && isBoxed(pass.TypesInfo.TypeOf(args[0])) {
					pass.Reportf(args[0].Pos(), "%s is put into the pool by value, which allocates: keep pointers to it", types.ExprString(args[0]))
				}
				return true
			})
		}
		return nil, nil
	},
}

// isBoxed tells whether an interface value of a type needs memory of its own.
func isBoxed(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Struct:
		return u.NumFields() > 1 || u.NumFields() == 1 && isBoxed(u.Field(0).Type())
	}
	return false
}

// PoolGrown reports a slice of a pool that grows and is put back as it was:
// the longer array is lost, and made again by the next user.
var PoolGrown = ofFunctions("poolgrown", "report pointers to slices that go back to a sync.Pool without the array that append has made", poolGrown)

func poolGrown(pass *analysis.Pass, body *ast.BlockStmt) {
	info := pass.TypesInfo
	taken := make(map[*types.Var]bool) // pointers to slices of a pool
	grows := make(map[*types.Var]bool) // of those what is behind is appended to elsewhere
	own(body, func(n ast.Node) {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 {
			return
		}
		if assertion, ok := ast.Unparen(assign.Rhs[0]).(*ast.TypeAssertExpr); ok {
			if _, ok := method(info, ast.Unparen(assertion.X), "(*sync.Pool).Get"); ok {
				v := named(info, assign.Lhs[0])
				if v != nil && isPointerToSlice(v.Type()) {
					taken[v] = true
				}
			}
		}
	})
	if len(taken) == 0 {
		return
	}
	behind := make(map[*types.Var]*types.Var) // a slice, and the pointer that it came from
	own(body, func(n ast.Node) {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != len(assign.Rhs) {
			return
		}
		for i, right := range assign.Rhs {
			left := named(info, assign.Lhs[i])
			if left == nil {
				continue
			}
			appended := false
			if args, ok := builtin(info, right, "append"); ok {
				right, appended = args[0], true
			}
			p := behind[named(info, right)]
			if p == nil {
				p = pointerOf(info, right)
			}
			if p != nil && taken[p] {
				behind[left] = p
				grows[p] = grows[p] || appended
			}
		}
	})
	set := make(map[*types.Var]bool) // *p = b
	ast.Inspect(body, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok {
			for _, left := range assign.Lhs {
				if star, ok := ast.Unparen(left).(*ast.StarExpr); ok {
					set[named(info, star.X)] = true
				}
			}
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool {
		if args, ok := method(info, n, "(*sync.Pool).Put"); ok && len(args) == 1 {
			if p := named(info, args[0]); p != nil && taken[p] && grows[p] && !set[p] {
				pass.Reportf(args[0].Pos(), "%s goes back to the pool without the array that append may have made: set *%s before", p.Name(), p.Name())
			}
		}
		return true
	})
}

// pointerOf returns the pointer behind an expression: p of *p and (*p)[:0].
func pointerOf(info *types.Info, e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return pointerOf(info, e.X)
	case *ast.StarExpr:
		return named(info, e.X)
	}
	return nil
}

func isPointerToSlice(t types.Type) bool {
	pointer, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = pointer.Elem().Underlying().(*types.Slice)
	return ok
}

// DeferInLoop reports a defer that is done once for each turn: each needs
// memory, and nothing is closed or unlocked before the function returns.
var DeferInLoop = &analysis.Analyzer{
	Name: "deferinloop",
	Doc:  "report defer in a loop",
	Run: func(pass *analysis.Pass) (any, error) {
		functions(pass, func(body *ast.BlockStmt) {
			parents(body, func(n ast.Node, path []ast.Node) {
				statement, ok := n.(*ast.DeferStmt)
				if !ok {
					return
				}
				for i := len(path) - 1; i > 0; i-- {
					if _, literal := path[i].(*ast.FuncLit); literal || leavesAfter(path[i], statement) {
						return
					}
					if loopBody(path[i]) != nil {
						pass.Reportf(statement.Pos(), "defer in a loop: it is done when the function returns, once for each turn, and each needs memory until then")
						return
					}
				}
			})
		})
		return nil, nil
	},
}

// leavesAfter tells whether a list of statements ends the function, or the
// loop, after a statement in it.
func leavesAfter(n ast.Node, statement ast.Stmt) bool {
	block, ok := n.(*ast.BlockStmt)
	if !ok || len(block.List) == 0 || !within(block, statement.Pos()) {
		return false
	}
	switch last := block.List[len(block.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK || last.Tok == token.GOTO
	}
	return false
}

// EndlessCache reports a map of the package that a function looks into and
// fills, and that nothing ever empties. Where the function asks only whether a
// key is there, though it has a value, it registers what others bring.
var EndlessCache = &analysis.Analyzer{
	Name: "endlesscache",
	Doc:  "report caches without a bound: maps of the package that only grow",
	Run: func(pass *analysis.Pass) (any, error) {
		info := pass.TypesInfo
		bounded := make(map[*types.Var]bool)
		note := func(e ast.Expr) {
			if v := ofPackage(info, e); v != nil {
				bounded[v] = true
			}
		}
		for _, file := range pass.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, left := range n.Lhs {
						note(left)
					}
				case *ast.CallExpr:
					for _, name := range []string{"delete", "clear", "len"} {
						if args, ok := builtin(info, n, name); ok {
							note(args[0])
						}
					}
					if _, known := info.Types[n.Fun]; known && !info.Types[n.Fun].IsBuiltin() {
						for _, argument := range n.Args {
							note(argument) // another function may empty it
						}
					}
				case *ast.UnaryExpr:
					if n.Op == token.AND {
						note(n.X)
					}
				}
				return true
			})
		}
		functions(pass, func(body *ast.BlockStmt) {
			looked, read := make(map[*types.Var]bool), valuesRead(info, body)
			own(body, func(n ast.Node) {
				assign, ok := n.(*ast.AssignStmt)
				if !ok {
					return
				}
				if len(assign.Lhs) == 2 && len(assign.Rhs) == 1 { // v, ok := m[k]
					if index, ok := ast.Unparen(assign.Rhs[0]).(*ast.IndexExpr); ok {
						looked[ofPackage(info, index.X)] = true
					}
				}
				for _, left := range assign.Lhs {
					index, ok := ast.Unparen(left).(*ast.IndexExpr)
					if !ok {
						continue
					}
					m := ofPackage(info, index.X)
					if m == nil || !looked[m] || bounded[m] || !read[m] && hasValues(m.Type()) || info.Types[index.Index].Value != nil || !manyKeys(m.Type()) {
						continue
					}
					pass.Reportf(left.Pos(), "the cache %s has no bound: nothing is ever taken out of it", m.Name())
				}
			})
		})
		return nil, nil
	},
}

// valuesRead are the maps of the package of which a function reads values.
func valuesRead(info *types.Info, body *ast.BlockStmt) map[*types.Var]bool {
	read, unread := make(map[*types.Var]bool), make(map[ast.Expr]bool)
	own(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				unread[ast.Unparen(left)] = true
			}
			if name, ok := n.Lhs[0].(*ast.Ident); ok && name.Name == "_" && len(n.Rhs) == 1 {
				unread[ast.Unparen(n.Rhs[0])] = true
			}
		case *ast.IndexExpr:
			if !unread[n] {
				read[ofPackage(info, n.X)] = true
			}
		}
	})
	return read
}

// hasValues tells a map from a set.
func hasValues(t types.Type) bool {
	m, ok := t.Underlying().(*types.Map)
	if !ok {
		return false
	}
	switch value := m.Elem().Underlying().(type) {
	case *types.Struct:
		return value.NumFields() > 0
	case *types.Basic:
		return value.Info()&types.IsBoolean == 0
	}
	return true
}

// ofPackage returns the variable of a package that an expression names.
func ofPackage(info *types.Info, e ast.Expr) *types.Var {
	v := named(info, e)
	if v == nil || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

// manyKeys tells whether a map may have any number of keys: those that are
// types of the program, for one, come to an end.
func manyKeys(t types.Type) bool {
	m, ok := t.Underlying().(*types.Map)
	if !ok {
		return false
	}
	switch key := m.Key().Underlying().(type) {
	case *types.Basic:
		return key.Info()&types.IsString != 0 || key.Kind() == types.Int || key.Kind() == types.Int64 || key.Kind() == types.Uint64
	case *types.Array, *types.Struct:
		return true
	}
	return false
}
