package gocode

import (
	"fmt"
	"go/ast"
	"go/types"
	"runtime"
	"strings"
)

// Rules of what grows with what is put into it.

// appends tells whether the line's append allocates. The compiler calls one of
// several functions for it, such as growsliceBuf for a slice that begins on the
// stack.
func (s *subject) appends() bool { return strings.HasPrefix(s.line.Callee, "runtime.growslice") }

func findAppendGrowth(s *subject) (why, remedy string, found bool) {
	if !s.appends() {
		return "", "", false
	}
	for _, at := range s.builtins("append") {
		call := at.expr.(*ast.CallExpr)
		slice := text(call.Args[0])
		if at.isMapElement(ast.Unparen(call.Args[0])) {
			return "append makes or extends the slice of a key, " + slice, "where a key has one value mostly: one array for all of them, of which each key gets a part, all[i:i+1:i+1]", true
		}
		if s.line.Allocs >= growsOnce && s.startsSlices(&at, call) {
			return fmt.Sprintf("append makes %s, mostly for what it is given first", slice), keptSlice + "; room for it would be one allocation, too", true
		}
		return fmt.Sprintf("append lets %s grow: each time it is full it moves to a longer array", slice), at.roomForSlice(call, s.line.Allocs), true
	}
	return "append lets a slice grow", "make it with room for what will be in it", true
}

var sizes = types.SizesFor("gc", runtime.GOARCH)

// startsSlices tells whether what a call of append allocates is mostly no longer than
// what it appends: then slices are made there, and hardly grow.
func (s *subject) startsSlices(at *spot, call *ast.CallExpr) bool {
	const hardly = 1.1
	slice, ok := at.info.TypeOf(call.Args[0]).Underlying().(*types.Slice)
	if !ok || call.Ellipsis.IsValid() || !hasSize(slice.Elem()) || at.cutsBegin(call.Args[0]) {
		return false
	}
	first := sizes.Sizeof(slice.Elem()) * int64(len(call.Args)-1)
	return s.line.Allocs > 0 && s.line.Bytes <= hardly*float64(first)*s.line.Allocs
}

// hasSize tells whether the size of a type is one whatever type arguments are.
func hasSize(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return false
	case *types.Named:
		return hasSize(t.Underlying())
	case *types.Array:
		return hasSize(t.Elem())
	case *types.Struct:
		for field := range t.Fields() {
			if !hasSize(field.Type()) {
				return false
			}
		}
	}
	return true
}

// cutsBegin tells whether the function cuts the beginning off a slice, and with it
// room that it had.
func (s *spot) cutsBegin(slice ast.Expr) bool {
	function := s.function()
	if function == nil {
		return true
	}
	cuts := false
	ast.Inspect(function, func(n ast.Node) bool {
		cut, ok := n.(*ast.SliceExpr)
		cuts = cuts || ok && cut.Low != nil && text(cut.X) == text(slice)
		return !cuts
	})
	return cuts
}

// findCopy finds append used to copy a slice, append([]byte(nil), b...).
func findCopy(s *subject) (why, remedy string, found bool) {
	if !s.appends() {
		return "", "", false
	}
	for _, at := range s.builtins("append") {
		if call := at.expr.(*ast.CallExpr); at.isEmptySlice(call.Args[0]) {
			return "append to " + text(call.Args[0]) + " makes a new slice each time", "append(kept[:0], " + rest(call) + ") has it in one that is kept, where nobody needs the old one any longer", true
		}
	}
	return "", "", false
}

// rest is the source of what a call of append puts into its slice.
func rest(call *ast.CallExpr) string {
	var parts []string
	for _, a := range call.Args[1:] {
		parts = append(parts, text(a))
	}
	if call.Ellipsis.IsValid() {
		return strings.Join(parts, ", ") + "..."
	}
	return strings.Join(parts, ", ")
}

// isEmptySlice tells whether an expression is a slice that has nothing in it and
// no name: []T(nil), []T{}.
func (f *sourceFile) isEmptySlice(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return f.info.Types[e.Fun].IsType() && len(e.Args) == 1 && f.info.Types[e.Args[0]].IsNil()
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	}
	return false
}

