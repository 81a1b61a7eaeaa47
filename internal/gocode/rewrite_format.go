package gocode

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// appenders are the functions that write into a buffer what others return as a
// new string.
var appenders = map[string]struct{ name, arguments string }{ // %s: the arguments
	"strconv.Itoa":        {"AppendInt", "int64(%s), 10"},
	"strconv.FormatInt":   {"AppendInt", "%s"},
	"strconv.FormatUint":  {"AppendUint", "%s"},
	"strconv.FormatFloat": {"AppendFloat", "%s"},
	"strconv.Quote":       {"AppendQuote", "%s"},
}

// rewriteFormat goes without the string of a number, or of package fmt, that is
// only written or appended to something else; and without package fmt where the
// parts are strings and whole numbers.
func rewriteFormat(s *subject, e *editor) (string, bool) {
	callee := withoutArguments(s.line.Callee)
	for _, at := range s.sources.spots(s.line.File, s.line.Line, isCall) {
		call := at.expr.(*ast.CallExpr)
		of := e.callee(call)
		formats := of == "fmt.Sprintf" || of == "fmt.Sprint"
		if of == "" || of != callee && !(formats && (strings.HasPrefix(callee, "runtime.") || callee == "")) || len(at.path) < 2 || !e.begin(&at) {
			continue
		}
		for _, try := range []func(*spot, *ast.CallExpr, string) (string, bool){e.writeDigits, e.appendDigits, e.printInto, e.appendPrinted, e.joinPrinted} {
			e.changes, e.imports = nil, nil
			if title, ok := try(&at, call, of); ok {
				return title, true
			}
		}
	}
	return "", false
}

// appending writes a call of a function that returns a string as one that
// appends to b.
func (e *editor) appending(call *ast.CallExpr, of, b string) (string, bool) {
	appender, ok := appenders[of]
	pkg, named := e.packageName("strconv")
	if !ok || !named || call.Ellipsis.IsValid() || len(call.Args) == 0 || e.argumentsCall(call) || e.shifts(call) {
		return "", false
	}
	file := e.fset.File(call.Pos())
	arguments := string(e.content[file.Offset(call.Args[0].Pos()):file.Offset(call.Args[len(call.Args)-1].End())])
	if of == "strconv.Itoa" {
		arguments = e.source(e.withoutInt(call.Args[0]))
	}
	return fmt.Sprintf("%s.%s(%s, %s)", pkg, appender.name, b, fmt.Sprintf(appender.arguments, arguments)), true
}

// withoutInt takes a conversion to int off a number that is to be one of 64 bits,
// where no number becomes another by that, on any machine.
func (e *editor) withoutInt(number ast.Expr) ast.Expr {
	call, ok := ast.Unparen(number).(*ast.CallExpr)
	if !ok || !e.info.Types[call.Fun].IsType() || e.isConstant(call) || !types.Identical(e.info.TypeOf(call), types.Typ[types.Int]) {
		return number
	}
	if of, ok := e.info.TypeOf(call.Args[0]).Underlying().(*types.Basic); ok {
		switch of.Kind() {
		case types.Int, types.Int8, types.Int16, types.Int32, types.Uint8, types.Uint16:
			return call.Args[0]
		}
	}
	return number
}

func (e *editor) argumentsCall(call *ast.CallExpr) bool {
	for _, argument := range call.Args {
		if e.calls(argument) {
			return true
		}
	}
	return false
}

// shifts tells whether the type of a shift could become another, with other
// results, if it stood elsewhere.
func (e *editor) shifts(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		shift, ok := n.(*ast.BinaryExpr)
		found = found || ok && (shift.Op == token.SHL || shift.Op == token.SHR) && e.info.Types[shift].Value == nil
		return !found
	})
	return found
}

// written is the buffer to which a call writes the string that path begins
// with, and the statement that the call is.
func (e *editor) written(path []ast.Node) (x ast.Expr, call *ast.CallExpr, ok bool) {
	if len(path) < 3 {
		return nil, nil, false
	}
	call, ok = path[1].(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0] != path[0] {
		return nil, nil, false
	}
	// Both copy what they are given before they return.
	x, ok = e.methodOf(call, "WriteString", "bytes.Buffer", "strings.Builder")
	return x, call, ok && simple(x)
}

