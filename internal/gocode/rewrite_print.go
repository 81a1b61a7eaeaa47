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
	"unicode/utf8"
)

// rewritePrint writes to a buffer, piece by piece, what package fmt prints into
// it: strings, whole numbers and what else its verbs print as it is. The values
// are no interface values then, and the buffer need not be on the heap for fmt.
func rewritePrint(s *subject, e *editor) (string, bool) {
	callee := withoutArguments(s.line.Callee)
	if callee != "" && !strings.HasPrefix(callee, "fmt.Fprint") && !strings.HasPrefix(callee, "runtime.convT") && callee != newObject {
		return "", false
	}
	for _, at := range s.sources.spots(s.line.File, s.line.Line, isCall) {
		call := at.expr.(*ast.CallExpr)
		if !e.begin(&at) || !e.printsToBuffer(call) {
			continue
		}
		e.changes, e.imports = nil, nil
		if e.writePieces(&at, call) {
			return "write what is printed to " + strings.TrimPrefix(text(call.Args[0]), "&") + " piece by piece", true
		}
	}
	if callee == newObject || callee == "" {
		return s.printsToDeclared(e)
	}
	return "", false
}

// printsToDeclared rewrites all that is printed to a buffer that the line
// declares, which goes to the heap for that.
func (s *subject) printsToDeclared(e *editor) (string, bool) {
	f := e.sourceFile
	for name, of := range f.info.Defs {
		buffer, ok := of.(*types.Var)
		if !ok || s.sources.fset.Position(name.Pos()).Line != s.line.Line || s.sources.files[s.sources.fset.Position(name.Pos()).Filename] != f {
			continue
		}
		kind := types.TypeString(buffer.Type(), nil)
		if kind != "bytes.Buffer" && kind != "strings.Builder" {
			continue
		}
		at := spot{f, s.sources.fset, name, (&editor{sourceFile: f}).around(name)}
		if !e.begin(&at) {
			continue
		}
		e.changes, e.imports = nil, nil
		printed := 0
		for _, use := range e.uses(buffer) {
			path := e.around(use)
			if len(path) < 3 {
				continue
			}
			call, ok := path[2].(*ast.CallExpr)
			if !ok || !e.printsToBuffer(call) || call.Args[0] != path[1] {
				continue
			}
			if !e.writePieces(&spot{f, s.sources.fset, call, path[2:]}, call) {
				return "", false
			}
			printed++
		}
		if printed > 0 {
			return "write what is printed to " + buffer.Name() + " piece by piece", true
		}
	}
	return "", false
}

// printsToBuffer tells whether a call prints to a bytes.Buffer or a
// strings.Builder, which copy what they are given.
func (e *editor) printsToBuffer(call *ast.CallExpr) bool {
	switch e.callee(call) {
	case "fmt.Fprintf", "fmt.Fprint", "fmt.Fprintln":
	default:
		return false
	}
	if len(call.Args) < 2 || call.Ellipsis.IsValid() {
		return false
	}
	_, ok := e.bufferOf(call.Args[0])
	return ok
}

// bufferOf returns the source of the buffer whose methods are to be called for
// what is printed to x: b of &b, and p of a pointer p.
func (e *editor) bufferOf(x ast.Expr) (string, bool) {
	pointer, ok := e.info.TypeOf(x).(*types.Pointer)
	if !ok {
		return "", false
	}
	switch types.TypeString(pointer.Elem(), nil) {
	case "bytes.Buffer", "strings.Builder":
	default:
		return "", false
	}
	if address, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && address.Op == token.AND {
		x = address.X
	}
	return e.source(x), e.local(x) != nil
}

