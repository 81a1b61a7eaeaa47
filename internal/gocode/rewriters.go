package gocode

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// total are functions of pure that return a string and cannot panic whatever
// their arguments are.
var total = map[string]string{ // with a name for what they return
	"strconv.Itoa": "digits", "strconv.FormatBool": "text", "strconv.Quote": "quoted",
	"strings.ToLower": "lower", "strings.ToUpper": "upper", "strings.TrimSpace": "trimmed", "strings.ReplaceAll": "replaced",
	"net/url.QueryEscape": "escaped", "net/url.PathEscape": "escaped", "html.EscapeString": "escaped",
	"path.Clean": "cleaned", "path/filepath.Clean": "cleaned",
}

// rewriteInvariantCall moves a call before the loop in which its arguments do
// not change. The function is pure and total: calling it once more, for a loop
// that makes no turn, does nothing.
func rewriteInvariantCall(s *subject, e *editor) (string, bool) {
	name, ok := total[s.line.Callee]
	if !ok {
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		loop := at.loop()
		if loop == nil || call.Ellipsis.IsValid() || !e.begin(&at) {
			continue
		}
		invariant := true
		for _, argument := range call.Args {
			invariant = invariant && !at.varies(argument, loop)
		}
		before := statementOf(at.path, loop)
		if !invariant || before == nil {
			continue
		}
		name = e.fresh(name)
		e.insertBefore(before, name+" := "+text(call)+"\n")
		e.replace(call, name)
		return fmt.Sprintf("call %s once before the loop", text(call)), true
	}
	return "", false
}

// mostConstant bytes of a string are written out as a constant.
const mostConstant = 1024

// rewriteConstant writes strings.Repeat of constants out. An index into it
// that is out of range panics as before.
func rewriteConstant(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "strings.Repeat" {
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if len(call.Args) != 2 || !at.isConstant(call.Args[0]) || !at.isConstant(call.Args[1]) || !e.begin(&at) {
			continue
		}
		part := constant.StringVal(at.info.Types[call.Args[0]].Value)
		times, exact := constant.Int64Val(at.info.Types[call.Args[1]].Value)
		if !exact || times < 0 || times > mostConstant || len(part)*int(times) > mostConstant || len(e.function.Body.List) == 0 {
			continue
		}
		name := e.fresh("repeated")
		e.insertBefore(e.function.Body.List[0], "const "+name+" = "+strconv.Quote(strings.Repeat(part, int(times)))+"\n")
		// A constant string with a constant index is checked when it is compiled.
		e.replace(call, name)
		return text(call) + " becomes a constant", true
	}
	return "", false
}

// rewriteAppendGrowth makes a slice with room for as many elements as the loop
// has turns. Nobody may be able to tell nil from empty, or see the capacity.
func rewriteAppendGrowth(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "runtime.growslice" {
		return "", false
	}
	for _, at := range s.builtins("append") {
		call := at.expr.(*ast.CallExpr)
		loop := at.loop()
		name, isName := call.Args[0].(*ast.Ident)
		if loop == nil || !isName || len(call.Args) != 2 || call.Ellipsis.IsValid() || !e.begin(&at) || leaves(loop) {
			continue
		}
		slice, ok := at.info.Uses[name].(*types.Var)
		if !ok || slice.Pos() < e.function.Pos() || slice.Pos() > e.function.End() {
			continue
		}
		declaration := e.declaredEmpty(slice)
		room, ok := e.room(&at, loop, declaration)
		if declaration == nil || !ok || !e.onlyElements(slice) {
			continue
		}
		sliceType := types.TypeString(slice.Type(), e.qualifier)
		e.replace(declaration, fmt.Sprintf("%s := make(%s, 0, %s)", name.Name, sliceType, room))
		return fmt.Sprintf("make %s with room for %s", name.Name, room), true
	}
	return "", false
}

// qualifier names packages as the file does.
func (e *editor) qualifier(p *types.Package) string {
	if p == e.pkg {
		return ""
	}
	if name, ok := e.packageName(p.Path()); ok {
		return name
	}
	return p.Name()
}

// declaredEmpty returns the statement that declares a variable as nothing yet,
// a slice without elements or a zero value, and does nothing else.
func (e *editor) declaredEmpty(v *types.Var) ast.Stmt {
	var found ast.Stmt
	ast.Inspect(e.function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeclStmt:
			decl, ok := n.Decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR || len(decl.Specs) != 1 {
				return true
			}
			spec := decl.Specs[0].(*ast.ValueSpec)
			if len(spec.Names) == 1 && len(spec.Values) == 0 && e.info.Defs[spec.Names[0]] == v {
				found = n
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				return true
			}
			if name, ok := n.Lhs[0].(*ast.Ident); !ok || e.info.Defs[name] != v {
				return true
			}
			if literal, ok := n.Rhs[0].(*ast.CompositeLit); ok && len(literal.Elts) == 0 {
				found = n
			}
		}
		return true
	})
	return found
}

