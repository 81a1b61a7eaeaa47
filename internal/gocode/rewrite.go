package gocode

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"go/version"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Rewrite is a change of one function that should save allocations and change
// nothing else.
type Rewrite struct {
	Rule     string
	Title    string // what it does, one line
	File     string
	Package  string // its name
	Function string // whose body changes
	Source   []byte // of the file, changed

	of       *sourceFile
	function *ast.FuncDecl // nil where its text stays as it is
	before   []byte        // what the file was
	imports  []string
}

// change replaces the source between two positions.
type change struct {
	from, to token.Pos
	text     string
}

// rewriter makes changes for lines, where it can show that they are safe. ok
// is false where it cannot.
type rewriter struct {
	rule string
	make func(s *subject, e *editor) (title string, ok bool)
}

// rewriters are in the order in which they are tried for a line.
var rewriters = []rewriter{
	{"hoist-call", rewriteInvariantCall},
	{"boxing", rewriteVariable},
	{"constant", rewriteConstant},
	{"constant-error", rewriteConstantError},
	{"compile-once", rewriteCompileOnce},
	{"lazy", rewriteLazy},
	{"append-capacity", rewriteAppendGrowth},
	{"map-capacity", rewriteMapGrowth},
	{"stream", rewriteToHash},
	{"join-strings", rewriteJoin},
	{"buffer-capacity", rewriteBufferGrowth},
	{"conversion", rewriteBuilder},
	{"conversion", rewriteWrite},
	{"cut", rewriteSplit},
	{"equal-fold", rewriteFold},
	{"format", rewritePrint},
	{"format", rewriteDigits},
	{"format", rewriteFormat},
}

// rewrites returns the changes that can be made for a line. read has the
// content of files.
func (s *subject) rewrites(read func(path string) ([]byte, error)) []*Rewrite {
	f := s.sources.file(s.line.File)
	if f == nil || ast.IsGenerated(f.syntax) && !s.generated || importsC(f.syntax) {
		return nil
	}
	content, err := read(s.sources.path(f))
	if err != nil {
		return nil
	}
	var all []*Rewrite
	for _, r := range rewriters {
		e := &editor{sourceFile: f, fset: s.sources.fset, content: content, read: read}
		title, ok := r.make(s, e)
		if !ok || e.function == nil {
			continue
		}
		if source, err := e.apply(e.content); err == nil {
			changed := &Rewrite{
				Rule: r.rule, Title: title, File: s.sources.path(e.sourceFile), Package: f.syntax.Name.Name, Function: e.function.Name.Name, Source: source,
				of: e.sourceFile, before: e.content, imports: e.imports,
			}
			if !e.elsewhere {
				changed.function = e.function
			}
			all = append(all, changed)
		}
	}
	return all
}

// path is the name of a file that was read.
func (s *sources) path(f *sourceFile) string { return s.fset.File(f.syntax.Pos()).Name() }

// rewritable returns the source of a line that a rewrite may change: of the
// module itself, and no test; nil of others.
func (s *sources) rewritable(l *Line) *sourceFile {
	if l.Origin != OriginOwn || l.C || strings.HasSuffix(l.File, "_test.go") {
		return nil
	}
	return s.file(l.File)
}

// importsC tells whether a file is of cgo, which rewrites it before it is
// compiled.
func importsC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// editor collects the changes of one rewrite.
type editor struct {
	*sourceFile
	fset     *token.FileSet
	content  []byte
	read     func(path string) ([]byte, error) // the content of other files
	function *ast.FuncDecl                     // that is changed
	changes  []change
	imports  []string // that the file needs besides
	// elsewhere tells that the change stands outside of the function, perhaps in
	// another file.
	elsewhere bool
	claimed   map[string]bool
}

// turnTo goes on with a declaration in any file of the package.
func (e *editor) turnTo(s *sources, f *sourceFile) bool {
	if f == nil || ast.IsGenerated(f.syntax) || importsC(f.syntax) {
		return false
	}
	content, err := e.read(s.path(f))
	e.sourceFile, e.content, e.elsewhere = f, content, true
	return err == nil
}

// begin notes the function around a spot as the one that is changed; false
// where there is none.
func (e *editor) begin(at *spot) bool {
	for _, n := range at.path {
		if f, ok := n.(*ast.FuncDecl); ok {
			e.function = f
		}
	}
	return e.function != nil && e.function.Body != nil
}

func (e *editor) replace(n ast.Node, text string) {
	e.changes = append(e.changes, change{n.Pos(), n.End(), text})
}

func (e *editor) insertBefore(n ast.Node, text string) { e.insertAt(n.Pos(), text) }

