package gocode

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Rules of what is made though it need not be, or need not be made anew.

func findLazy(s *subject) (why, remedy string, found bool) {
	f := s.sources.file(s.line.File)
	if f == nil {
		return "", "", false
	}
	e := &editor{sourceFile: f, fset: s.sources.fset}
	declaration, branch := lazyBranch(s, e)
	if branch == nil {
		return "", "", false
	}
	name := text(declaration.Lhs[0])
	return fmt.Sprintf("%s is made though only the branch in line %d needs it", name, s.sources.fset.Position(branch.Pos()).Line),
		"make " + name + " in that branch", true
}

// findStream finds a buffer that collects what only a hash reads.
func findStream(s *subject) (why, remedy string, found bool) {
	f := s.sources.file(s.line.File)
	if f == nil {
		return "", "", false
	}
	e := &editor{sourceFile: f, fset: s.sources.fset}
	for _, at := range s.calls() {
		selector, ok := at.expr.(*ast.CallExpr).Fun.(*ast.SelectorExpr)
		if !ok || f.kindOf(selector.X) != "bytes.Buffer" || !e.begin(&at) {
			continue
		}
		buffer := e.local(selector.X)
		if buffer == nil {
			continue
		}
		for _, use := range e.uses(buffer) {
			path := e.around(use)
			if len(path) < 4 {
				continue
			}
			read, ok := path[1].(*ast.SelectorExpr)
			outer, called := path[3].(*ast.CallExpr)
			if !ok || !called || read.Sel.Name != "Bytes" {
				continue
			}
			if _, hash := hashes[e.callee(outer)]; hash {
				return fmt.Sprintf("%s collects in memory what is only hashed in the end", buffer.Name()), "make the hash first and write to it", true
			}
		}
	}
	return "", "", false
}

func findFold(s *subject) (why, remedy string, found bool) {
	var pkg, what string
	switch s.line.Callee {
	case "strings.ToLower", "strings.ToUpper":
		pkg, what = "strings", "string"
	case "bytes.ToLower", "bytes.ToUpper":
		pkg, what = "bytes", "slice"
	default:
		return "", "", false
	}
	for _, at := range s.calls() {
		if compares(at.path[1]) {
			return shortName(s.line.Callee) + " makes a new " + what + ", which is only compared", pkg + ".EqualFold, where no other letters matter than those of ASCII", true
		}
	}
	return "", "", false
}

func compares(e ast.Node) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.EQL || e.Op == token.NEQ
	case *ast.CallExpr:
		return types.ExprString(e.Fun) == "bytes.Equal"
	}
	return false
}

// perObject are the bytes of one object of the line.
func (s *subject) perObject() float64 {
	if s.line.Allocs <= 0 {
		return 0
	}
	return s.line.Bytes / s.line.Allocs
}

const (
	smallObject   = 64   // bytes that are as soon copied as pointed to
	scratchObject = 512  // bytes that an object can well have more
	largeObject   = 4096 // bytes for which a pool is worth its price
)

// owner is the receiver of the method around the line, where it is a pointer.
func (s *subject) owner() string {
	for _, at := range s.sources.spots(s.line.File, s.line.Line, func(*sourceFile, ast.Expr) bool { return true }) {
		for _, n := range at.path {
			f, ok := n.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List) == 0 || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			if _, pointer := f.Recv.List[0].Type.(*ast.StarExpr); pointer {
				return f.Recv.List[0].Names[0].Name
			}
		}
	}
	return ""
}

// findScratch finds a small array or slice that a method needs for itself and
// that goes to the heap nevertheless: for what it is handed to, of which nobody
// knows that it keeps it.
func findScratch(s *subject) (why, remedy string, found bool) {
	owner := s.owner()
	if owner == "" || s.perObject() > scratchObject || !s.ofCompiler() {
		return "", "", false
	}
	for i := range s.escapes {
		e := &s.escapes[i]
		reason := e.reason()
		if !strings.HasSuffix(reason, mayKeep) || !s.makesArray(e) {
			continue
		}
		return reason, "let " + owner + " have it as a field, an array that is there already", true
	}
	return "", "", false
}

// makesArray tells whether what escapes is an array, or a slice of constant
// size.
func (s *subject) makesArray(e *Escape) bool {
	what, _, _ := strings.Cut(e.Message, " escapes to heap")
	if strings.HasPrefix(what, "make([]") {
		return !slices.ContainsFunc(s.builtins("make"), func(at spot) bool {
			return slices.ContainsFunc(at.expr.(*ast.CallExpr).Args[1:], func(size ast.Expr) bool { return !at.isConstant(size) })
		})
	}
	name := strings.TrimPrefix(what, "moved to heap: ")
	f := s.sources.file(s.line.File)
	if f == nil {
		return false
	}
	for id, object := range f.info.Defs {
		if id.Name == name && object != nil && s.sources.fset.Position(id.Pos()).Line == s.line.Line {
			_, array := object.Type().Underlying().(*types.Array)
			return array
		}
	}
	return false
}

