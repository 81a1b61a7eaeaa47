package gocode

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// leak is what the compiler says of a parameter that outlives its function.
type leak struct {
	name string
	heap bool // it goes to the heap, and not only to a result
	flow []Step
}

// leaks are by file and line of the parameter.
type leaks map[string]map[int][]leak

// follower finds out what a function that is called does with an argument. The
// package of the function is compiled for that, once: what the compiler says is
// kept.
type follower struct {
	*Builder
	known map[string]leaks // by import path
}

// beyond is what a function does with an argument that makes it escape.
type beyond struct {
	function string // symbol
	file     string
	line     int
	how      string // in words, "" where the compiler's are not known
	// cold tells that it happens on a way out only, such as for an error, while
	// the arguments of all calls have to go to the heap for it.
	cold bool
	own  bool   // the function can be changed: it is none of the standard library
	flow []Step // the compiler's
	// next is what a function does to which this one passes the argument on, nil
	// where that is not known.
	next *beyond
}

func (w *beyond) words() string {
	at := fmt.Sprintf("%s:%d", filepath.Join(filepath.Base(filepath.Dir(w.file)), filepath.Base(w.file)), w.line)
	text := mayKeep + ", in " + at
	if w.how != "" {
		how := w.how
		if w.next != nil {
			how = strings.Replace(how, mayKeep, w.next.words(), 1)
		}
		text += ": " + how
	}
	if w.cold {
		text += "; only on its way out, but all callers' arguments go to the heap for that"
	}
	return text
}

// deepestFollowed calls are looked through, one within the other.
const deepestFollowed = 4

// follow returns nil where the escape does not end in a call, or the function
// is not known.
func (f *follower) follow(e *Escape, s *sources) *beyond { return f.through(e, s, 1) }

func (f *follower) through(e *Escape, s *sources, depth int) *beyond {
	at := -1
	for i := range e.Flow {
		if strings.HasSuffix(e.Flow[i].Text, "(call parameter)") {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	step := &e.Flow[at]
	expression, _, _ := cutLast(strings.TrimPrefix(step.Text, "from "), " (")
	file := s.file(step.File)
	if file == nil {
		file = s.beyond[step.File]
	}
	for _, spot := range s.spotsOf(file, step.Line, isCall) {
		call := spot.expr.(*ast.CallExpr)
		if !sameCall(callName(text(call)), callName(expression)) {
			continue
		}
		function, _ := spot.calledObject(call).(*types.Func)
		if _, told := alternatives[spot.callee(call)]; function == nil || function.Pkg() == nil || told {
			continue
		}
		if of := function.Signature().Recv(); of != nil && types.IsInterface(of.Type()) {
			if kept := f.keptByOne(function, call, passed(e, at), s, depth); kept != nil {
				return kept
			}
			continue // which function it is shows when it runs
		}
		parameter := parameterOf(function, call, passed(e, at))
		if parameter == nil {
			continue
		}
		return f.find(function, parameter, s, depth)
	}
	return nil
}

// keptByOne returns what one of the methods that a call of an interface's may
// be does with an argument that it keeps; of an interface of the module that is
// measured, of types of the same package.
func (f *follower) keptByOne(method *types.Func, call *ast.CallExpr, argument string, s *sources, depth int) *beyond {
	of, _ := method.Signature().Recv().Type().Underlying().(*types.Interface)
	if of == nil || s.file(s.fset.Position(method.Pos()).Filename) == nil {
		return nil
	}
	scope := method.Pkg().Scope()
	for _, name := range scope.Names() {
		declared, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(declared.Type()) {
			continue
		}
		if named, ok := declared.Type().(*types.Named); ok && named.TypeParams().Len() > 0 {
			continue
		}
		pointer := types.NewPointer(declared.Type())
		if !types.Implements(pointer, of) {
			continue
		}
		object, _, _ := types.LookupFieldOrMethod(pointer, true, method.Pkg(), method.Name())
		function, _ := object.(*types.Func)
		if function == nil || function.Pkg() != method.Pkg() || types.IsInterface(function.Signature().Recv().Type()) {
			continue
		}
		parameter := parameterOf(function, call, argument)
		if parameter == nil {
			continue
		}
		if kept := f.find(function, parameter, s, depth); kept != nil && !kept.cold && strings.HasPrefix(kept.last().how, storedBy) {
			return kept
		}
	}
	return nil
}

// last is what the last function does to which an argument is passed on.
func (w *beyond) last() *beyond {
	for w.next != nil {
		w = w.next
	}
	return w
}

// sameCall compares what is called as the source writes it with what the compiler
// says, which names embedded fields, too: r.Apply with r.Rule.Apply.
func sameCall(source, said string) bool {
	first, rest, ok := strings.Cut(source, ".")
	return source == said || ok && strings.HasPrefix(said, first+".") && strings.HasSuffix(said, "."+rest)
}

// calledObject is what a call names.
func (f *sourceFile) calledObject(call *ast.CallExpr) types.Object {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.info.Uses[fun]
	case *ast.SelectorExpr:
		return f.info.Uses[fun.Sel]
	}
	return nil
}

// passed is the expression that the step before the call speaks of.
func passed(e *Escape, at int) string {
	for i := at - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(e.Flow[i].Text, "from "); ok {
			expression, _, _ := cutLast(text, " (")
			return expression
		}
		if _, from, ok := cutLast(e.Flow[i].Text, "← "); ok && token.IsIdentifier(strings.TrimSuffix(from, ":")) {
			return strings.TrimSuffix(from, ":") // a variable that the value was given to
		}
	}
	return e.value()
}

