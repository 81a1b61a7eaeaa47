// Package traps finds what is written to save allocations and goes wrong, or
// saves nothing: one analyzer for each. They look at one function at a time and
// report what is so; what calls do with their arguments they do not know.
package traps

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// Trap is an analyzer with the name of its section in the manual.
type Trap struct {
	*analysis.Analyzer
	// Wrong traps change what the program does; the others cost more than they
	// save.
	Wrong bool
}

// All are the traps.
var All = []Trap{
	{ReuseAlias, true}, {FilterAlias, true}, {MakeAppend, true}, {UnsafeString, true},
	{PoolSlice, false}, {PoolGrown, false}, {DeferInLoop, false}, {EndlessCache, false},
}

// functions visits the body of each function and function literal.
func functions(pass *analysis.Pass, visit func(body *ast.BlockStmt)) {
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body != nil {
					visit(n.Body)
				}
			case *ast.FuncLit:
				visit(n.Body)
			}
			return true
		})
	}
}

// ofFunctions is an analyzer that looks at one function body after the other.
func ofFunctions(name, doc string, check func(pass *analysis.Pass, body *ast.BlockStmt)) *analysis.Analyzer {
	return &analysis.Analyzer{Name: name, Doc: doc, Run: func(pass *analysis.Pass) (any, error) {
		functions(pass, func(body *ast.BlockStmt) { check(pass, body) })
		return nil, nil
	}}
}

// own visits the nodes of a function, but for those of function literals in it.
func own(body ast.Node, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if literal, inner := n.(*ast.FuncLit); inner && ast.Node(literal) != body {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// named returns the variable that an expression names.
func named(info *types.Info, e ast.Expr) *types.Var {
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	if v, ok := info.Uses[name].(*types.Var); ok {
		return v
	}
	v, _ := info.Defs[name].(*types.Var)
	return v
}

// builtin returns the arguments of a call of a function of the language.
func builtin(info *types.Info, e ast.Expr, name string) ([]ast.Expr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !info.Types[call.Fun].IsBuiltin() || types.ExprString(call.Fun) != name {
		return nil, false
	}
	return call.Args, true
}

// method returns the arguments of a call of a method or function, which has a
// name such as "(*sync.Pool).Put".
func method(info *types.Info, e ast.Node, name string) ([]ast.Expr, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	function, ok := info.Uses[selector.Sel].(*types.Func)
	return call.Args, ok && function.FullName() == name
}

// emptied returns the variable that is cut to [:0] by an expression: v of v[:0]
// and of append(v[:0], ...).
func emptied(info *types.Info, e ast.Expr) *types.Var {
	if args, ok := builtin(info, e, "append"); ok {
		return emptied(info, args[0])
	}
	slice, ok := ast.Unparen(e).(*ast.SliceExpr)
	if !ok || slice.High == nil || types.ExprString(slice.High) != "0" || slice.Low != nil && types.ExprString(slice.Low) != "0" {
		return nil
	}
	if _, ok := info.TypeOf(slice.X).Underlying().(*types.Slice); !ok {
		return nil
	}
	return named(info, slice.X)
}

func within(n ast.Node, at token.Pos) bool { return at >= n.Pos() && at < n.End() }

// loopBody returns the body of a loop.
func loopBody(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.ForStmt:
		return n.Body
	case *ast.RangeStmt:
		return n.Body
	}
	return nil
}

// ReuseAlias reports a slice that is kept in each turn of a loop and cut to
// [:0] in the next: all that is kept is the same memory.
var ReuseAlias = &analysis.Analyzer{
	Name: "reusealias",
	Doc:  "report slices that are kept though their memory is used again in the next turn",
	Run: func(pass *analysis.Pass) (any, error) {
		functions(pass, func(body *ast.BlockStmt) {
			own(body, func(n ast.Node) {
				if loop := loopBody(n); loop != nil {
					reuseAlias(pass, n, loop)
				}
			})
		})
		return nil, nil
	},
}

func reuseAlias(pass *analysis.Pass, loop ast.Node, body *ast.BlockStmt) {
	info := pass.TypesInfo
	used := make(map[*types.Var]token.Pos) // again, where
	own(body, func(n ast.Node) {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != len(assign.Rhs) {
			return
		}
		for i, right := range assign.Rhs {
			v := emptied(info, right)
			if v != nil && v == named(info, assign.Lhs[i]) && !within(loop, v.Pos()) {
				used[v] = assign.Pos()
			}
		}
	})
	if len(used) == 0 {
		return
	}
	// A variable that gets other memory in the loop keeps nothing of the old.
	own(body, func(n ast.Node) {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return
		}
		for i, left := range assign.Lhs {
			v := named(info, left)
			if _, reused := used[v]; !reused || len(assign.Lhs) != len(assign.Rhs) {
				continue
			}
			right := assign.Rhs[i]
			if args, ok := builtin(info, right, "append"); ok {
				right = args[0]
			}
			if emptied(info, right) != v && named(info, right) != v {
				delete(used, v)
			}
		}
	})
	kept := func(e ast.Expr) {
		v := named(info, e)
		if slice, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
			v = named(info, slice.X)
		}
		if at, ok := used[v]; ok && v != nil {
			pass.Reportf(e.Pos(), "%s is kept, but its memory is used again in the next turn: line %d cuts %s to [:0]", types.ExprString(e), pass.Fset.Position(at).Line, v.Name())
		}
	}
	own(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if args, ok := builtin(info, n, "append"); ok && !n.Ellipsis.IsValid() {
				for _, argument := range args[1:] {
					kept(argument)
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if _, name := ast.Unparen(left).(*ast.Ident); !name && len(n.Lhs) == len(n.Rhs) {
					kept(n.Rhs[i])
				}
			}
		case *ast.SendStmt:
			kept(n.Value)
		}
	})
}