func (e *editor) insertAt(at token.Pos, text string) {
	e.changes = append(e.changes, change{at, at, text})
}

// remove takes a statement away, with its line where nothing else is on it.
func (e *editor) remove(statement ast.Stmt) {
	file := e.fset.File(e.syntax.Pos())
	from, to := wholeLine(e.content, file.Offset(statement.Pos()), file.Offset(statement.End()))
	e.changes = append(e.changes, change{file.Pos(from), file.Pos(to), ""})
}

// source is what stands in the file for a node.
func (e *editor) source(n ast.Node) string {
	file := e.fset.File(e.syntax.Pos())
	return string(e.content[file.Offset(n.Pos()):file.Offset(n.End())])
}

// since tells whether the file is written for a version of Go, such as "go1.24",
// or a later one.
func (e *editor) since(language string) bool {
	of := e.info.FileVersions[e.syntax]
	if of == "" {
		of = e.pkg.GoVersion()
	}
	return of != "" && version.Compare(of, language) >= 0
}

// importing returns how the file calls a package of the standard library, which
// it imports from now on if it does not yet; false where the name is taken.
func (e *editor) importing(path string) (string, bool) {
	if name, ok := e.packageName(path); ok {
		return name, true
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	if e.fresh(name) != name {
		return "", false
	}
	e.imports = append(e.imports, path)
	return name, true
}

// fresh returns a name like base that means nothing anywhere in the function,
// but for fields and methods.
func (e *editor) fresh(base string) string {
	taken := make(map[string]bool)
	selected := make(map[*ast.Ident]bool)
	ast.Inspect(e.function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			selected[n.Sel] = true
		case *ast.Ident:
			taken[n.Name] = taken[n.Name] || !selected[n]
		}
		return true
	})
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name += strconv.Itoa(n)
		}
		if !taken[name] && !e.claimed[name] && e.pkg.Scope().Lookup(name) == nil && types.Universe.Lookup(name) == nil && !e.importsAs(name) {
			return name
		}
	}
}

// claim is fresh for a name that the changes declare: it is given once.
func (e *editor) claim(base string) string {
	name := e.fresh(base)
	if e.claimed == nil {
		e.claimed = make(map[string]bool)
	}
	e.claimed[name] = true
	return name
}

func (e *editor) importsAs(name string) bool {
	return slices.ContainsFunc(e.syntax.Imports, func(i *ast.ImportSpec) bool {
		of := e.info.Implicits[i]
		if i.Name != nil {
			of = e.info.Defs[i.Name]
		}
		return of != nil && of.Name() == name
	})
}

// apply makes the changes in the file's content, drops the imports that are
// not used any more, and formats a file that was formatted.
func (e *editor) apply(content []byte) ([]byte, error) {
	file := e.fset.File(e.syntax.Pos())
	slices.SortStableFunc(e.changes, func(a, b change) int { return int(a.from - b.from) })
	var out bytes.Buffer
	at := 0
	for _, c := range e.changes {
		from, to := file.Offset(c.from), file.Offset(c.to)
		if from < at || to > len(content) {
			return nil, fmt.Errorf("changes that overlap")
		}
		if e.losesComment(c) {
			return nil, fmt.Errorf("a comment would be lost")
		}
		out.Write(content[at:from])
		out.WriteString(indented(c.text, indentOf(content, from)))
		at = to
	}
	out.Write(content[at:])
	changed, err := e.withImports(out.Bytes())
	if err != nil {
		return nil, err
	}
	if lines := bytes.Count(content, []byte("\n")); lines > 0 && bytes.Count(content, []byte("\r\n")) == lines {
		changed, err = formatLike(withoutReturns(content), withoutReturns(changed))
		return bytes.ReplaceAll(changed, []byte("\n"), []byte("\r\n")), err
	}
	return formatLike(content, changed)
}

// formatLike formats a file if it was formatted before it was changed:
// formatting would otherwise change what is not ours.
func formatLike(before, changed []byte) ([]byte, error) {
	if formatted, err := format.Source(before); err != nil || !bytes.Equal(formatted, before) {
		return changed, err
	}
	return format.Source(changed)
}

func withoutReturns(content []byte) []byte {
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
}

// indented begins each line of a source but the first with an indent, and
// leaves the lines within raw strings as they are.
func indented(text, indent string) string {
	if indent == "" || !strings.Contains(text, "\n") {
		return text
	}
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	var out strings.Builder
	at := 0
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind != token.STRING || literal[0] != '`' {
			continue
		}
		begin := file.Offset(pos)
		end := len(text)
		if length := strings.IndexByte(text[begin+1:], '`'); length >= 0 {
			end = begin + 1 + length // carriage returns are no part of the literal
		}
		out.WriteString(strings.ReplaceAll(text[at:begin], "\n", "\n"+indent))
		out.WriteString(text[begin:end])
		at = end
	}
	out.WriteString(strings.ReplaceAll(text[at:], "\n", "\n"+indent))
	return out.String()
}