// parameterOf is the parameter that an argument becomes, nil where that cannot
// be said.
func parameterOf(function *types.Func, call *ast.CallExpr, argument string) *types.Var {
	signature := function.Signature()
	all := signature.Params()
	if all.Len() == 0 {
		return signature.Recv()
	}
	at := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return text(e) == argument })
	switch {
	case argument == "... argument":
		at = all.Len() - 1
	case at < 0 && all.Len() == 1:
		at = 0
	case at < 0:
		return nil
	}
	return all.At(min(at, all.Len()-1))
}

// mostFollowed packages are compiled, for the lines that come first.
const mostFollowed = 6

// find looks the parameter up in what the compiler says of its package.
func (f *follower) find(function *types.Func, parameter *types.Var, s *sources, depth int) *beyond {
	path := function.Pkg().Path()
	known, read := f.known[path]
	if !read && len(f.known) < mostFollowed {
		known = f.read(path)
		f.known[path] = known
	}
	at := s.fset.Position(parameter.Pos())
	for _, l := range known[at.Filename][at.Line] {
		if l.name != parameter.Name() || !l.heap {
			continue
		}
		w := &beyond{function: function.FullName(), file: at.Filename, line: at.Line, own: !f.standard(at.Filename), flow: l.flow}
		for i := range l.flow {
			expression, kind, ok := cutLast(strings.TrimPrefix(l.flow[i].Text, "from "), " (")
			if how := escapeWords(strings.TrimSuffix(kind, ")"), expression); ok && how != "" {
				w.file, w.line, w.how = l.flow[i].File, l.flow[i].Line, how
			}
		}
		w.cold = onWayOut(w.file, w.line, parameter.Name())
		if strings.HasSuffix(w.how, mayKeep) && depth < deepestFollowed {
			if s.file(w.file) == nil && s.beyond[w.file] == nil {
				f.loadBeyond(s, path)
			}
			w.next = f.through(&Escape{Message: parameter.Name(), Flow: l.flow}, s, depth+1)
		}
		return w
	}
	return nil
}

func (f *follower) standard(file string) bool {
	inside, err := filepath.Rel(filepath.Join(f.Root, "src"), file)
	return err == nil && filepath.IsLocal(inside)
}

// read compiles a package for what the compiler says of its parameters. Of one
// that does not compile on its own nothing is known.
func (f *follower) read(path string) leaks {
	folder, err := f.diagnosisFolder([]string{"callee", path})
	if err != nil {
		return nil
	}
	if _, err := f.diagnoseInto(folder, nil, []string{path}, false); err != nil {
		return nil
	}
	found := make(leaks)
	_ = eachDiagnostic(folder, found.add)
	return found
}

var leakMessage = regexp.MustCompile(`^(?:parameter (\S+) leaks to (\{heap\})?|leaking param(?: content)?: (\S+)( to result)?)`)

func (l leaks) add(file string, d *diagnostic) {
	m := leakMessage.FindStringSubmatch(d.Message)
	if d.Code != "leak" || m == nil {
		return
	}
	one := leak{name: m[1] + m[3], heap: m[2] != "" || m[3] != "" && m[4] == "", flow: d.flow()}
	if l[file] == nil {
		l[file] = make(map[int][]leak)
	}
	l[file][d.Range.Start.Line] = append(l[file][d.Range.Start.Line], one)
}

// diagnostic is a line of what the compiler writes.
type diagnostic struct {
	Range              struct{ Start position }
	Code, Message      string
	RelatedInformation []struct {
		Location struct {
			URI   string
			Range struct{ Start position }
		}
		Message string
	}
}

type position struct{ Line, Character int }