// writeDigits: b.WriteString(strconv.Itoa(n)).
func (e *editor) writeDigits(at *spot, call *ast.CallExpr, of string) (string, bool) {
	x, write, ok := e.written(at.path)
	statement, _ := at.listed()
	if !ok || statement == nil {
		return "", false
	}
	if _, alone := at.path[2].(*ast.ExprStmt); !alone || at.path[2] != ast.Node(statement) {
		return "", false
	}
	room := e.fresh("room")
	appended, ok := e.appending(call, of, room+"[:0]")
	if !ok {
		return "", false
	}
	size := 24 // digits of any number of 64 bits
	if of == "strconv.FormatFloat" || of == "strconv.Quote" {
		size = 64
	}
	e.insertBefore(statement, fmt.Sprintf("var %s [%d]byte\n", room, size))
	e.replace(write, fmt.Sprintf("%s.Write(%s)", e.source(x), appended))
	return "write " + text(call) + " to " + text(x) + " from bytes on the stack", true
}

// appendDigits: append(b, strconv.Itoa(n)...) and []byte(strconv.Itoa(n)).
func (e *editor) appendDigits(at *spot, call *ast.CallExpr, of string) (string, bool) {
	outer, b, ok := e.appendsTo(at.path, call)
	if !ok {
		return "", false
	}
	appended, ok := e.appending(call, of, b)
	if !ok {
		return "", false
	}
	e.replace(outer, appended)
	return "append " + text(call) + " to the bytes themselves", true
}

// appendsTo returns the call that makes bytes of a string, and what they are
// appended to: append(b, s...), or []byte(s), which appends to nil.
func (e *editor) appendsTo(path []ast.Node, s ast.Expr) (outer *ast.CallExpr, b string, ok bool) {
	outer, ok = path[1].(*ast.CallExpr)
	if !ok || !types.Identical(e.info.TypeOf(outer), types.NewSlice(types.Typ[types.Byte])) {
		return nil, "", false
	}
	switch tv := e.info.Types[outer.Fun]; {
	case tv.IsBuiltin() && text(outer.Fun) == "append" && len(outer.Args) == 2 && outer.Ellipsis.IsValid() && outer.Args[1] == s && !e.calls(outer.Args[0]):
		return outer, e.source(outer.Args[0]), true
	case tv.IsType() && len(outer.Args) == 1:
		return outer, "nil", true
	}
	return nil, "", false
}

// printInto: b.WriteString(fmt.Sprintf(...)).
func (e *editor) printInto(at *spot, call *ast.CallExpr, of string) (string, bool) {
	x, write, ok := e.written(at.path)
	if !ok || !e.printsPlain(call, of) || e.argumentsCall(call) {
		return "", false
	}
	if _, alone := at.path[2].(*ast.ExprStmt); !alone {
		return "", false
	}
	to := e.source(x)
	if _, pointer := e.info.TypeOf(x).Underlying().(*types.Pointer); !pointer {
		to = "&" + to
	}
	selector := call.Fun.(*ast.SelectorExpr)
	e.replace(write, fmt.Sprintf("%s.F%s(%s, %s)", e.source(selector.X), strings.TrimPrefix(selector.Sel.Name, "S"), to, e.argumentText(call)))
	return "print into " + text(x) + " itself", true
}

// appendPrinted: append(b, fmt.Sprintf(...)...) and []byte(fmt.Sprintf(...)).
func (e *editor) appendPrinted(at *spot, call *ast.CallExpr, of string) (string, bool) {
	outer, b, ok := e.appendsTo(at.path, call)
	if !ok || !e.printsPlain(call, of) || e.argumentsCall(call) || !e.since("go1.19") {
		return "", false
	}
	if b == "nil" && !e.printsSomething(call, of) {
		return "", false // nil instead of no bytes
	}
	selector := call.Fun.(*ast.SelectorExpr)
	e.replace(outer, fmt.Sprintf("%s.Append%s(%s, %s)", e.source(selector.X), strings.TrimPrefix(selector.Sel.Name, "Sprint"), b, e.argumentText(call)))
	return "print to the end of the bytes themselves", true
}

