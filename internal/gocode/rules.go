package gocode

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// pure are functions whose result depends on their arguments alone, and that
// neither panic nor do anything else.
var pure = map[string]bool{
	"strconv.Itoa": true, "strconv.FormatInt": true, "strconv.FormatUint": true, "strconv.FormatBool": true, "strconv.FormatFloat": true,
	"strconv.Quote": true, "strings.ToLower": true, "strings.ToUpper": true, "strings.TrimSpace": true, "strings.Split": true,
	"strings.Fields": true, "strings.ReplaceAll": true, "strings.Replace": true, "strings.Join": true, "strings.Title": true,
	"net/url.QueryEscape": true, "net/url.PathEscape": true, "html.EscapeString": true, "path.Join": true, "path.Clean": true,
	"path/filepath.Join": true, "path/filepath.Clean": true,
}

func findInvariantCall(s *subject) (why, remedy string, found bool) {
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		loop := at.loop()
		if loop == nil || !pure[s.line.Callee] || len(call.Args) == 0 || slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return at.varies(e, loop) }) {
			continue
		}
		return fmt.Sprintf("%s is called in every turn of the loop in line %d, always with the same arguments", text(call), s.sources.fset.Position(loop.Pos()).Line),
			"call it once before the loop and use what it returned", true
	}
	return "", "", false
}

func findConstant(s *subject) (why, remedy string, found bool) {
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if (s.line.Callee == "strings.Repeat" || pure[s.line.Callee]) && len(call.Args) > 0 && !slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !at.isConstant(e) }) {
			return text(call) + " makes the same string in each call, of constants alone",
				"write it as a constant, or let a variable of the package have it", true
		}
	}
	return "", "", false
}

func findConstantError(s *subject) (why, remedy string, found bool) {
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if (s.line.Callee == "errors.New" || s.line.Callee == "fmt.Errorf") && len(call.Args) == 1 && at.isConstant(call.Args[0]) && at.function() != nil {
			return "an error whose text never changes is made anew each time",
				"make it once, in a variable of the package, which callers can then compare with", true
		}
	}
	return "", "", false
}

func findCompileInFunction(s *subject) (why, remedy string, found bool) {
	switch s.line.Callee {
	case "regexp.Compile", "regexp.MustCompile", "regexp.CompilePOSIX", "regexp.MustCompilePOSIX", "text/template.(*Template).Parse", "html/template.(*Template).Parse":
	default:
		return "", "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		if len(call.Args) == 1 && at.isConstant(call.Args[0]) && at.function() != nil {
			return shortName(s.line.Callee) + " works on the same constant text in each call", "do it once, in a variable of the package", true
		}
	}
	return "", "", false
}

// outlives returns the reason why what the line makes has to be made: it is what
// the function returns or stores somewhere.
func (s *subject) outlives() (reason string, kept bool) {
	for i := range s.escapes {
		reason = s.escapes[i].reason()
		if strings.HasSuffix(reason, "it is returned") || strings.Contains(reason, ": "+storedBy) {
			return reason, true
		}
		if slices.ContainsFunc(s.escapes[i].Flow, func(step Step) bool { return strings.HasSuffix(step.Text, "(return)") }) {
			what, _, _ := strings.Cut(reason, ": ")
			return what + ": it is returned", true // to a function that it is inlined into
		}
	}
	return "", false
}

func findConversion(s *subject) (why, remedy string, found bool) {
	switch s.line.Callee {
	case "runtime.slicebytetostring":
		why = "a string is made of bytes, which copies them"
		remedy = "go on with the bytes where only they are read; package bytes has what package strings has"
		for _, at := range s.conversions() {
			if _, returned := at.path[1].(*ast.ReturnStmt); returned {
				return why + ": the one that is returned", "nothing: a function that returns a string makes one; only another that appends to the caller's bytes makes none", true
			}
		}
	case "runtime.stringtoslicebyte":
		why = "bytes are made of a string, which copies it"
		if taker := s.takesBytes(); taker != "" {
			return why + ": " + taker + " takes bytes, and may change them", "", true
		}
		remedy = "go on with the string where it is only read (io.WriteString, copy, append(b, s...) take it), or convert once"
	case "runtime.stringtoslicerune", "runtime.slicerunetostring":
		why = "a string is converted from or to runes, which copies it"
		remedy = "range over the string, or use package unicode/utf8"
	default:
		return "", "", false
	}
	return why, remedy, true
}