// flow are the steps of an escape.
func (d *diagnostic) flow() []Step {
	var all []Step
	for i := range d.RelatedInformation {
		if text, ok := strings.CutPrefix(d.RelatedInformation[i].Message, "escflow:"); ok {
			all = append(all, d.step(i, strings.TrimSpace(text)))
		}
	}
	return all
}

// inlined are the places in inlined functions that a diagnostic is about; those
// of the steps of its flow come behind.
func (d *diagnostic) inlined() []Step {
	var all []Step
	for i := range d.RelatedInformation {
		if d.RelatedInformation[i].Message != "inlineLoc" {
			break
		}
		all = append(all, d.step(i, ""))
	}
	return all
}

func (d *diagnostic) step(i int, text string) Step {
	at := &d.RelatedInformation[i].Location
	file, _ := strings.CutPrefix(at.URI, "file://")
	if plain, err := url.PathUnescape(file); err == nil {
		file = plain
	}
	return Step{file, at.Range.Start.Line, at.Range.Start.Character, text}
}

// onWayOut tells whether a line is in a branch that ends its function: with a
// panic, or with what a return gives besides; while nothing outside of it may
// keep a parameter, too, of which the compiler says nothing more.
func onWayOut(file string, line int, parameter string) bool {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	var function *ast.FuncDecl
	var out *ast.BlockStmt
	ast.Inspect(parsed, func(n ast.Node) bool {
		if n == nil || fset.Position(n.Pos()).Line > line || fset.Position(n.End()).Line < line {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			function = n
		case *ast.IfStmt:
			if within(fset, n.Body, line) {
				out = nil
				if endsFunction(n.Body.List) {
					out = n.Body
				}
			}
		}
		return true
	})
	return out != nil && function != nil && !mayBeKept(function.Body, out, parameter)
}

// mayBeKept tells whether a variable may be found somewhere after a function
// whose body this is, for all that is outside of one of its branches.
func mayBeKept(body, without *ast.BlockStmt, variable string) (kept bool) {
	var around []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		if n == ast.Node(without) {
			return false
		}
		if name, ok := n.(*ast.Ident); ok && name.Name == variable && !isLookedAt(name, around) {
			kept = true
		}
		around = append(around, n)
		return true
	})
	return kept
}

// isLookedAt tells whether what is around an expression, the innermost last, only
// looks at its value.
func isLookedAt(e ast.Node, around []ast.Node) bool {
	for _, n := range around {
		if _, literal := n.(*ast.FuncLit); literal {
			return false
		}
	}
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.ParenExpr, *ast.SliceExpr:
			if slice, ok := n.(*ast.SliceExpr); ok && e != ast.Node(slice.X) {
				return true // a bound
			}
			e = n
			continue
		case *ast.BinaryExpr, *ast.StarExpr, *ast.IncDecStmt, *ast.IfStmt, *ast.SwitchStmt, *ast.CaseClause:
			return true
		case *ast.SelectorExpr:
			if e == ast.Node(n.Sel) {
				return true // a field of this name
			}
			call, ok := around[max(0, i-1)].(*ast.CallExpr)
			return !ok || call.Fun != ast.Expr(n)
		case *ast.IndexExpr:
			if e == ast.Node(n.X) {
				return true
			}
			assign, ok := around[max(0, i-1)].(*ast.AssignStmt)
			return !ok || !slices.Contains(assign.Lhs, ast.Expr(n)) // else it may be a key
		case *ast.RangeStmt:
			return e == ast.Node(n.X)
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return ast.Node(to) == e })
		case *ast.CallExpr:
			return slices.Contains([]string{"len", "cap", "copy", "min", "max", "string", "print", "println"}, text(n.Fun))
		}
		return false
	}
	return false
}

func within(fset *token.FileSet, body *ast.BlockStmt, line int) bool {
	return fset.Position(body.Lbrace).Line <= line && line <= fset.Position(body.Rbrace).Line
}

// endsFunction tells whether the last of statements ends the function.
func endsFunction(statements []ast.Stmt) bool {
	if len(statements) == 0 {
		return false
	}
	switch last := statements[len(statements)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && text(call.Fun) == "panic"
	}
	return false
}

// findColdCallee holds where what a function that can be changed does on its way out
// makes the arguments of all its callers escape.
func findColdCallee(s *subject) (why, remedy string, found bool) {
	if !s.ofCompiler() {
		return "", "", false
	}
	for i := range s.escapes {
		for w := s.escapes[i].beyond; w != nil; w = w.next {
			if w.cold && w.own {
				return s.escapes[i].reason(), "let " + ShortFunction(w.function) + " take a copy there, of the value or of the text, and keep that: what callers pass then stays on the stack", true
			}
		}
	}
	return "", "", false
}