// findPooled finds what a sync.Pool makes where it has none to give.
func findPooled(s *subject) (why, remedy string, found bool) {
	of := func(stack Stack) bool {
		at := slices.IndexFunc(stack.Frames, func(f Frame) bool { return f == s.line.Frame })
		return at >= 0 && at+1 < len(stack.Frames) && stack.Frames[at+1].Function == "sync.(*Pool).Get"
	}
	if !s.ofCompiler() || len(s.line.Stacks) == 0 || slices.ContainsFunc(s.line.Stacks, func(stack Stack) bool { return !of(stack) }) {
		return "", "", false
	}
	return "a pool has none to give, and its New makes another", "give each back by Put on every way out; what the collector takes from the pool has to be made again", true
}

// findLarge finds large objects that a call makes for itself.
func findLarge(s *subject) (why, remedy string, found bool) {
	if s.perObject() < largeObject || !s.ofCompiler() || strings.HasPrefix(s.line.Callee, "runtime.slicebyte") {
		return "", "", false
	}
	for i := range s.escapes {
		reason := s.escapes[i].reason()
		if strings.HasSuffix(reason, "it is returned") {
			continue
		}
		return fmt.Sprintf("%s, some %.0f kB each time", reason, s.perObject()/1000), "a sync.Pool of pointers to them, if all is over with it when the call returns", true
	}
	return "", "", false
}

// pointed returns the reason why a pointer's object goes to the heap.
func (s *subject) pointed() (reason string, found bool) {
	if s.line.Callee != newObject && s.line.Callee != "" {
		return "", false
	}
	for i := range s.escapes {
		message := s.escapes[i].Message
		if strings.HasPrefix(message, "&") || strings.HasPrefix(message, "new(") || strings.HasPrefix(message, "moved to heap") || isName(message) {
			return s.escapes[i].reason(), true
		}
	}
	return "", false
}

// findMoved finds a variable of a loop's body that is on the heap only for what it
// is handed to, as the buffer is that a function writes to.
func findMoved(s *subject) (why, remedy string, found bool) {
	for i := range s.escapes {
		name, moved := strings.CutPrefix(s.escapes[i].Message, "moved to heap: ")
		reason := s.escapes[i].reason()
		if !moved || !strings.Contains(reason, ": "+argumentOf) {
			continue
		}
		for _, at := range s.sources.spots(s.line.File, s.line.Line, isNamed(name)) {
			if at.loop() != nil {
				return reason + ", in every turn of the loop", "declare it before the loop and set it anew in each turn (Reset), where nobody keeps its address", true
			}
		}
	}
	return "", "", false
}

func isNamed(name string) func(*sourceFile, ast.Expr) bool {
	return func(_ *sourceFile, e ast.Expr) bool {
		identifier, ok := e.(*ast.Ident)
		return ok && identifier.Name == name
	}
}

func findSlab(s *subject) (why, remedy string, found bool) {
	reason, ok := s.pointed()
	if !ok {
		return "", "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, func(*sourceFile, ast.Expr) bool { return true }) {
		if at.loop() != nil {
			return reason + ", in every turn of the loop", "make one slice of them before the loop and take the addresses of its elements, where they live and die together; or keep values instead of pointers", true
		}
	}
	return "", "", false
}

func findSmall(s *subject) (why, remedy string, found bool) {
	reason, ok := s.pointed()
	if !ok || !strings.HasSuffix(reason, "it is returned") || s.perObject() > smallObject || s.asInterface() {
		return "", "", false
	}
	how, stored := s.keptByCallers()
	switch {
	case how == "":
		return reason, "return the value instead of a pointer, or let the caller bring the object", true
	case stored:
		return reason + ", and then " + how, "return the value instead of a pointer, and keep the value", true
	}
	return "", "", false // a pointer to it is needed
}

// manyObjects of one line, in an operation or a whole run, are a crowd: the
// loop that makes them may be anywhere.
const manyObjects = 1000

func findMany(s *subject) (why, remedy string, found bool) {
	reason, ok := s.pointed()
	if !ok || s.line.Allocs < manyObjects {
		return "", "", false
	}
	return reason, "where they live and die together, cut them from slices: make 64 at a time, and give out the addresses of the elements one after the other", true
}

func findMadeInLoop(s *subject) (why, remedy string, found bool) {
	if _, kept := s.outlives(); kept || s.line.Callee != "runtime.makeslice" {
		return "", "", false
	}
	for _, at := range s.builtins("make") {
		if at.loop() != nil {
			return "a slice is made in every turn of the loop", "make it before the loop, and cut it to [:0] in each turn, where nobody keeps it", true
		}
	}
	return "", "", false
}