// writePieces puts a call of a method of the buffer for each part in the place
// of a statement that prints.
func (e *editor) writePieces(at *spot, call *ast.CallExpr) bool {
	statement, _ := at.listed()
	if alone, ok := statement.(*ast.ExprStmt); !ok || alone.X != ast.Expr(call) {
		return false
	}
	buffer, _ := e.bufferOf(call.Args[0])
	if _, pointer := ast.Unparen(call.Args[0]).(*ast.Ident); pointer && !at.stable(call.Args[0], statement) {
		return false
	}
	parts, values, ok := e.printed(call)
	if !ok {
		return false
	}
	sources, lines, ok := e.evaluatedFirst(at, values)
	if !ok {
		return false
	}
	room, next, literal := "", 0, ""
	flush := func() {
		if literal != "" {
			lines = append(lines, buffer+"."+literalPiece(literal))
			literal = ""
		}
	}
	for _, p := range parts {
		if p.verb == 0 {
			literal += p.literal
			continue
		}
		if next == len(values) {
			return false
		}
		flush()
		fits := room
		if fits == "" {
			fits = e.fresh("room")
		}
		if p.padded {
			if !types.Identical(e.info.TypeOf(values[next]), types.Typ[types.Uint8]) || e.isConstant(values[next]) {
				return false
			}
			for _, digit := range twoDigits(sources[next], p.verb) {
				lines = append(lines, buffer+"."+digit)
			}
			next++
			continue
		}
		piece, usesRoom, ok := e.piece(values[next], sources[next], p.verb, fits)
		if !ok {
			return false
		}
		if usesRoom && room == "" {
			room = e.claim("room")
			lines = append(lines, "var "+room+" [24]byte")
		}
		lines = append(lines, buffer+"."+piece)
		next++
	}
	flush()
	if next != len(values) || len(lines) == 0 {
		return false
	}
	e.replace(statement, strings.Join(lines, "\n"))
	return true
}

// twoDigits are the calls that write a byte as %02x, or %02X, prints it.
func twoDigits(source string, verb byte) [2]string {
	digits := `"0123456789abcdef"`
	if verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if strings.Contains(source, " ") {
		source = "(" + source + ")"
	}
	return [2]string{"WriteByte(" + digits + "[" + source + ">>4])", "WriteByte(" + digits + "[" + source + "&15])"}
}

func literalPiece(literal string) string {
	if len(literal) == 1 && literal[0] < utf8.RuneSelf {
		return "WriteByte(" + strconv.QuoteRune(rune(literal[0])) + ")"
	}
	return "WriteString(" + strconv.Quote(literal) + ")"
}

// printed takes apart what a call prints.
func (e *editor) printed(call *ast.CallExpr) (parts []formatPart, values []ast.Expr, ok bool) {
	values = call.Args[1:]
	switch e.callee(call) {
	case "fmt.Fprintf":
		format, written := e.writtenText(values[0])
		if !written {
			return nil, nil, false
		}
		parts, ok = parseFormat(format)
		return parts, values[1:], ok
	case "fmt.Fprint":
		return []formatPart{{verb: 'v'}}, values, len(values) == 1
	}
	for i := range values {
		if i > 0 {
			parts = append(parts, formatPart{literal: " "})
		}
		parts = append(parts, formatPart{verb: 'v'})
	}
	return append(parts, formatPart{literal: "\n"}), values, true
}

// evaluatedFirst returns the values as they can be written between calls of the
// buffer's methods, and what comes before: what could panic, or do something
// else, is evaluated before anything is written.
func (e *editor) evaluatedFirst(at *spot, values []ast.Expr) (sources, before []string, ok bool) {
	calls := slices.ContainsFunc(values, func(v ast.Expr) bool { return e.calls(v) })
	for _, v := range values {
		switch {
		case e.plainRead(at, v):
			sources = append(sources, e.source(v))
		case calls && !e.calls(v) || e.shifts(v):
			return nil, nil, false // in what order they are evaluated is not said
		default:
			name := e.claim(nameOfValue(v))
			sources = append(sources, name)
			before = append(before, name+" := "+e.source(v))
		}
	}
	return sources, before, true
}

