package gocode

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// rewriteAppendGrowth makes a slice with room for as many elements as the loop
// has turns. Nobody may be able to tell nil from empty, or see the capacity; or
// else every turn appends, so that the slice is nil after as many turns as
// before.
func rewriteAppendGrowth(s *subject, e *editor) (string, bool) {
	if !s.appends() {
		return "", false
	}
	for _, at := range s.builtins("append") {
		call := at.expr.(*ast.CallExpr)
		loop := at.loop()
		name, isName := call.Args[0].(*ast.Ident)
		if loop == nil || !isName || len(call.Args) != 2 || call.Ellipsis.IsValid() || !e.begin(&at) || leaves(loop) {
			continue
		}
		slice := e.local(name)
		if slice == nil {
			continue
		}
		declaration := e.declaredEmpty(slice)
		room, ok := e.room(&at, loop, declaration)
		if declaration == nil || !ok {
			continue
		}
		sliceType := types.TypeString(slice.Type(), e.qualifier)
		made := fmt.Sprintf("make(%s, 0, %s)", sliceType, room.most)
		_, wasNil := declaration.(*ast.DeclStmt)
		switch {
		case e.onlyElements(slice):
		case !e.everyTurn(&at, loop, slice):
			continue
		case wasNil && room.some == "":
			continue
		case wasNil && room.some != "true":
			e.insertAt(declaration.End(), fmt.Sprintf("\nif %s {\n%s = %s\n}", room.some, name.Name, made))
			return fmt.Sprintf("make %s with room for %s", name.Name, room.most), true
		}
		e.replace(declaration, fmt.Sprintf("%s := %s", name.Name, made))
		return fmt.Sprintf("make %s with room for %s", name.Name, room.most), true
	}
	return "", false
}

// rewriteMapGrowth makes a map with room for as many keys as the loop has
// turns. Nobody can see what room a map has.
func rewriteMapGrowth(s *subject, e *editor) (string, bool) {
	if !strings.HasPrefix(s.line.Callee, "runtime.mapassign") && !strings.HasPrefix(s.line.Callee, "internal/runtime/maps.") || s.firstKeys() {
		return "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, isElement) {
		loop := at.loop()
		if loop == nil || len(at.path) < 3 || !e.begin(&at) || leaves(loop) {
			continue
		}
		// In every turn: the room would else be for keys that do not come.
		if list := listOf(at.path[2]); list == nil || at.path[2] != ast.Node(bodyOf(loop)) {
			continue
		}
		m := e.local(at.expr.(*ast.IndexExpr).X)
		if m == nil {
			continue
		}
		if _, ok := m.Type().Underlying().(*types.Map); !ok {
			continue
		}
		declaration := e.declared(m)
		room, ok := e.room(&at, loop, declaration)
		if !ok || room.some == "" {
			continue
		}
		switch made := initial(declaration).(type) {
		case *ast.CompositeLit:
			if len(made.Elts) > 0 || made.Type == nil {
				continue
			}
			e.replace(made, fmt.Sprintf("make(%s, %s)", e.source(made.Type), room.most))
		case *ast.CallExpr:
			if !e.info.Types[made.Fun].IsBuiltin() || text(made.Fun) != "make" || len(made.Args) != 1 {
				continue
			}
			e.insertAt(made.Args[0].End(), ", "+room.most)
		default:
			continue
		}
		return fmt.Sprintf("make %s with room for %s", m.Name(), room.most), true
	}
	return "", false
}

func isElement(_ *sourceFile, e ast.Expr) bool {
	_, ok := e.(*ast.IndexExpr)
	return ok
}

// rewriteBufferGrowth lets a buffer have its room at once, before a loop that
// writes the same string a constant number of times.
func rewriteBufferGrowth(s *subject, e *editor) (string, bool) {
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		loop := at.loop()
		if loop == nil || len(call.Args) != 1 || len(at.path) < 3 || at.path[2] != ast.Node(bodyOf(loop)) || !e.begin(&at) || leaves(loop) {
			continue
		}
		x, ok := e.methodOf(call, "WriteString", "bytes.Buffer", "strings.Builder")
		if !ok {
			continue
		}
		buffer := e.local(x)
		if buffer == nil || at.varies(call.Args[0], loop) || e.showsRoom(buffer) {
			continue
		}
		if _, pointer := buffer.Type().Underlying().(*types.Pointer); pointer {
			continue
		}
		turns, ok := constantTurns(&at, loop)
		before := statementOf(at.path, loop)
		if !ok || turns <= 0 || turns > 1<<20 || before == nil || !simple(call.Args[0]) {
			continue
		}
		e.insertBefore(before, fmt.Sprintf("%s.Grow(%d * len(%s))\n", buffer.Name(), turns, text(call.Args[0])))
		return fmt.Sprintf("let %s have its room at once", buffer.Name()), true
	}
	return "", false
}