// FilterAlias reports a slice that is read after another one, which shares its
// memory from the beginning, was filled in a loop over it.
var FilterAlias = ofFunctions("filteralias", "report slices that are read after what was appended to x[:0] has overwritten them", filterAlias)

func filterAlias(pass *analysis.Pass, body *ast.BlockStmt) {
	info := pass.TypesInfo
	own(body, func(n ast.Node) {
		begin, ok := n.(*ast.AssignStmt)
		if !ok || begin.Tok != token.DEFINE || len(begin.Lhs) != 1 || len(begin.Rhs) != 1 {
			return
		}
		if _, ok := ast.Unparen(begin.Rhs[0]).(*ast.SliceExpr); !ok {
			return
		}
		old, fresh := emptied(info, begin.Rhs[0]), named(info, begin.Lhs[0])
		if old == nil || fresh == nil || old.Parent() == nil || old.Pkg() != nil && old.Parent() == old.Pkg().Scope() {
			return
		}
		end := token.NoPos // of the loop that overwrites
		own(body, func(n ast.Node) {
			loop, ok := n.(*ast.RangeStmt)
			if ok && loop.Pos() > begin.Pos() && named(info, loop.X) == old && appendsTo(info, loop.Body, fresh) {
				end = loop.End()
			}
		})
		if end == token.NoPos {
			return
		}
		reported := false
		unread := make(map[*ast.Ident]bool) // what uses all but its elements, or sets them
		spare := func(e ast.Expr) {
			if name, ok := ast.Unparen(e).(*ast.Ident); ok {
				unread[name] = true
			}
		}
		own(body, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					reported = reported || n.Pos() > end && named(info, left) == old // it has other memory now, or says what it is
					if element, ok := ast.Unparen(left).(*ast.IndexExpr); ok && n.Tok == token.ASSIGN {
						spare(element.X)
					}
				}
			case *ast.RangeStmt:
				if n.Value == nil {
					spare(n.X)
				}
			case *ast.SliceExpr:
				if n.Low != nil && types.ExprString(n.Low) == "len("+fresh.Name()+")" {
					spare(n.X) // the rest
				}
			case *ast.CallExpr:
				if args, ok := builtin(info, n, "clear"); ok && n.Pos() > end {
					if slice, ok := ast.Unparen(args[0]).(*ast.SliceExpr); ok && named(info, slice.X) == old {
						reported = true
					}
				}
				for _, name := range []string{"len", "cap"} {
					if args, ok := builtin(info, n, name); ok {
						spare(args[0])
					}
				}
			case *ast.Ident:
				if n.Pos() > end && info.Uses[n] == old && !unread[n] && !reported {
					reported = true
					pass.Reportf(n.Pos(), "%s is read, but %s has overwritten it from its beginning", old.Name(), fresh.Name())
				}
			}
		})
	})
}

func appendsTo(info *types.Info, body ast.Node, v *types.Var) (found bool) {
	own(body, func(n ast.Node) {
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 && len(assign.Rhs) == 1 && named(info, assign.Lhs[0]) == v {
			_, isAppend := builtin(info, assign.Rhs[0], "append")
			found = found || isAppend
		}
	})
	return found
}

// MakeAppend reports a slice that is made with elements and then only appended
// to: it has zero elements in front.
var MakeAppend = ofFunctions("makeappend", "report make([]T, n) of which the n elements are never set before more are appended", makeAppend)