// room says for how many elements there must be room when the slice is
// declared. The number of turns must be known there: of what is named in it
// nothing may change between the declaration and the loop.
func (e *editor) room(at *spot, loop ast.Stmt, declaration ast.Stmt) (string, bool) {
	if declaration == nil || !sameList(e.around(declaration), statementOf(at.path, loop)) {
		return "", false
	}
	var count ast.Expr
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		basic, ok := at.info.TypeOf(loop.X).Underlying().(*types.Basic)
		if !ok || basic.Info()&types.IsInteger == 0 {
			if simple(loop.X) && isSized(at.info.TypeOf(loop.X)) && e.unchanged(at, loop.X, declaration, loop) {
				return "len(" + text(loop.X) + ")", true
			}
			return "", false
		}
		count = loop.X
	case *ast.ForStmt:
		if !countsUp(loop) {
			return "", false
		}
		count = loop.Cond.(*ast.BinaryExpr).Y
	default:
		return "", false
	}
	if value := at.info.Types[count].Value; value != nil {
		n, exact := constant.Int64Val(value)
		return text(count), exact && n >= 0 && n <= 1<<16
	}
	if most, ok := mostOf(at.sourceFile, count); ok {
		return strconv.Itoa(most), true
	}
	if call, ok := ast.Unparen(count).(*ast.CallExpr); ok && at.info.Types[call.Fun].IsBuiltin() && text(call.Fun) == "len" && simple(call.Args[0]) {
		return text(count), e.unchanged(at, call.Args[0], declaration, loop)
	}
	return "", false // may be negative or huge
}

func isSized(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return true
	}
	return false
}

// unchanged tells whether a variable of the function is the same from one
// statement to the end of another.
func (e *editor) unchanged(at *spot, x ast.Expr, from, to ast.Stmt) bool {
	name, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := at.info.Uses[name].(*types.Var)
	if !ok || v.Parent() == nil || v.Parent() == v.Pkg().Scope() || v.Pos() >= from.Pos() {
		return false
	}
	span := &ast.BlockStmt{Lbrace: from.Pos(), Rbrace: to.End() - 1}
	return !at.changes(v, span)
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

// leaves tells whether a loop may end before its last turn: the room for all
// of them could then be far more than is needed.
func leaves(loop ast.Stmt) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			found = found || n.Tok != token.CONTINUE
		case *ast.ReturnStmt, *ast.FuncLit:
			found = true
		}
		return true
	})
	return found
}

// sameList tells whether a statement stands in the same list as another, whose
// surroundings are path.
func sameList(path []ast.Node, other ast.Stmt) bool {
	if len(path) < 2 || other == nil {
		return false
	}
	block, ok := path[1].(*ast.BlockStmt)
	if !ok {
		return false
	}
	for _, s := range block.List {
		if s == other {
			return true
		}
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
			if parent.X != ast.Expr(use) {
				return false
			}
			if _, taken := path[2].(*ast.UnaryExpr); taken {
				return false
			}
		default:
			return false
		}
	}
	return appends == 1
}

// rewriteBufferGrowth lets a buffer have its room at once, before a loop that
// writes the same string a constant number of times.
func rewriteBufferGrowth(s *subject, e *editor) (string, bool) {
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		loop := at.loop()
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || loop == nil || len(call.Args) != 1 || selector.Sel.Name != "WriteString" || !e.begin(&at) || leaves(loop) {
			continue
		}
		buffer, ok := selector.X.(*ast.Ident)
		kind := types.TypeString(at.info.TypeOf(selector.X), nil)
		if !ok || kind != "bytes.Buffer" && kind != "strings.Builder" || at.varies(call.Args[0], loop) {
			continue
		}
		turns, ok := constantTurns(&at, loop)
		before := statementOf(at.path, loop)
		if !ok || turns > 1<<20 || before == nil || !simple(call.Args[0]) {
			continue
		}
		e.insertBefore(before, fmt.Sprintf("%s.Grow(%d * len(%s))\n", buffer.Name, turns, text(call.Args[0])))
		return fmt.Sprintf("let %s have its room at once", buffer.Name), true
	}
	return "", false
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
	value := at.info.Types[count].Value
	if value == nil || value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(value)
}

// hashes are the functions that hash bytes which are there as a whole, with
// what makes a hash of the same kind to write to.
var hashes = map[string]struct{ path, size string }{
	"crypto/sha256.Sum256": {"crypto/sha256", "Size"},
	"crypto/sha512.Sum512": {"crypto/sha512", "Size"},
	"crypto/sha1.Sum":      {"crypto/sha1", "Size"},
	"crypto/md5.Sum":       {"crypto/md5", "Size"},
}

// rewriteToHash writes to a hash what was written to a buffer that nobody but
// the hash reads.
func rewriteToHash(s *subject, e *editor) (string, bool) {
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || types.TypeString(at.info.TypeOf(selector.X), nil) != "bytes.Buffer" || !e.begin(&at) {
			continue
		}
		name, ok := selector.X.(*ast.Ident)
		if !ok {
			continue
		}
		buffer, ok := at.info.Uses[name].(*types.Var)
		if !ok {
			continue
		}
		e.changes = nil
		if title, ok := e.toHash(buffer); ok {
			return title, true
		}
	}
	return "", false
}