// showsRoom tells whether the function asks a buffer for its capacity.
func (e *editor) showsRoom(buffer *types.Var) bool {
	return slices.ContainsFunc(e.uses(buffer), func(use *ast.Ident) bool {
		selector, ok := e.around(use)[1].(*ast.SelectorExpr)
		return ok && (selector.Sel.Name == "Cap" || strings.HasPrefix(selector.Sel.Name, "Available"))
	})
}

func constantTurns(at *spot, loop ast.Stmt) (int64, bool) {
	var count ast.Expr
	switch loop := loop.(type) {
	case *ast.ForStmt:
		if !countsUp(loop) {
			return 0, false
		}
		count = loop.Cond.(*ast.BinaryExpr).Y
	case *ast.RangeStmt:
		count = loop.X
	}
	return at.constantNumber(count)
}

func bodyOf(loop ast.Stmt) *ast.BlockStmt {
	switch loop := loop.(type) {
	case *ast.ForStmt:
		return loop.Body
	case *ast.RangeStmt:
		return loop.Body
	}
	return nil
}

// declaredEmpty returns the statement that declares a variable as nothing yet,
// a slice without elements or a zero value, and does nothing else.
func (e *editor) declaredEmpty(v *types.Var) ast.Stmt {
	declaration := e.declared(v)
	if declaration == nil {
		return nil
	}
	_, short := declaration.(*ast.AssignStmt)
	switch value := initial(declaration).(type) {
	case nil:
		return declaration
	case *ast.CompositeLit:
		if short && len(value.Elts) == 0 {
			return declaration
		}
	case *ast.CallExpr:
		if short && e.info.Types[value.Fun].IsBuiltin() && text(value.Fun) == "make" && len(value.Args) == 2 {
			if n, ok := e.constantNumber(value.Args[1]); ok && n == 0 {
				return declaration
			}
		}
	}
	return nil
}

// room is how many elements a loop may make: most, as source, at the place of
// a declaration before it. some is the condition for one turn or more, "true"
// for a loop that has some, "" where there is none to write.
type room struct{ most, some string }

// room says for how many elements there must be room when the slice is
// declared. The number of turns must be known there: of what is named in it
// nothing may change between the declaration and the loop.
func (e *editor) room(at *spot, loop ast.Stmt, declaration ast.Stmt) (room, bool) {
	before := statementOf(at.path, loop)
	if declaration == nil || before == nil || !sameList(e.around(declaration), before) {
		return room{}, false
	}
	var count ast.Expr
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		basic, ok := at.info.TypeOf(loop.X).Underlying().(*types.Basic)
		if !ok || basic.Info()&types.IsInteger == 0 {
			if simple(loop.X) && isSized(at.info.TypeOf(loop.X)) && e.unchanged(at, loop.X, declaration, loop, before) {
				return asMany(loop.X), true
			}
			return room{}, false
		}
		count = loop.X
	case *ast.ForStmt:
		if !countsUp(loop) {
			return room{}, false
		}
		count = loop.Cond.(*ast.BinaryExpr).Y
	default:
		return room{}, false
	}
	if value := at.info.Types[count].Value; value != nil {
		n, exact := constant.Int64Val(value)
		return room{text(count), "true"}, exact && n > 0 && n <= 1<<16
	}
	if most, ok := mostOf(at.sourceFile, count); ok {
		return room{strconv.Itoa(most), ""}, true
	}
	if call, ok := ast.Unparen(count).(*ast.CallExpr); ok && at.info.Types[call.Fun].IsBuiltin() && text(call.Fun) == "len" && simple(call.Args[0]) {
		return asMany(call.Args[0]), e.unchanged(at, call.Args[0], declaration, loop, before)
	}
	return room{}, false // may be negative or huge
}

func asMany(x ast.Expr) room {
	return room{"len(" + text(x) + ")", "len(" + text(x) + ") > 0"}
}

func isSized(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return true
	}
	return false
}

// unchanged tells whether a variable of the function is the same from a
// declaration to the end of a loop; or, whatever it is, whether the loop begins
// right after the declaration.
func (e *editor) unchanged(at *spot, x ast.Expr, declaration, loop, before ast.Stmt) bool {
	list := listOf(e.around(declaration)[1])
	if i := slices.Index(list, declaration); i >= 0 && i+1 < len(list) && list[i+1] == before && !e.declares(declaration, x) {
		return true
	}
	name, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := at.info.Uses[name].(*types.Var)
	if !ok || v.Parent() == nil || v.Parent() == v.Pkg().Scope() || v.Pos() >= declaration.Pos() {
		return false
	}
	return !at.changes(v, span(declaration.Pos(), loop.End()))
}