func (e *editor) argumentText(call *ast.CallExpr) string {
	file := e.fset.File(call.Pos())
	end := call.Args[len(call.Args)-1].End()
	if call.Ellipsis.IsValid() {
		end = call.Ellipsis + 3
	}
	return string(e.content[file.Offset(call.Args[0].Pos()):file.Offset(end)])
}

// printsPlain tells whether a call of fmt.Sprintf or Sprint prints values
// without methods alone: no code of others runs while it prints.
func (e *editor) printsPlain(call *ast.CallExpr, of string) bool {
	values := call.Args
	if of == "fmt.Sprintf" {
		if len(values) == 0 {
			return false
		}
		values = values[1:]
	} else if of != "fmt.Sprint" {
		return false
	}
	if _, ok := call.Fun.(*ast.SelectorExpr); !ok || call.Ellipsis.IsValid() || len(call.Args) == 0 {
		return false
	}
	for _, value := range values {
		if e.info.Types[value].Value == nil && !plain(e.info.TypeOf(value), types.IsString|types.IsNumeric|types.IsBoolean) {
			return false
		}
	}
	return true
}

// printsSomething tells whether a format has a character that is printed
// whatever the values are.
func (e *editor) printsSomething(call *ast.CallExpr, of string) bool {
	format, ok := e.constantText(call.Args[0])
	if of != "fmt.Sprintf" || !ok {
		return false
	}
	parts, ok := parseFormat(format)
	for _, p := range parts {
		if ok && p.verb == 0 && p.literal != "" || p.verb == 'd' || p.verb == 'q' {
			return true
		}
	}
	return false
}

// formatPart is a literal text, or a verb.
type formatPart struct {
	literal string
	verb    byte // 0 for a literal
	padded  bool // to two digits, by zeros: %02x and %02X
}

// parseFormat takes a format apart; false where it has more than plain verbs
// and those of two digits.
func parseFormat(format string) (parts []formatPart, ok bool) {
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return append(parts, formatPart{literal: format}), true
		}
		if at+1 >= len(format) {
			return nil, false
		}
		if at > 0 {
			parts = append(parts, formatPart{literal: format[:at]})
		}
		if verb := format[at+1:]; strings.HasPrefix(verb, "02x") || strings.HasPrefix(verb, "02X") {
			parts = append(parts, formatPart{verb: verb[2], padded: true})
			format = verb[3:]
			continue
		}
		switch verb := format[at+1]; verb {
		case '%':
			parts = append(parts, formatPart{literal: "%"})
		case 's', 'd', 'v', 'q', 't', 'x':
			parts = append(parts, formatPart{verb: verb})
		default:
			return nil, false
		}
		format = format[at+2:]
	}
	return parts, true
}

// writtenText returns the string that is written out where it is used, in one
// line. The text of a constant with a name is left where it is, and one of
// several lines as it is.
func (e *editor) writtenText(x ast.Expr) (string, bool) {
	words, ok := e.constantText(x)
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			ok = false
		case *ast.BasicLit:
			ok = ok && !strings.Contains(n.Value, "\n")
		}
		return ok
	})
	return words, ok
}