// takesBytes names the function to which the line hands bytes that it makes of a
// string, "" where there is another for strings.
func (s *subject) takesBytes() string {
	for _, at := range s.sources.spots(s.line.File, s.line.Line, isConversion) {
		call, ok := at.path[1].(*ast.CallExpr)
		if !ok || !isString(at.info.TypeOf(at.expr.(*ast.CallExpr).Args[0])) {
			continue
		}
		tv := at.info.Types[call.Fun]
		selector, named := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if tv.IsType() || tv.IsBuiltin() || named && selector.Sel.Name == "Write" || strings.HasPrefix(at.callee(call), "bytes.") {
			continue
		}
		return callName(text(call))
	}
	return ""
}

// conversions are those from bytes to strings on the line.
func (s *subject) conversions() []spot {
	return s.sources.spots(s.line.File, s.line.Line, func(f *sourceFile, e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && f.info.Types[call.Fun].IsType() && types.Identical(f.info.TypeOf(e).Underlying(), types.Typ[types.String])
	})
}

func findConcatenation(s *subject) (why, remedy string, found bool) {
	if !strings.HasPrefix(s.line.Callee, "runtime.concatstring") {
		return "", "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, func(*sourceFile, ast.Expr) bool { return true }) {
		if at.lengthens() {
			return "strings are joined by + in a loop, each time into a new one", "collect them in a strings.Builder with Grow, or append to a []byte", true
		}
	}
	return "strings are joined by +, into a new one", "append the parts to a buffer that is kept, or write them one by one to where they go", true
}

// lengthens tells whether the spot's statement joins something to a string that
// the turn of the loop before has left longer.
func (s *spot) lengthens() bool {
	statement, _ := s.listed()
	assign, ok := statement.(*ast.AssignStmt)
	loop := s.loop()
	if !ok || loop == nil || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || !isString(s.info.TypeOf(assign.Lhs[0])) {
		return false
	}
	left := assign.Lhs[0]
	lengthens := assign.Tok == token.ADD_ASSIGN ||
		assign.Tok == token.ASSIGN && slices.ContainsFunc(operands(assign.Rhs[0]), func(e ast.Expr) bool { return text(e) == text(left) })
	ast.Inspect(left, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			of := s.info.Uses[name]
			lengthens = lengthens && of != nil && !contains(loop, of.Pos()) // another one in each turn
		}
		return lengthens
	})
	return lengthens
}

func findVariadic(s *subject) (why, remedy string, found bool) {
	for i := range s.escapes {
		if strings.HasPrefix(s.escapes[i].Message, "... argument") && s.ofCompiler() {
			return s.escapes[i].reason(), "call a function that takes a fixed number of arguments, or guard the call so that it is made only when it is needed", true
		}
	}
	return "", "", false
}

func findBoxing(s *subject) (why, remedy string, found bool) {
	if !strings.HasPrefix(s.line.Callee, "runtime.convT") {
		return "", "", false
	}
	receivers := slices.DeleteFunc(s.sources.receivers(s.line.File, s.line.Line), func(at spot) bool {
		return !at.boxes(at.expr.(*ast.CallExpr), s.line.Callee)
	})
	for _, at := range receivers {
		if a, known := alternatives[at.callee(at.expr.(*ast.CallExpr))]; known {
			return "an argument of " + shortName(at.callee(at.expr.(*ast.CallExpr))) + " becomes an interface value, which needs a place on the heap for it", a.remedy, true
		}
	}
	for _, at := range receivers {
		call := at.expr.(*ast.CallExpr)
		if name := shortName(at.callee(call)); at.logs(call) {
			return "an argument of " + name + " becomes an interface value before the call, whether anything is written or not", askFirst, true
		}
	}
	why = "a value becomes an interface value, which needs a place on the heap for it"
	if s.line.Type != "" {
		why = "a " + s.line.Type + " becomes an interface value, which needs a place on the heap for it"
	}
	return why, "use a function or a container that takes the type itself (type parameters, strconv, a typed logger's field), or keep a pointer that is there already", true
}