// nameOfValue makes a name for the value of a field, or of anything else.
func nameOfValue(v ast.Expr) string {
	selector, ok := ast.Unparen(v).(*ast.SelectorExpr)
	if !ok {
		return "value"
	}
	name := selector.Sel.Name
	if strings.ToUpper(name) == name {
		name = strings.ToLower(name)
	} else {
		name = strings.ToLower(name[:1]) + name[1:]
	}
	if !token.IsIdentifier(name) || types.Universe.Lookup(name) != nil {
		return "value"
	}
	return name
}

// plainRead tells whether an expression has the same value before the call and
// in its midst, and cannot panic.
func (e *editor) plainRead(at *spot, v ast.Expr) bool {
	if at.stable(v, at.expr) {
		return true
	}
	switch v := ast.Unparen(v).(type) {
	case *ast.SelectorExpr: // of a struct, not of what is behind a pointer
		selection := e.info.Selections[v]
		return selection != nil && selection.Kind() == types.FieldVal && !selection.Indirect() && e.plainRead(at, v.X)
	case *ast.BinaryExpr:
		switch v.Op {
		case token.QUO, token.REM, token.SHL, token.SHR:
			return false
		}
		return isBasic(e.info.TypeOf(v.X)) && e.plainRead(at, v.X) && e.plainRead(at, v.Y)
	case *ast.CallExpr:
		tv := e.info.Types[v.Fun]
		reads := tv.IsBuiltin() && text(v.Fun) == "len" || tv.IsType() && isBasic(tv.Type) && isBasic(e.info.TypeOf(v.Args[0]))
		return reads && len(v.Args) == 1 && e.plainRead(at, v.Args[0])
	}
	return false
}

// piece is the call that writes a value as package fmt prints it with a verb.
// usesRoom tells that its digits are made in an array.
func (e *editor) piece(value ast.Expr, source string, verb byte, room string) (call string, usesRoom, ok bool) {
	t := e.info.TypeOf(value)
	if t == nil {
		return "", false, false
	}
	if e.info.Types[value].Value != nil {
		t = types.Default(t)
		if e.info.Types[value].Value.Kind() == constant.Float {
			return "", false, false
		}
	}
	basic, isBasic := t.Underlying().(*types.Basic)
	if !isBasic || types.NewMethodSet(types.NewPointer(t)).Len() > 0 {
		return "", false, false
	}
	digits := func(base string) (string, bool, bool) {
		pkg, ok := e.importing("strconv")
		if basic.Info()&types.IsUnsigned != 0 {
			return fmt.Sprintf("Write(%s.AppendUint(%s[:0], %s, %s))", pkg, room, e.converted(t, types.Uint64, source), base), true, ok
		}
		return fmt.Sprintf("Write(%s.AppendInt(%s[:0], %s, %s))", pkg, room, e.converted(t, types.Int64, source), base), true, ok
	}
	switch {
	case basic.Info()&types.IsString != 0 && (verb == 's' || verb == 'v'):
		return "WriteString(" + e.converted(t, types.String, source) + ")", false, true
	case basic.Info()&types.IsString != 0 && verb == 'q':
		pkg, ok := e.importing("strconv")
		return fmt.Sprintf("Write(%s.AppendQuote(%s[:0], %s))", pkg, room, e.converted(t, types.String, source)), true, ok
	case basic.Info()&types.IsInteger != 0 && (verb == 'd' || verb == 'v'):
		return digits("10")
	case basic.Info()&types.IsInteger != 0 && verb == 'x':
		return digits("16")
	case basic.Info()&types.IsBoolean != 0 && (verb == 't' || verb == 'v'):
		pkg, ok := e.importing("strconv")
		return fmt.Sprintf("WriteString(%s.FormatBool(%s))", pkg, e.converted(t, types.Bool, source)), false, ok
	}
	return "", false, false
}