// joinPrinted: fmt.Sprintf("%s/%d", s, n) becomes s + "/" + strconv.Itoa(n).
func (e *editor) joinPrinted(at *spot, call *ast.CallExpr, of string) (string, bool) {
	if call.Ellipsis.IsValid() || len(call.Args) == 0 {
		return "", false
	}
	var parts []formatPart
	values := call.Args
	if of == "fmt.Sprintf" {
		format, ok := e.writtenText(call.Args[0])
		if !ok {
			return "", false
		}
		if parts, ok = parseFormat(format); !ok {
			return "", false
		}
		values = call.Args[1:]
	} else if of == "fmt.Sprint" && len(values) == 1 {
		parts = []formatPart{{verb: 'v'}}
	} else {
		return "", false
	}
	if len(values) > 1 && e.argumentsCall(call) || e.shifts(call) {
		return "", false // the order of calls and of reading variables
	}
	var joined []string
	next := 0
	literal := ""
	flush := func() {
		if literal != "" {
			joined = append(joined, strconv.Quote(literal))
			literal = ""
		}
	}
	for _, p := range parts {
		if p.verb == 0 {
			literal += p.literal
			continue
		}
		if next >= len(values) {
			return "", false
		}
		flush()
		written, ok := e.asString(values[next], p.verb)
		if !ok || p.padded {
			return "", false
		}
		joined = append(joined, written)
		next++
	}
	flush()
	if next != len(values) || len(joined) == 0 {
		return "", false
	}
	out := strings.Join(joined, " + ")
	if len(joined) == 1 && joined[0][0] == '"' {
		out = "string(" + out + ")"
	}
	switch at.path[1].(type) {
	case *ast.BinaryExpr, *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr:
		out = "(" + out + ")"
	}
	e.replace(call, out)
	return text(call) + " becomes strings that are joined", true
}

// asString writes a value as package fmt prints it with a verb, as an operand
// of +.
func (e *editor) asString(value ast.Expr, verb byte) (string, bool) {
	t := e.info.TypeOf(value)
	if t == nil {
		return "", false
	}
	source := e.source(value)
	if e.info.Types[value].Value != nil {
		t = types.Default(t)
	}
	basic, ok := t.Underlying().(*types.Basic)
	if !ok {
		return "", false
	}
	_, named := types.Unalias(t).(*types.Named)
	switch {
	case plain(t, types.IsString):
		switch verb {
		case 's', 'v':
			if named {
				return "string(" + source + ")", true
			}
			if _, binary := value.(*ast.BinaryExpr); binary {
				return "(" + source + ")", true
			}
			return source, true
		case 'q':
			pkg, ok := e.importing("strconv")
			return pkg + ".Quote(" + e.converted(t, types.String, source) + ")", ok
		}
	case plain(t, types.IsInteger) && (verb == 'd' || verb == 'v'):
		pkg, ok := e.importing("strconv")
		switch {
		case basic.Kind() == types.Int && !named:
			return pkg + ".Itoa(" + source + ")", ok
		case basic.Info()&types.IsUnsigned != 0:
			return pkg + ".FormatUint(" + e.converted(t, types.Uint64, source) + ", 10)", ok
		}
		return pkg + ".FormatInt(" + e.converted(t, types.Int64, source) + ", 10)", ok
	case plain(t, types.IsBoolean) && (verb == 't' || verb == 'v'):
		pkg, ok := e.importing("strconv")
		return pkg + ".FormatBool(" + e.converted(t, types.Bool, source) + ")", ok
	}
	return "", false
}

// converted is a value as one of a basic type, which it may be already.
func (e *editor) converted(t types.Type, to types.BasicKind, source string) string {
	if types.Identical(t, types.Typ[to]) {
		return source
	}
	return types.Typ[to].Name() + "(" + source + ")"
}