// boxes tells whether an argument of the call becomes an interface value by a
// function of the runtime: one for strings, one for slices, others for the rest.
func (s *spot) boxes(call *ast.CallExpr, by string) bool {
	signature, ok := s.info.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return false
	}
	for i, argument := range call.Args {
		of := s.info.TypeOf(argument)
		if of == nil || isInterface(of) || s.isConstant(argument) || !isInterface(parameter(signature, i, call.Ellipsis.IsValid())) {
			continue
		}
		kind := ""
		switch of := onlyPart(of).Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
			continue // an interface value has room for it
		case *types.Slice:
			kind = "runtime.convTslice"
		case *types.Basic:
			if of.Info()&types.IsString != 0 {
				kind = "runtime.convTstring"
			}
		}
		if kind == by || kind == "" && by != "runtime.convTslice" && by != "runtime.convTstring" {
			return true
		}
	}
	return false
}

// parameter is the type of what takes an argument of a call, nil if nothing does;
// spread tells that the last one is followed by dots.
func parameter(of *types.Signature, argument int, spread bool) types.Type {
	last := of.Params().Len() - 1
	switch {
	case argument < last || argument == last && !of.Variadic():
		return of.Params().At(argument).Type()
	case !of.Variadic():
		return nil
	}
	all := of.Params().At(last).Type()
	if elements, ok := all.(*types.Slice); ok && !spread {
		return elements.Elem()
	}
	return all
}

// onlyPart is what a struct of one field or an array of one element consists of.
func onlyPart(of types.Type) types.Type {
	switch under := of.Underlying().(type) {
	case *types.Struct:
		if under.NumFields() == 1 {
			return onlyPart(under.Field(0).Type())
		}
	case *types.Array:
		if under.Len() == 1 {
			return onlyPart(under.Elem())
		}
	}
	return of
}

// askFirst is what to do about values that are made for a log.
const askFirst = "ask first whether anything will be written, if the logger can tell; else a logger with typed fields"

// logs tells whether a call is one of a method that takes any values and by its
// name writes a log.
func (s *spot) logs(call *ast.CallExpr) bool {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || s.info.Selections[selector] == nil {
		return false
	}
	signature, ok := s.info.TypeOf(selector).(*types.Signature)
	if !ok || !signature.Variadic() || signature.Results().Len() > 0 {
		return false
	}
	rest, ok := signature.Params().At(signature.Params().Len() - 1).Type().(*types.Slice)
	if !ok || !types.IsInterface(rest.Elem()) {
		return false
	}
	name := selector.Sel.Name
	for _, ending := range []string{"f", "ln", "w"} { // as in Debugf, Debugln and Debugw
		name = strings.TrimSuffix(name, ending)
	}
	return slices.Contains([]string{"Trace", "Debug", "Info", "Notice", "Warn", "Warning", "Error", "Log"}, name)
}

func isCall(_ *sourceFile, e ast.Expr) bool {
	_, ok := e.(*ast.CallExpr)
	return ok
}

func findClosure(s *subject) (why, remedy string, found bool) {
	if !s.ofCompiler() {
		return "", "", false
	}
	for i := range s.escapes {
		if strings.HasPrefix(s.escapes[i].Message, "func literal") {
			return s.escapes[i].reason(), "pass what it refers to as arguments to a named function, or make it once outside of the loop", true
		}
	}
	if why, remedy, found = s.methodValue(); found {
		return why, remedy, true
	}
	if len(s.escapes) > 0 && !slices.ContainsFunc(s.escapes, func(e Escape) bool { return !e.captured() }) {
		return s.escapes[0].reason(), "give the function literal a copy where it only reads the variable; where it changes it, a type that has it as a field, and a method in place of the literal, are one object instead of two", true
	}
	return "", "", false
}

// methodValue finds a method that is no call: it is kept with its receiver.
func (s *subject) methodValue() (why, remedy string, found bool) {
	if s.line.Type != functionType {
		return "", "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, (*sourceFile).isMethodValue) {
		if call, ok := at.path[1].(*ast.CallExpr); ok && call.Fun == at.expr {
			continue
		}
		selector := at.expr.(*ast.SelectorExpr)
		of := types.TypeString(at.info.Selections[selector].Recv(), at.qualifier)
		if (&editor{sourceFile: at.sourceFile}).pointerMethod(selector) {
			of = "*" + of
		}
		if strings.HasPrefix(of, "*") {
			of = "(" + of + ")"
		}
		return text(selector) + " is a new object each time, of the method and its receiver",
			"the method expression " + of + "." + selector.Sel.Name + " is none, and takes the receiver as its first argument; or keep the method value", true
	}
	return "", "", false
}

func (f *sourceFile) isMethodValue(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	return ok && f.info.Selections[selector] != nil && f.info.Selections[selector].Kind() == types.MethodVal
}

