package gocode

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// Rewrite is a change of one function that should save allocations and change
// nothing else.
type Rewrite struct {
	Rule     string
	Title    string // what it does, one line
	File     string
	Function string // whose body changes
	Source   []byte // of the file, changed
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
	{"constant", rewriteConstant},
	{"append-capacity", rewriteAppendGrowth},
	{"buffer-capacity", rewriteToHash},
	{"buffer-capacity", rewriteBufferGrowth},
	{"library", rewriteDigits},
}

// rewrites returns the changes that can be made for a line.
func (s *subject) rewrites(contents map[string][]byte) []*Rewrite {
	f := s.sources.file(s.line.File)
	if f == nil || ast.IsGenerated(f.syntax) {
		return nil
	}
	path := s.sources.fset.File(f.syntax.Pos()).Name()
	var all []*Rewrite
	for _, r := range rewriters {
		e := &editor{sourceFile: f, fset: s.sources.fset}
		title, ok := r.make(s, e)
		if !ok || e.function == nil {
			continue
		}
		if source, err := e.apply(contents[path]); err == nil {
			all = append(all, &Rewrite{Rule: r.rule, Title: title, File: path, Function: e.function.Name.Name, Source: source})
		}
	}
	return all
}

// editor collects the changes of one rewrite.
type editor struct {
	*sourceFile
	fset     *token.FileSet
	function *ast.FuncDecl // that is changed
	changes  []change
	imports  []string // that the file needs besides
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

func (e *editor) insertBefore(n ast.Node, text string) {
	e.changes = append(e.changes, change{n.Pos(), n.Pos(), text})
}

// fresh returns a name like base that means nothing anywhere in the function.
func (e *editor) fresh(base string) string {
	taken := make(map[string]bool)
	ast.Inspect(e.function, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			taken[name.Name] = true
		}
		return true
	})
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name += strconv.Itoa(n)
		}
		if !taken[name] && e.pkg.Scope().Lookup(name) == nil && types.Universe.Lookup(name) == nil && !e.importsAs(name) {
			return name
		}
	}
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

// packageName returns how the file calls a package that it imports.
func (e *editor) packageName(path string) (string, bool) {
	for _, i := range e.syntax.Imports {
		if value, err := strconv.Unquote(i.Path.Value); err != nil || value != path {
			continue
		}
		if i.Name == nil {
			if of, ok := e.info.Implicits[i].(*types.PkgName); ok {
				return of.Name(), true
			}
		} else if i.Name.Name != "." && i.Name.Name != "_" {
			return i.Name.Name, true
		}
	}
	return "", false
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
		out.Write(content[at:from])
		out.WriteString(c.text)
		at = to
	}
	out.Write(content[at:])
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file.Name(), out.Bytes(), parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, path := range e.imports {
		astutil.AddImport(fset, f, path)
	}
	for _, i := range slices.Clone(f.Imports) {
		path, err := strconv.Unquote(i.Path.Value)
		if err == nil && i.Name == nil && !astutil.UsesImport(f, path) && e.used(path) {
			astutil.DeleteImport(fset, f, path)
		}
	}
	formatted, err := format.Source(content)
	if err != nil || !bytes.Equal(formatted, content) {
		return out.Bytes(), err // formatting would change what is not ours
	}
	out.Reset()
	err = format.Node(&out, fset, f)
	return out.Bytes(), err
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