func (e *editor) toHash(buffer *types.Var) (string, bool) {
	declaration := e.declaredEmpty(buffer) // var buf bytes.Buffer
	if _, ok := declaration.(*ast.DeclStmt); !ok {
		return "", false
	}
	hash, sum := e.fresh("hash"), ""
	var made string
	for _, use := range e.uses(buffer) {
		path := e.around(use) // use, selector, call, statement or call, ...
		if len(path) < 5 {
			return "", false
		}
		selector, ok := path[1].(*ast.SelectorExpr)
		call, called := path[2].(*ast.CallExpr)
		if !ok || !called || call.Fun != ast.Expr(selector) {
			return "", false
		}
		switch selector.Sel.Name {
		case "Write", "WriteString":
			if _, alone := path[3].(*ast.ExprStmt); !alone || sum != "" {
				return "", false
			}
			argument := text(call.Args[0])
			if selector.Sel.Name == "WriteString" {
				argument = "[]byte(" + argument + ")"
			}
			e.replace(call, hash+".Write("+argument+")")
		case "Bytes":
			outer, ok := path[3].(*ast.CallExpr)
			assign, assigned := path[4].(*ast.AssignStmt)
			if !ok || !assigned || sum != "" || len(outer.Args) != 1 {
				return "", false
			}
			of, known := hashes[e.callee(outer)]
			name, named := e.packageName(of.path)
			if !known || !named || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || len(e.around(assign)) < 2 {
				return "", false
			}
			if list, ok := e.around(assign)[1].(*ast.BlockStmt); !ok || !sameList([]ast.Node{assign, list}, declaration) {
				return "", false
			}
			sum = text(assign.Lhs[0])
			made = name + ".New()"
			e.replace(assign, fmt.Sprintf("var %s [%s.%s]byte\n%s.Sum(%s[:0])", sum, name, of.size, hash, sum))
		default:
			return "", false
		}
	}
	if sum == "" {
		return "", false
	}
	e.replace(declaration, hash+" := "+made)
	return "write to the hash what was collected in " + buffer.Name(), true
}

// rewriteDigits formats a number into bytes on the stack where its string is
// used only as bytes that a hash reads.
func rewriteDigits(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "strconv.Itoa" {
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if len(at.path) < 2 || !e.begin(&at) {
			continue
		}
		assign, ok := at.path[1].(*ast.AssignStmt)
		if !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			continue
		}
		name, ok := assign.Lhs[0].(*ast.Ident)
		if !ok || e.info.Defs[name] == nil {
			continue
		}
		pkg, _ := e.packageName("strconv")
		uses := e.uses(e.info.Defs[name])
		changes := []change{}
		for _, use := range uses {
			path := e.around(use)
			conversion, ok := path[1].(*ast.CallExpr)
			if !ok || !e.info.Types[conversion.Fun].IsType() || text(conversion.Fun) != "[]byte" {
				break
			}
			write, ok := path[2].(*ast.CallExpr)
			if !ok || !e.hashReads(write) {
				break
			}
			changes = append(changes, change{conversion.Pos(), conversion.End(), name.Name})
		}
		if pkg == "" || len(uses) == 0 || len(changes) != len(uses) {
			continue
		}
		room := e.fresh("room")
		e.changes = append(changes, change{assign.Pos(), assign.End(),
			fmt.Sprintf("var %s [20]byte\n%s := %s.AppendInt(%s[:0], int64(%s), 10)", room, name.Name, pkg, room, text(call.Args[0]))})
		return "write the digits of " + text(call.Args[0]) + " into bytes on the stack", true
	}
	return "", false
}

// hashReads tells whether a call is one of Write of a hash of the standard
// library, which keeps nothing of what it reads.
func (e *editor) hashReads(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "Write" && types.TypeString(e.info.TypeOf(selector.X), nil) == "hash.Hash" && e.madeByHash(selector.X)
}

// madeByHash tells whether a variable is set once, by New of a hash of the
// standard library.
func (e *editor) madeByHash(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	v := e.info.Uses[name]
	sets, known := 0, 0
	ast.Inspect(e.function, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, left := range assign.Lhs {
			l, ok := left.(*ast.Ident)
			if !ok || e.info.Defs[l] != v && e.info.Uses[l] != v {
				continue
			}
			sets++
			if len(assign.Rhs) != len(assign.Lhs) {
				continue
			}
			if call, ok := assign.Rhs[i].(*ast.CallExpr); ok {
				switch e.callee(call) {
				case "crypto/sha256.New", "crypto/sha512.New", "crypto/sha1.New", "crypto/md5.New":
					known++
				}
			}
		}
		return true
	})
	return v != nil && v.Parent() != e.pkg.Scope() && sets == 1 && known == 1
}