// declares tells whether a declaration is that of a variable in an expression.
func (e *editor) declares(declaration ast.Stmt, x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			if v := e.info.Uses[name]; v != nil && contains(declaration, v.Pos()) {
				found = true
			}
		}
		return !found
	})
	return found
}

// mostOf returns the greatest value that an expression can have by its type:
// of an 8-bit number, also converted.
func mostOf(f *sourceFile, e ast.Expr) (int, bool) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && f.info.Types[call.Fun].IsType() && len(call.Args) == 1 {
		if to, ok := f.info.TypeOf(call).Underlying().(*types.Basic); ok && to.Info()&types.IsInteger != 0 && to.Kind() != types.Int8 {
			e = ast.Unparen(call.Args[0])
		}
	}
	basic, ok := f.info.TypeOf(e).Underlying().(*types.Basic)
	if ok && basic.Kind() == types.Uint8 {
		return 255, true
	}
	return 0, false
}

// countsUp holds for loops of the form: i := 0; i < n; i++, in whose body
// nothing assigns to i.
func countsUp(loop *ast.ForStmt) bool {
	start, ok := loop.Init.(*ast.AssignStmt)
	if !ok || start.Tok != token.DEFINE || len(start.Lhs) != 1 || len(start.Rhs) != 1 || text(start.Rhs[0]) != "0" {
		return false
	}
	condition, ok := loop.Cond.(*ast.BinaryExpr)
	step, stepped := loop.Post.(*ast.IncDecStmt)
	name := text(start.Lhs[0])
	if !ok || !stepped || condition.Op != token.LSS || step.Tok != token.INC || text(condition.X) != name || text(step.X) != name {
		return false
	}
	assigned := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				assigned = assigned || text(left) == name
			}
		case *ast.IncDecStmt:
			assigned = assigned || text(n.X) == name
		case *ast.UnaryExpr:
			assigned = assigned || n.Op == token.AND && text(n.X) == name
		}
		return true
	})
	return !assigned
}

// leaves tells whether a loop may end before its last turn though the function
// goes on: the room for all of them could then be far more than is needed.
func leaves(loop ast.Stmt) bool {
	found := false
	var visit func(n ast.Node, inner bool)
	visit = func(n ast.Node, inner bool) {
		ast.Inspect(n, func(child ast.Node) bool {
			switch child := child.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				if child != n {
					visit(child, true)
					return false
				}
			case *ast.BranchStmt:
				found = found || child.Tok == token.GOTO || child.Tok == token.BREAK && (!inner || child.Label != nil) || child.Tok == token.CONTINUE && child.Label != nil
			}
			return true
		})
	}
	visit(loop, false)
	return found
}

// sameList tells whether a statement stands in the same list as another, whose
// surroundings are path.
func sameList(path []ast.Node, other ast.Stmt) bool {
	return len(path) >= 2 && other != nil && slices.Contains(listOf(path[1]), other)
}