// losesComment tells whether a comment stands in what is replaced and not in
// what replaces it.
func (e *editor) losesComment(c change) bool {
	for _, group := range e.syntax.Comments {
		for _, comment := range group.List {
			if comment.Pos() >= c.from && comment.End() <= c.to && !strings.Contains(c.text, comment.Text) {
				return true
			}
		}
	}
	return false
}

// withImports adds the imports that a changed file needs and takes away those
// that it has no use for any more. All else stays as it is.
func (e *editor) withImports(content []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", content, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	type cut struct {
		from, to int
		text     string
	}
	var cuts []cut
	left := make(map[string]bool)
	for _, d := range f.Decls {
		declaration, ok := d.(*ast.GenDecl)
		if !ok || declaration.Tok != token.IMPORT {
			continue
		}
		remaining := len(declaration.Specs)
		var specs []cut
		for _, spec := range declaration.Specs {
			i := spec.(*ast.ImportSpec)
			path, err := strconv.Unquote(i.Path.Value)
			left[path] = true
			if err == nil && i.Name == nil && !astutil.UsesImport(f, path) && e.used(path) {
				from, to := wholeLine(content, offset(i.Pos()), offset(i.End()))
				specs = append(specs, cut{from, to, ""})
				remaining--
			}
		}
		if remaining == 0 {
			from, to := wholeLine(content, offset(declaration.Pos()), offset(declaration.End()))
			specs = []cut{{from, to, ""}}
		}
		cuts = append(cuts, specs...)
	}
	for _, path := range e.imports {
		if left[path] {
			continue
		}
		left[path] = true
		at, text := offset(f.Name.End()), "\n\nimport "+strconv.Quote(path)
		if len(f.Imports) > 0 {
			// On a line in front of the first import, which may be taken away.
			first := offset(f.Imports[0].Pos())
			at = bytes.LastIndexByte(content[:first], '\n') + 1
			before := string(content[at:first])
			if strings.HasPrefix(before, "import (") { // all on one line
				at, before = first, ""
			}
			text = before + strconv.Quote(path) + "\n"
		}
		cuts = append(cuts, cut{at, at, text})
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var out bytes.Buffer
	at := 0
	for _, c := range cuts {
		if c.from < at {
			return nil, fmt.Errorf("imports that overlap")
		}
		out.Write(content[at:c.from])
		out.WriteString(c.text)
		at = c.to
	}
	out.Write(content[at:])
	return out.Bytes(), nil
}

// wholeLine widens a part of a file to its lines, where nothing else stands on
// them.
func wholeLine(content []byte, from, to int) (int, int) {
	begin := bytes.LastIndexByte(content[:from], '\n') + 1
	length := bytes.IndexByte(content[to:], '\n')
	if length >= 0 && len(bytes.TrimSpace(content[begin:from])) == 0 && len(bytes.TrimSpace(content[to:to+length])) == 0 {
		return begin, to + length + 1
	}
	return from, to
}

// indentOf is the blank space that the line of a place begins with.
func indentOf(content []byte, at int) string {
	line := content[bytes.LastIndexByte(content[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// used tells whether the file used a package that it imports by its own name.
func (e *editor) used(path string) bool { return astutil.UsesImport(e.syntax, path) }

// uses returns all places in the function where a variable stands, but for its
// declaration.
func (e *editor) uses(v types.Object) []*ast.Ident {
	var all []*ast.Ident
	ast.Inspect(e.function, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && e.info.Uses[name] == v {
			all = append(all, name)
		}
		return true
	})
	return all
}

// around returns a node's parents within the file, the node first.
func (e *editor) around(n ast.Node) []ast.Node {
	path, _ := astutil.PathEnclosingInterval(e.syntax, n.Pos(), n.End())
	for len(path) > 0 && path[0] != n {
		path = path[1:]
	}
	return path
}

// statementOf returns the statement of a list of statements that a loop is,
// with its label if it has one; nil where it is none. path leads outwards.
func statementOf(path []ast.Node, loop ast.Stmt) ast.Stmt {
	for i, n := range path {
		if n != ast.Node(loop) || i+1 >= len(path) {
			continue
		}
		switch parent := path[i+1].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			return loop
		case *ast.LabeledStmt:
			return parent
		}
	}
	return nil
}
