package gocode

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// rewriteSplit goes without the slice that strings.Split makes: where its parts
// are gone through once, and where only the first, or the first two of two, are
// taken.
func rewriteSplit(s *subject, e *editor) (string, bool) {
	switch s.line.Callee {
	case "strings.Split", "strings.SplitN", "strings.Fields":
	default:
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		_, qualified := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if len(at.path) < 2 || !qualified || !e.begin(&at) || e.jumps() {
			continue
		}
		for _, try := range []func(*spot, *ast.CallExpr) (string, bool){e.splitRange, e.splitLoop, e.splitFirst, e.splitTwo, e.splitRest} {
			e.changes, e.claimed = nil, nil
			if title, ok := try(&at, call); ok {
				return title, true
			}
		}
	}
	return "", false
}

// splitRange goes through the parts as they are found.
func (e *editor) splitRange(at *spot, call *ast.CallExpr) (string, bool) {
	callee := e.callee(call)
	loop, ok := at.path[1].(*ast.RangeStmt)
	if !ok || loop.X != ast.Expr(call) || callee != "strings.Split" && callee != "strings.Fields" || !e.since("go1.24") {
		return "", false
	}
	switch {
	case loop.Key == nil:
	case text(loop.Key) == "_" && loop.Value != nil:
		e.changes = append(e.changes, change{loop.Key.Pos(), loop.Value.Pos(), ""})
	default:
		return "", false // it counts the parts
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	e.replace(selector.Sel, selector.Sel.Name+"Seq")
	return "go through the parts of " + text(call.Args[0]) + " without a slice of them", true
}

// splitLoop goes through the parts by cutting one after the other off, for
// versions of Go that have no sequence of them.
func (e *editor) splitLoop(at *spot, call *ast.CallExpr) (string, bool) {
	loop, ok := at.path[1].(*ast.RangeStmt)
	if !ok || loop.X != ast.Expr(call) || e.callee(call) != "strings.Split" || !e.separator(call) || !e.since("go1.18") || e.since("go1.24") {
		return "", false
	}
	rest, more := e.claim("rest"), e.claim("more")
	part, ok := e.cutLoop(loop, call, rest, more)
	if !ok {
		return "", false
	}
	e.changes = append(e.changes, change{loop.For, loop.Body.Lbrace,
		fmt.Sprintf(`for %s, %s, %s := "", %s, true; %[3]s; `, part, rest, more, e.source(call.Args[0]))})
	return "go through the parts of " + text(call.Args[0]) + " without a slice of them", true
}

// cutLoop lets each turn of a loop over parts begin by cutting the next one
// off. It returns the name of the part.
func (e *editor) cutLoop(loop *ast.RangeStmt, call *ast.CallExpr, rest, more string) (part string, ok bool) {
	if loop.Tok != token.DEFINE || loop.Key == nil || text(loop.Key) != "_" || loop.Value == nil || text(loop.Value) == "_" {
		return "", false
	}
	pkg := e.source(call.Fun)
	part = text(loop.Value)
	e.insertAt(loop.Body.Lbrace+1, fmt.Sprintf("\n\t%s, %s, %s = %s.Cut(%s, %s)", part, rest, more, pkg[:strings.LastIndexByte(pkg, '.')], rest, e.source(call.Args[1])))
	return part, true
}

// splitRest takes the first part, and goes through the others once.
func (e *editor) splitRest(at *spot, call *ast.CallExpr) (string, bool) {
	assign, ok := at.path[1].(*ast.AssignStmt)
	if !ok || e.callee(call) != "strings.Split" || !e.separator(call) || !e.since("go1.18") || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || len(at.path) < 3 {
		return "", false
	}
	name, ok := assign.Lhs[0].(*ast.Ident)
	if !ok || e.info.Defs[name] == nil || listOf(at.path[2]) == nil {
		return "", false
	}
	first, rest, more := e.claim("first"), e.claim("rest"), e.claim("more")
	looped := false
	for _, use := range e.uses(e.info.Defs[name]) {
		path := e.around(use)
		switch parent := path[1].(type) {
		case *ast.IndexExpr:
			which, ok := e.constantNumber(parent.Index)
			if !ok || which != 0 || parent.X != ast.Expr(use) || !(&twoParts{}).reads(path) {
				return "", false
			}
			e.replace(parent, first)
		case *ast.SliceExpr:
			loop, ok := path[2].(*ast.RangeStmt)
			from, known := e.constantNumber(parent.Low)
			if !ok || !known || from != 1 || parent.X != ast.Expr(use) || parent.High != nil || looped || loop.X != ast.Expr(parent) || !onceIn(path[2:], at.path[2]) {
				return "", false
			}
			part, ok := e.cutLoop(loop, call, rest, more)
			if !ok {
				return "", false
			}
			e.changes = append(e.changes, change{loop.For, loop.Body.Lbrace, fmt.Sprintf(`for %s := ""; %s; `, part, more)})
			looped = true
		default:
			return "", false
		}
	}
	if !looped {
		return "", false
	}
	if !slices.ContainsFunc(e.changes, func(c change) bool { return c.text == first }) {
		first = "_"
	}
	e.replace(assign, fmt.Sprintf("%s, %s, %s := %s", first, rest, more, e.cutOf(call)))
	return "cut the parts of " + text(call.Args[0]) + " off one after the other", true
}

// onceIn tells whether a statement is come to at most once each time a list
// around it is gone through. path leads outwards from the statement.
func onceIn(path []ast.Node, list ast.Node) bool {
	for _, n := range path[1:] {
		if n == list {
			return true
		}
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit, *ast.FuncDecl:
			return false
		}
	}
	return false
}

