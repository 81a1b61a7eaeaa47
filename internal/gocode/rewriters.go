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
		if loop == nil || call.Ellipsis.IsValid() || !e.begin(&at) || once(at.path, loop) || e.jumps() {
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
		e.insertBefore(before, name+" := "+e.source(call)+"\n")
		for _, same := range e.sameCalls(call, loop) {
			e.replace(same, name)
		}
		return fmt.Sprintf("call %s once before the loop", text(call)), true
	}
	return "", false
}

// sameCalls are a call and those in the same loop that say the same, of the same
// variables, but for what function literals call.
func (e *editor) sameCalls(call *ast.CallExpr, loop ast.Stmt) []*ast.CallExpr {
	of := e.named(call)
	all := []*ast.CallExpr{call}
	ast.Inspect(bodyOf(loop), func(n ast.Node) bool {
		if other, ok := n.(*ast.CallExpr); ok && other != call && text(other) == text(call) && slices.Equal(e.named(other), of) {
			all = append(all, other)
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	return all
}

// named are the objects that stand in a node, in order.
func (f *sourceFile) named(n ast.Node) (all []types.Object) {
	ast.Inspect(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			all = append(all, f.info.Uses[name])
		}
		return true
	})
	return all
}

// once tells whether a place is come to once at most while a loop goes on: what
// stands there leaves it.
func once(path []ast.Node, loop ast.Stmt) bool {
	for _, n := range path {
		if n == ast.Node(loop) {
			return false
		}
		if returns, ok := n.(*ast.ReturnStmt); ok && contains(loop, returns.Pos()) {
			return true
		}
		if block, ok := n.(*ast.BlockStmt); ok && block != bodyOf(loop) && len(block.List) > 0 {
			switch last := block.List[len(block.List)-1].(type) {
			case *ast.ReturnStmt:
				return true
			case *ast.BranchStmt:
				if last.Tok == token.GOTO {
					return true
				}
			}
		}
	}
	return false
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
			argument := e.source(call.Args[0])
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
		if e.shifts(call) {
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
			fmt.Sprintf("var %s [20]byte\n%s := %s.AppendInt(%s[:0], int64(%s), 10)", room, name.Name, pkg, room, e.source(e.withoutInt(call.Args[0])))})
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