// everyTurn tells whether each turn of a loop appends to the slice once, and
// nobody looks at the slice before the loop is over.
func (e *editor) everyTurn(at *spot, loop ast.Stmt, slice *types.Var) bool {
	assign, ok := at.path[1].(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || e.local(assign.Lhs[0]) != slice || at.path[2] != ast.Node(bodyOf(loop)) {
		return false
	}
	skips := false
	ast.Inspect(bodyOf(loop), func(n ast.Node) bool {
		branch, ok := n.(*ast.BranchStmt)
		skips = skips || ok && branch.Tok == token.CONTINUE && branch.Pos() < assign.Pos()
		return !skips
	})
	if skips {
		return false
	}
	for _, use := range e.uses(slice) {
		if contains(assign, use.Pos()) {
			if use != assign.Lhs[0] && use != at.expr.(*ast.CallExpr).Args[0] {
				return false
			}
			continue
		}
		if use.Pos() < loop.End() && (use.Pos() < loop.Pos() || !e.looksAt(use)) || use.Pos() >= loop.End() && e.seesCapacity(use) {
			return false
		}
	}
	return true
}

// looksAt tells whether a use of a slice reads its length or one of its
// elements, in the function itself.
func (e *editor) looksAt(use *ast.Ident) bool {
	path := e.around(use)
	for _, n := range path {
		if literal, ok := n.(*ast.FuncLit); ok && !contains(literal, e.info.Uses[use].Pos()) {
			return false
		}
	}
	switch parent := path[1].(type) {
	case *ast.CallExpr:
		return e.info.Types[parent.Fun].IsBuiltin() && text(parent.Fun) == "len"
	case *ast.IndexExpr:
		return parent.X == ast.Expr(use) && e.onlyReads(path[1:])
	}
	return false
}

// onlyReads tells whether the element that a path begins with is read, and its
// address not taken: the slice could move to another array later.
func (e *editor) onlyReads(path []ast.Node) bool {
	for i := 0; i+1 < len(path); i++ {
		switch parent := path[i+1].(type) {
		case *ast.SelectorExpr:
			if e.addressed(parent) != nil || e.pointerMethod(parent) {
				return false
			}
		case *ast.IndexExpr:
			if ast.Node(parent.X) != path[i] {
				return true // it is the index of something else
			}
		case *ast.SliceExpr:
			return ast.Node(parent.X) != path[i] || !isArray(e.info.TypeOf(parent.X))
		case *ast.UnaryExpr:
			return parent.Op != token.AND
		case *ast.AssignStmt:
			return !slices.ContainsFunc(parent.Lhs, func(left ast.Expr) bool { return ast.Node(left) == path[i] })
		case *ast.IncDecStmt:
			return false
		case *ast.ParenExpr:
		default:
			return true
		}
	}
	return true
}

// pointerMethod tells whether a selector calls a method with a pointer to what
// is no pointer itself.
func (e *editor) pointerMethod(selector *ast.SelectorExpr) bool {
	selection := e.info.Selections[selector]
	if selection == nil || selection.Kind() != types.MethodVal {
		return false
	}
	if _, pointer := selection.Recv().Underlying().(*types.Pointer); pointer {
		return false
	}
	method, ok := selection.Obj().(*types.Func)
	if !ok {
		return false
	}
	_, pointer := method.Signature().Recv().Type().(*types.Pointer)
	return pointer
}

func isArray(t types.Type) bool {
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// seesCapacity tells whether a use of a slice could tell how much room it has.
func (e *editor) seesCapacity(use *ast.Ident) bool {
	path := e.around(use)
	switch parent := path[1].(type) {
	case *ast.CallExpr:
		if !e.info.Types[parent.Fun].IsBuiltin() {
			return false
		}
		switch text(parent.Fun) {
		case "cap":
			return true
		case "append":
			assign, ok := path[2].(*ast.AssignStmt)
			return parent.Args[0] == ast.Expr(use) && (!ok || len(assign.Lhs) != 1 || e.local(assign.Lhs[0]) != e.info.Uses[use])
		}
	case *ast.SliceExpr:
		return parent.X == ast.Expr(use) && parent.High != nil
	case *ast.UnaryExpr:
		return parent.Op == token.AND
	}
	return false
}

// onlyElements tells whether of a slice only the elements matter: it is
// appended to once in a loop, converted to a string, measured, ranged over and
// indexed.
func (e *editor) onlyElements(v *types.Var) bool {
	appends := 0
	for _, use := range e.uses(v) {
		path := e.around(use)
		if len(path) < 3 {
			return false
		}
		switch parent := path[1].(type) {
		case *ast.CallExpr:
			tv := e.info.Types[parent.Fun]
			switch {
			case tv.IsBuiltin() && text(parent.Fun) == "append" && parent.Args[0] == ast.Expr(use):
				assign, ok := path[2].(*ast.AssignStmt)
				if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || text(assign.Lhs[0]) != use.Name {
					return false
				}
				appends++
			case tv.IsBuiltin() && text(parent.Fun) == "len":
			case tv.IsType() && types.Identical(e.info.TypeOf(parent).Underlying(), types.Typ[types.String]):
			default:
				return false
			}
		case *ast.AssignStmt:
			if len(parent.Lhs) != 1 || parent.Lhs[0] != ast.Expr(use) || len(parent.Rhs) != 1 {
				return false
			}
			call, ok := parent.Rhs[0].(*ast.CallExpr)
			if !ok || !e.info.Types[call.Fun].IsBuiltin() || text(call.Fun) != "append" || text(call.Args[0]) != use.Name {
				return false
			}
		case *ast.RangeStmt:
			if parent.X != ast.Expr(use) {
				return false
			}
		case *ast.IndexExpr:
			if parent.X != ast.Expr(use) || !e.onlyReads(path[1:]) {
				return false
			}
		default:
			return false
		}
	}
	return appends == 1
}