// separator tells whether a call cuts at a constant that is not empty.
func (e *editor) separator(call *ast.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	separator, ok := e.constantText(call.Args[1])
	return ok && separator != ""
}

// splitFirst takes the first part alone.
func (e *editor) splitFirst(at *spot, call *ast.CallExpr) (string, bool) {
	index, ok := at.path[1].(*ast.IndexExpr)
	if !ok || index.X != ast.Expr(call) || !e.separator(call) || !e.since("go1.18") {
		return "", false
	}
	first, ok := e.constantNumber(index.Index)
	if !ok || first != 0 || !e.splitsAtLeast2(call) {
		return "", false
	}
	cut := e.cutOf(call)
	statement, _ := at.listed()
	if statement == nil {
		return "", false
	}
	if assign, ok := statement.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 && len(assign.Rhs) == 1 && ast.Unparen(assign.Rhs[0]) == ast.Expr(index) &&
		(assign.Tok == token.DEFINE || assign.Tok == token.ASSIGN) {
		if _, ok := assign.Lhs[0].(*ast.Ident); ok {
			e.replace(assign, e.source(assign.Lhs[0])+", _, _ "+assign.Tok.String()+" "+cut)
			return "cut " + text(call.Args[0]) + " once, for its first part", true
		}
	}
	switch statement.(type) {
	case *ast.AssignStmt, *ast.ReturnStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.IfStmt, *ast.SwitchStmt:
	default:
		return "", false // it may be evaluated more often than the statement begins
	}
	if !at.stable(call.Args[0], statement) || contains(statement, e.declaredAt(call.Args[0])) || inBranch(at, statement) {
		return "", false
	}
	name := e.fresh("first")
	e.insertBefore(statement, name+", _, _ := "+cut+"\n")
	e.replace(index, name)
	return "cut " + text(call.Args[0]) + " once, for its first part", true
}

// inBranch tells whether a spot stands in a block within a statement, of which
// only the head is evaluated when it begins.
func inBranch(at *spot, statement ast.Stmt) bool {
	for _, n := range at.path {
		if n == ast.Node(statement) {
			return false
		}
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncLit, *ast.IfStmt:
			return true
		}
	}
	return true
}

// declaredAt is where the variable that an expression names is declared.
func (e *editor) declaredAt(x ast.Expr) token.Pos {
	if v := e.local(x); v != nil {
		return v.Pos()
	}
	return token.NoPos
}