// growsOnce is more than the allocations of an operation that are one at a time:
// room beforehand would be as many.
const growsOnce = 1.5

// roomForSlice says where the slice that a call of append extends can be made
// long enough at once, where it allocates so often.
func (s *spot) roomForSlice(call *ast.CallExpr, allocs float64) string {
	slice := text(call.Args[0])
	loop, nested := s.loopOf(call.Args[0])
	if loop == nil {
		return "make " + slice + " with room for what will be in it, or " + keptSlice
	}
	turns, known := s.turns(loop)
	if nested || call.Ellipsis.IsValid() || !known {
		return keptSlice + "; or, where it is known what will be in it, make " + slice + " with room for that before the loop"
	}
	line := s.fset.Position(loop.Pos()).Line
	e := &editor{sourceFile: s.sourceFile, fset: s.fset}
	declared := false
	if e.begin(s) {
		if v := e.local(call.Args[0]); v != nil {
			declaration := e.declaredEmpty(v)
			declared = declaration != nil && sameList(e.around(declaration), statementOf(s.path, loop))
		}
	}
	most, constant := constantTurns(s, loop)
	switch {
	// What has a constant size may lie on the stack.
	case allocs < growsOnce && !(declared && constant && most > 0):
		return keptSlice + "; room before the loop would be one allocation, too"
	case declared:
		return fmt.Sprintf("make it before the loop in line %d: %s := make([]%s, 0, %s)", line, slice, s.elementOf(call.Args[0]), turns)
	}
	return fmt.Sprintf("give it room before the loop in line %d: %s = slices.Grow(%s, %s)", line, slice, slice, turns)
}

const keptSlice = "append to one that is kept and cut to [:0], where nobody needs the old one any longer"

// loopOf returns the outermost loop in which a slice or map grows: it was there
// before the loop began, and is the same in all turns. nested tells that the
// spot stands in another loop within that one. It is nil where the spot has a
// new one each time.
func (s *spot) loopOf(grows ast.Expr) (loop ast.Stmt, nested bool) {
	from := s.info.ObjectOf(firstName(grows))
	for i, n := range s.path {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if from != nil && contains(n, from.Pos()) || s.replaces(n.(ast.Stmt), grows) {
				return loop, nested
			}
			if isTurn(n.(ast.Stmt), s.path[:i]) {
				nested = loop != nil
				loop = n.(ast.Stmt)
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return loop, nested
		}
	}
	return loop, nested
}

// replaces tells whether a slice or map that an expression names may be another
// one in the next turn of a loop: the loop assigns something else to it, or to
// what it is found by, or it stands at another index.
func (s *spot) replaces(loop ast.Stmt, e ast.Expr) (found bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		found = s.replaces(loop, e.X)
	case *ast.IndexExpr:
		found = s.varies(e.Index, loop) || s.replaces(loop, e.X)
	case *ast.StarExpr:
		found = s.replaces(loop, e.X)
	}
	same := func(other ast.Expr) bool {
		return text(other) == text(e) && s.info.ObjectOf(firstName(other)) == s.info.ObjectOf(firstName(e))
	}
	ast.Inspect(loop, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return !found
		}
		for i, left := range assign.Lhs {
			value := assign.Rhs[min(i, len(assign.Rhs)-1)]
			found = found || same(left) && !same(carried(value))
		}
		return !found
	})
	return found
}

// carried is what a value goes on with: x of x[1:], append(x, y) and f(x, y).
func carried(value ast.Expr) ast.Expr {
	for {
		switch v := ast.Unparen(value).(type) {
		case *ast.SliceExpr:
			value = v.X
		case *ast.CallExpr:
			if len(v.Args) == 0 {
				return v
			}
			value = v.Args[0]
		default:
			return v
		}
	}
}

// firstName is the name that an expression begins with, through pointers, too;
// nil where it begins with something else. root is the variable in whose own
// memory it lies.
func firstName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return firstName(e.X)
	case *ast.IndexExpr:
		return firstName(e.X)
	case *ast.StarExpr:
		return firstName(e.X)
	}
	return nil
}