func makeAppend(pass *analysis.Pass, body *ast.BlockStmt) {
	info := pass.TypesInfo
	own(body, func(n ast.Node) {
		made, ok := n.(*ast.AssignStmt)
		if !ok || made.Tok != token.DEFINE || len(made.Lhs) != 1 || len(made.Rhs) != 1 {
			return
		}
		args, ok := builtin(info, made.Rhs[0], "make")
		v := named(info, made.Lhs[0])
		if !ok || v == nil || len(args) != 2 || types.ExprString(args[1]) == "0" {
			return
		}
		if _, ok := v.Type().Underlying().(*types.Slice); !ok {
			return
		}
		appends, others := token.NoPos, false
		read := token.NoPos
		parents(body, func(n ast.Node, path []ast.Node) {
			name, ok := n.(*ast.Ident)
			if !ok || info.Uses[name] != v {
				return
			}
			switch parent := path[len(path)-1].(type) {
			case *ast.CallExpr:
				if _, ok := builtin(info, parent, "append"); ok && parent.Args[0] == ast.Expr(name) {
					if appends == token.NoPos {
						appends = parent.Pos()
					}
					return
				}
				if _, ok := builtin(info, parent, "len"); ok {
					return
				}
			case *ast.AssignStmt:
				if len(parent.Lhs) == 1 && parent.Lhs[0] == ast.Expr(name) {
					if _, ok := builtin(info, parent.Rhs[0], "append"); ok {
						return
					}
				}
			case *ast.ReturnStmt, *ast.RangeStmt:
				read = name.Pos()
				return
			}
			others = true
		})
		if appends != token.NoPos && !others && read > appends {
			pass.Reportf(appends, "%s has %s zero elements in front of what is appended: make it with length 0 and that capacity", v.Name(), types.ExprString(args[1]))
		}
	})
}

// parents visits nodes with those around them, outwards from the first to the
// last.
func parents(root ast.Node, visit func(n ast.Node, path []ast.Node)) {
	var path []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if len(path) > 0 {
			visit(n, path)
		}
		path = append(path, n)
		return true
	})
}

// UnsafeString reports a string that package unsafe makes of bytes that are
// written to afterwards.
var UnsafeString = ofFunctions("unsafestring", "report unsafe.String of bytes that the function writes to afterwards", unsafeString)

func unsafeString(pass *analysis.Pass, body *ast.BlockStmt) {
	info := pass.TypesInfo
	own(body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		args, ok := builtin(info, call, "unsafe.String")
		if !ok {
			return
		}
		v := bytesOf(info, args[0])
		if v == nil {
			return
		}
		loop := outermostLoop(body, call, v)
		reported := false
		own(body, func(n ast.Node) {
			at := writesTo(info, n, v)
			if at == token.NoPos || reported || at < call.End() && (loop == nil || !within(loop, at)) {
				return
			}
			reported = true
			pass.Reportf(call.Pos(), "the string has the memory of %s, which line %d writes to afterwards", v.Name(), pass.Fset.Position(at).Line)
		})
	})
}

// bytesOf returns the variable to whose elements a pointer points: v of &v[0]
// and of unsafe.SliceData(v).
func bytesOf(info *types.Info, e ast.Expr) *types.Var {
	if args, ok := builtin(info, e, "unsafe.SliceData"); ok {
		return named(info, args[0])
	}
	if address, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && address.Op == token.AND {
		if index, ok := ast.Unparen(address.X).(*ast.IndexExpr); ok {
			return named(info, index.X)
		}
	}
	return nil
}

// outermostLoop returns the loop around a place that goes on with the same
// variable, nil where there is none.
func outermostLoop(body ast.Node, place ast.Node, v *types.Var) (loop ast.Node) {
	own(body, func(n ast.Node) {
		if loop == nil && loopBody(n) != nil && within(n, place.Pos()) && !within(n, v.Pos()) {
			loop = n
		}
	})
	return loop
}

// writesTo returns where a node writes to the elements of a slice.
func writesTo(info *types.Info, n ast.Node, v *types.Var) token.Pos {
	if v == nil {
		return token.NoPos
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if index, ok := ast.Unparen(left).(*ast.IndexExpr); ok && named(info, index.X) == v {
				return n.Pos()
			}
			if len(n.Lhs) == len(n.Rhs) && emptied(info, n.Rhs[i]) == v {
				return n.Pos()
			}
		}
	case *ast.CallExpr:
		if args, ok := builtin(info, n, "copy"); ok {
			if named(info, args[0]) == v {
				return n.Pos()
			}
			if slice, ok := ast.Unparen(args[0]).(*ast.SliceExpr); ok && named(info, slice.X) == v {
				return n.Pos()
			}
		}
		if args, ok := builtin(info, n, "clear"); ok && named(info, args[0]) == v {
			return n.Pos()
		}
	}
	return token.NoPos
}