// rewriteWrite gives a buffer the string or the bytes themselves, which it
// copies anyway.
func rewriteWrite(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "runtime.stringtoslicebyte" && s.line.Callee != "runtime.slicebytetostring" {
		return "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, isConversion) {
		conversion := at.expr.(*ast.CallExpr)
		write, ok := at.path[1].(*ast.CallExpr)
		if !ok || !e.begin(&at) {
			continue
		}
		from, to := e.info.TypeOf(conversion.Args[0]), e.info.TypeOf(conversion)
		inside := conversion.Args[0]
		if isString(from) && types.Identical(to, types.NewSlice(types.Typ[types.Byte])) && e.info.Types[write.Fun].IsBuiltin() && text(write.Fun) == "append" &&
			len(write.Args) == 2 && write.Args[1] == ast.Expr(conversion) && write.Ellipsis.IsValid() {
			e.replace(conversion, e.source(inside))
			return "append the string " + text(inside) + " itself", true
		}
		if len(write.Args) != 1 || write.Args[0] != ast.Expr(conversion) {
			continue
		}
		selector, ok := write.Fun.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if _, ok := e.methodOf(write, "Write", "bytes.Buffer", "strings.Builder"); ok && types.Identical(from, types.Typ[types.String]) {
			e.replace(selector.Sel, "WriteString")
			e.replace(conversion, e.source(inside))
			return "write the string " + text(inside) + " itself", true
		}
		// The bytes must be no part of the buffer, which may move while it grows.
		x, ok := e.methodOf(write, "WriteString", "bytes.Buffer", "strings.Builder")
		if ok && types.Identical(to, types.Typ[types.String]) && types.Identical(from.Underlying(), types.NewSlice(types.Typ[types.Byte])) && e.isOwnValue(x) && e.isParameter(inside) {
			e.replace(selector.Sel, "Write")
			e.replace(conversion, e.source(inside))
			return "write the bytes of " + text(inside) + " themselves", true
		}
	}
	return "", false
}

func isConversion(f *sourceFile, e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && f.info.Types[call.Fun].IsType() && len(call.Args) == 1
}

func isString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// isOwnValue tells whether an expression is a variable that the function
// declares, and no pointer.
func (e *editor) isOwnValue(x ast.Expr) bool {
	v := e.local(x)
	if v == nil || !contains(e.function.Body, v.Pos()) {
		return false
	}
	_, pointer := v.Type().Underlying().(*types.Pointer)
	return !pointer
}

// isParameter tells whether an expression is a parameter of the function that
// has the value with which it was called.
func (e *editor) isParameter(x ast.Expr) bool {
	v := e.local(x)
	if v == nil || !contains(e.function.Type, v.Pos()) {
		return false
	}
	whole := spot{sourceFile: e.sourceFile, fset: e.fset, path: []ast.Node{e.function}}
	return !whole.changes(v, e.function)
}

// rewriteBuilder collects in a strings.Builder what was collected in a
// bytes.Buffer and read as a string: a Builder hands out its own bytes.
func rewriteBuilder(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "bytes.(*Buffer).String" {
		return "", false
	}
	for _, at := range s.calls() {
		x, ok := e.methodOf(at.expr.(*ast.CallExpr), "String", "bytes.Buffer")
		if !ok || !e.begin(&at) {
			continue
		}
		buffer := e.local(x)
		if buffer == nil {
			continue
		}
		declaration, ok := e.declaredEmpty(buffer).(*ast.DeclStmt)
		if !ok || !e.onlyCollects(buffer) {
			continue
		}
		pkg, ok := e.importing("strings")
		if !ok {
			continue
		}
		e.replace(declaration, "var "+buffer.Name()+" "+pkg+".Builder")
		return "collect " + buffer.Name() + " in a strings.Builder", true
	}
	return "", false
}

// onlyCollects tells whether of a bytes.Buffer only what a strings.Builder has
// too is used.
func (e *editor) onlyCollects(buffer *types.Var) bool {
	for _, use := range e.uses(buffer) {
		path := e.around(use)
		if len(path) < 4 {
			return false
		}
		switch parent := path[1].(type) {
		case *ast.SelectorExpr:
			call, ok := path[2].(*ast.CallExpr)
			if !ok || call.Fun != ast.Expr(parent) {
				return false
			}
			switch parent.Sel.Name {
			case "Write", "WriteString", "WriteByte", "WriteRune", "String", "Len":
			default:
				return false
			}
		case *ast.UnaryExpr:
			call, ok := path[2].(*ast.CallExpr)
			if !ok || parent.Op != token.AND || len(call.Args) == 0 || call.Args[0] != ast.Expr(parent) {
				return false
			}
			switch e.callee(call) {
			case "fmt.Fprintf", "fmt.Fprint", "fmt.Fprintln", "io.WriteString":
			default:
				return false
			}
		default:
			return false
		}
	}
	return true
}