func (e *editor) splitsAtLeast2(call *ast.CallExpr) bool {
	switch e.callee(call) {
	case "strings.Split":
		return len(call.Args) == 2
	case "strings.SplitN":
		n, ok := e.constantNumber(call.Args[2])
		return ok && (n >= 2 || n < 0)
	}
	return false
}

// cutOf writes a call of strings.Split or SplitN as one of strings.Cut.
func (e *editor) cutOf(call *ast.CallExpr) string {
	pkg := e.source(call.Fun)
	pkg = pkg[:strings.LastIndexByte(pkg, '.')]
	return fmt.Sprintf("%s.Cut(%s, %s)", pkg, e.source(call.Args[0]), e.source(call.Args[1]))
}

// splitTwo takes what is before and after the separator, where the second part
// is read only when it is there.
func (e *editor) splitTwo(at *spot, call *ast.CallExpr) (string, bool) {
	if !e.separator(call) || !e.since("go1.18") {
		return "", false
	}
	exact := false // no more than two parts are made
	switch e.callee(call) {
	case "strings.SplitN":
		n, ok := e.constantNumber(call.Args[2])
		if !ok || n != 2 {
			return "", false
		}
		exact = true
	case "strings.Split":
	default:
		return "", false
	}
	assign, ok := at.path[1].(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return "", false
	}
	name, ok := assign.Lhs[0].(*ast.Ident)
	parts := e.info.Defs[name]
	if !ok || parts == nil {
		return "", false
	}
	two := twoParts{e, parts, exact, e.source(call.Args[1]), e.fresh("before"), e.fresh("after"), e.fresh("found")}
	used := map[string]bool{}
	for _, use := range e.uses(parts) {
		if !two.replaceUse(use, used) {
			return "", false
		}
	}
	results := [3]string{"_", "_", "_"}
	for i, name := range []string{two.before, two.after, two.found} {
		if used[name] {
			results[i] = name
		}
	}
	if results == [3]string{"_", "_", "_"} {
		return "", false
	}
	e.replace(assign, strings.Join(results[:], ", ")+" := "+e.cutOf(call))
	return "cut " + text(call.Args[0]) + " once, into what is before and after " + text(call.Args[1]), true
}

// twoParts are a slice of parts that becomes three variables.
type twoParts struct {
	e                    *editor
	parts                any
	exact                bool // there are one or two parts
	separator            string
	before, after, found string
}

func (t *twoParts) replaceUse(use *ast.Ident, used map[string]bool) bool {
	path := t.e.around(use)
	if len(path) < 3 {
		return false
	}
	switch parent := path[1].(type) {
	case *ast.IndexExpr:
		which, ok := t.e.constantNumber(parent.Index)
		if !ok || parent.X != ast.Expr(use) || !t.reads(path) {
			return false
		}
		switch {
		case which == 0:
			t.e.replace(parent, t.before)
			used[t.before] = true
		case which == 1 && t.guarded(path):
			t.e.replace(parent, t.after)
			used[t.after] = true
		default:
			return false
		}
		return true
	case *ast.CallExpr:
		comparison, ok := path[2].(*ast.BinaryExpr)
		if !ok || text(parent.Fun) != "len" {
			return false
		}
		is, known := t.says(comparison)
		if !known {
			return false
		}
		used[t.found] = true
		switch {
		case t.exact || is == oneOrNot || is == notOneOr:
			if is == twoOnly || is == notOneOr {
				t.e.replace(comparison, t.found)
			} else {
				t.e.replace(comparison, "!"+t.found)
			}
		default:
			used[t.after] = true
			pkg, ok := t.e.packageName("strings")
			if !ok {
				return false
			}
			more := fmt.Sprintf("%s.Contains(%s, %s)", pkg, t.after, t.separator)
			if is == twoOnly {
				t.e.replace(comparison, t.e.bracketed(comparison, false, t.found+" && !"+more))
			} else {
				t.e.replace(comparison, t.e.bracketed(comparison, false, "!"+t.found+" || "+more))
			}
		}
		return true
	}
	return false
}