// captured tells whether a variable goes to the heap because a function literal
// refers to it.
func (e *Escape) captured() bool {
	return (strings.HasPrefix(e.Message, "moved to heap") || isName(e.Message)) &&
		slices.ContainsFunc(e.Flow, func(step Step) bool { return strings.Contains(step.Text, "captured by a closure") })
}

// callsOf are the calls on the line that a statement of the language starts
// or puts off: those of kind S.
func callsOf[S *ast.GoStmt | *ast.DeferStmt](s *subject) (all []spot) {
	if s.line.Callee != newObject && s.line.Callee != "" && s.line.Callee != "runtime.newproc" {
		return nil
	}
	return s.sources.spotsAcross(s.sources.file(s.line.File), s.line.Line, func(f *sourceFile, e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok || s.sources.fset.Position(call.Pos()).Line != s.line.Line {
			return false
		}
		path, _ := astutil.PathEnclosingInterval(f.syntax, call.Pos(), call.End())
		at := slices.Index(path, ast.Node(call))
		if at < 0 || at+1 == len(path) {
			return false
		}
		_, of := any(path[at+1]).(S)
		return of
	})
}

// findStarted finds goroutines: what a named function gets as arguments is an
// object, too.
func findStarted(s *subject) (why, remedy string, found bool) {
	for _, at := range callsOf[*ast.GoStmt](s) {
		why = "a goroutine is started, and what it is given has a place on the heap, also as arguments"
		if at.loop() != nil {
			return why, "let a few goroutines take the work from a channel, instead of one for each turn of the loop", true
		}
		return why, "where many are started: let a few goroutines take the work from a channel", true
	}
	return "", "", false
}

// findDeferred finds calls that a loop puts off: only outside of one is there
// room on the stack for them.
func findDeferred(s *subject) (why, remedy string, found bool) {
	for _, at := range callsOf[*ast.DeferStmt](s) {
		if at.loop() != nil {
			return "a call is put off in every turn of the loop, up to the end of the function, and each needs a place on the heap until then, also as a named function with arguments",
				"put the body of the loop into a function of its own: what is deferred there needs none, and is done at the end of the turn", true
		}
	}
	return "", "", false
}

func findPointer(s *subject) (why, remedy string, found bool) {
	reason, ok := s.pointed()
	if !ok {
		return "", "", false
	}
	if strings.HasSuffix(reason, "it is returned") {
		how, stored := s.keptByCallers()
		switch {
		case s.asInterface():
			return reason + " as an interface value", "where nobody changes them: make those once that come again and again, and give these out", true
		case how == "":
			return reason, "let the caller bring the object", true
		case stored:
			return reason + ", and then " + how, keepTheValue, true
		}
		return reason + ", and then " + how, "keep one and use it again, where what it is passed to does not keep it", true
	}
	if !slices.ContainsFunc(s.escapes, func(e Escape) bool { return strings.HasPrefix(e.Message, "&") || strings.HasPrefix(e.Message, "new(") }) { // a variable
		return reason, "let its owner have it as a field, or keep one and use it again, where one is enough at a time", true
	}
	return reason, keepTheValue, true
}

const keepTheValue = "keep the value instead of a pointer where the type is small, or let its owner have it as a field"

// isName tells whether a variable is what escapes.
func isName(message string) bool {
	name, ok := strings.CutSuffix(message, " escapes to heap")
	return ok && token.IsIdentifier(name)
}

func findSize(s *subject) (why, remedy string, found bool) {
	if s.line.Callee != "runtime.makeslice" {
		return "", "", false
	}
	if reason, kept := s.outlives(); kept {
		return reason, "", true
	}
	for i := range s.escapes {
		if reason := s.escapes[i].reason(); strings.Contains(reason, "size") {
			return reason, "keep the slice and cut it to [:0], or give it a constant size that is enough", true
		}
	}
	for _, at := range s.builtins("make") {
		call := at.expr.(*ast.CallExpr)
		if len(s.escapes) == 0 && len(call.Args) > 1 && !at.isConstant(call.Args[len(call.Args)-1]) {
			return text(call) + " goes to the heap: its size is not known when it is compiled", "keep the slice and cut it to [:0], or give it a constant size that is enough", true
		}
	}
	if len(s.escapes) > 0 {
		return s.escapes[0].reason(), "keep the slice and cut it to [:0], or let the caller bring it", true
	}
	return "", "", false
}