func (f *sourceFile) isMapElement(e ast.Expr) bool {
	index, ok := e.(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, ok = f.info.TypeOf(index.X).Underlying().(*types.Map)
	return ok
}

// elementOf returns the type of a slice's elements, as its file writes it.
func (s *spot) elementOf(slice ast.Expr) string {
	if of, ok := s.info.TypeOf(slice).Underlying().(*types.Slice); ok {
		return types.TypeString(of.Elem(), s.qualifier)
	}
	return "T"
}

// firstKeys tells whether all that the line makes is the first group of a map's
// places: a larger map has a table as well.
func (s *subject) firstKeys() bool { return strings.HasPrefix(s.line.Type, "map.group[") }

func findMapGrowth(s *subject) (why, remedy string, found bool) {
	if !strings.HasPrefix(s.line.Callee, "runtime.mapassign") && !strings.HasPrefix(s.line.Callee, "internal/runtime/maps.") && !strings.HasPrefix(s.line.Callee, "runtime.makemap") {
		return "", "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, (*sourceFile).isMapElement) {
		m := at.expr.(*ast.IndexExpr).X
		if at.hasRoom(m) {
			return "the map " + text(m) + " was made with room, which the first key that is put into it takes", "", true
		}
		if s.firstKeys() {
			return "the map " + text(m) + " makes room for eight keys with its first one, whether it was made with room for them or not, and had no more",
				"keep it and clear(" + text(m) + "), where one is enough at a time; a few keys are found as fast in a slice", true
		}
		return "the map " + text(m) + " grows with what is put into it", at.roomForMap(m), true
	}
	if strings.HasPrefix(s.line.Callee, "runtime.makemap") {
		if reason, kept := s.outlives(); kept {
			return reason, "", true
		}
		return "a map is made", "keep one and clear it, where one is enough at a time; a few keys are found as fast in a slice", true
	}
	return "", "", false
}

// roomForMap says how a map can be made large enough at once.
func (s *spot) roomForMap(m ast.Expr) string {
	if loop, nested := s.loopOf(m); loop != nil && !nested {
		if turns, known := s.turns(loop); known {
			return fmt.Sprintf("make it with room: make(%s, %s); or keep it and clear(%s)", types.TypeString(s.info.TypeOf(m), s.qualifier), turns, text(m))
		}
	}
	return "make it with room for what will be in it, or keep it and clear it"
}

// hasRoom tells whether a map is a variable of the function that was made for a
// number of keys.
func (s *spot) hasRoom(m ast.Expr) bool {
	e := &editor{sourceFile: s.sourceFile, fset: s.fset}
	if !e.begin(s) {
		return false
	}
	v := e.local(m)
	if v == nil {
		return false
	}
	made, ok := initial(e.declared(v)).(*ast.CallExpr)
	return ok && e.info.Types[made.Fun].IsBuiltin() && text(made.Fun) == "make" && len(made.Args) == 2
}

func findBufferGrowth(s *subject) (why, remedy string, found bool) {
	var kind string
	for _, of := range []string{"bytes.(*Buffer).", "strings.(*Builder)."} {
		if strings.HasPrefix(s.line.Callee, of) {
			kind = of
		}
	}
	switch strings.TrimPrefix(s.line.Callee, kind) {
	case "Write", "WriteString", "WriteByte", "WriteRune", "ReadFrom", "Grow":
	default:
		return "", "", false // it takes out of the buffer
	}
	name := "it"
	for _, at := range s.calls() {
		if selector, ok := at.expr.(*ast.CallExpr).Fun.(*ast.SelectorExpr); ok {
			name = text(selector.X)
		}
	}
	if strings.HasSuffix(s.line.Callee, ".Grow") {
		return name + " gets its room", "keep it and Reset it, where one is enough at a time", kind == "bytes.(*Buffer)."
	}
	remedy = name + ".Grow(n) before it is filled, with about what will be in it"
	if kind == "bytes.(*Buffer)." {
		remedy += "; or write to where the bytes go in the end"
	}
	return name + " grows with what is written to it: each time it is full it moves to a longer array", remedy, true
}