// reads tells whether an element is only read.
func (t *twoParts) reads(path []ast.Node) bool {
	switch parent := path[2].(type) {
	case *ast.AssignStmt:
		for _, left := range parent.Lhs {
			if ast.Unparen(left) == path[1] {
				return false
			}
		}
	case *ast.UnaryExpr:
		return parent.Op != token.AND
	case *ast.IncDecStmt, *ast.ParenExpr:
		return false
	case *ast.RangeStmt:
		return parent.X == path[1]
	}
	return true
}

// number is what a comparison says of the number of parts.
type number uint8

const (
	twoOnly  number = iota + 1 // there are two
	notTwo                     // there are not two
	oneOrNot                   // there is one, and no separator
	notOneOr                   // there is more than one
)

// says reads a comparison of the number of parts with a constant. There is
// always one part.
func (t *twoParts) says(comparison *ast.BinaryExpr) (number, bool) {
	call, ok := ast.Unparen(comparison.X).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || text(call.Fun) != "len" || !t.e.info.Types[call.Fun].IsBuiltin() {
		return 0, false
	}
	name, ok := call.Args[0].(*ast.Ident)
	if !ok || any(t.e.info.Uses[name]) != t.parts {
		return 0, false
	}
	n, ok := t.e.constantNumber(comparison.Y)
	if !ok {
		return 0, false
	}
	is := map[struct {
		op token.Token
		n  int64
	}]number{
		{token.EQL, 2}: twoOnly, {token.NEQ, 2}: notTwo,
		{token.EQL, 1}: oneOrNot, {token.LSS, 2}: oneOrNot, {token.LEQ, 1}: oneOrNot,
		{token.NEQ, 1}: notOneOr, {token.GTR, 1}: notOneOr, {token.GEQ, 2}: notOneOr,
	}[struct {
		op token.Token
		n  int64
	}{comparison.Op, n}]
	if t.exact { // one or two
		switch is {
		case notOneOr:
			is = twoOnly
		case notTwo:
			is = oneOrNot
		}
	}
	return is, is != 0
}

// means tells whether a condition that is true, or false, says that there are
// two parts.
func (t *twoParts) means(condition ast.Expr, value bool) bool {
	switch c := ast.Unparen(condition).(type) {
	case *ast.UnaryExpr:
		return c.Op == token.NOT && t.means(c.X, !value)
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			x, y := t.means(c.X, value), t.means(c.Y, value)
			if (c.Op == token.LAND) == value {
				return x || y
			}
			return x && y
		}
		is, known := t.says(c)
		if !known {
			return false
		}
		if value {
			return is == twoOnly
		}
		return is == notTwo || t.exact && is == oneOrNot
	}
	return false
}

// guarded tells whether a place is come to only when there are two parts. path
// leads outwards.
func (t *twoParts) guarded(path []ast.Node) bool {
	for i := 0; i+1 < len(path); i++ {
		child := path[i]
		switch parent := path[i+1].(type) {
		case *ast.FuncDecl:
			return false
		case *ast.IfStmt:
			if child == ast.Node(parent.Body) && t.means(parent.Cond, true) || child == parent.Else && t.means(parent.Cond, false) {
				return true
			}
		case *ast.BinaryExpr:
			if child == ast.Node(parent.Y) && (parent.Op == token.LAND && t.means(parent.X, true) || parent.Op == token.LOR && t.means(parent.X, false)) {
				return true
			}
		default:
			for _, before := range listOf(parent) {
				if ast.Node(before) == child {
					break
				}
				if branch, ok := before.(*ast.IfStmt); ok && branch.Else == nil && t.means(branch.Cond, false) && ends(branch.Body) {
					return true
				}
			}
		}
	}
	return false
}

// ends tells whether what follows a block is not come to from its end.
func ends(block *ast.BlockStmt) bool {
	if len(block.List) == 0 {
		return false
	}
	switch last := block.List[len(block.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE || last.Tok == token.BREAK
	}
	return false
}
