package gocode

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// sources are the packages of the module that is measured, with types.
type sources struct {
	files sourceFiles
	// beyond are files of packages that those import, of other modules and of Go
	// itself, as far as they were asked for.
	beyond sourceFiles
	fset   *token.FileSet
	// errorsCompared is not nil once it is known.
	errorsCompared *bool
	// packages are the import paths of the files, nil until they are known.
	packages map[string]bool
	// follower looks into functions that are called; nil: nobody does.
	follower *follower
}

// sourceFiles are by absolute path.
type sourceFiles map[string]*sourceFile

func (all sourceFiles) add(p *packages.Package, fset *token.FileSet) {
	for _, f := range p.Syntax {
		path := fset.File(f.Pos()).Name()
		if all[path] == nil {
			all[path] = &sourceFile{f, p.TypesInfo, p.Types}
		}
	}
}

type sourceFile struct {
	syntax *ast.File
	info   *types.Info
	pkg    *types.Package
}

// qualifier names packages as the file does.
func (f *sourceFile) qualifier(p *types.Package) string {
	if p == f.pkg {
		return ""
	}
	if name, ok := f.packageName(p.Path()); ok {
		return name
	}
	return p.Name()
}

// packageName returns how the file calls a package that it imports.
func (f *sourceFile) packageName(path string) (string, bool) {
	for _, i := range f.syntax.Imports {
		if value, err := strconv.Unquote(i.Path.Value); err != nil || value != path {
			continue
		}
		if i.Name == nil {
			if of, ok := f.info.Implicits[i].(*types.PkgName); ok {
				return of.Name(), true
			}
		} else if i.Name.Name != "." && i.Name.Name != "_" {
			return i.Name.Name, true
		}
	}
	return "", false
}

// loadSources reads packages and their tests. What does not load is left out:
// nothing can be said of it then. changed are files that have another content
// than on the disk.
func (b *Builder) loadSources(patterns []string, changed map[string][]byte) *sources {
	fset := token.NewFileSet()
	config := &packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule | packages.NeedDeps,
		Fset:       fset,
		Tests:      true,
		BuildFlags: b.GoFlags,
		Overlay:    changed,
		ParseFile:  b.parse,
	}
	s := &sources{files: make(sourceFiles), beyond: make(sourceFiles), fset: fset}
	all, err := packages.Load(config, patterns...)
	if err != nil {
		return s
	}
	packages.Visit(all, nil, func(p *packages.Package) {
		if p.Module != nil && !p.Module.Main || p.TypesInfo == nil || p.Module == nil && p.PkgPath != "command-line-arguments" {
			return
		}
		s.files.add(p, fset)
	})
	return s
}

// parse reads a file. Of Go's own packages and of modules that were fetched only
// the declarations are kept: nobody asks for the bodies of their functions here,
// and to check the types in them takes longer than all the rest. Imports that then
// seem unused, and generic functions without a body, are errors of packages whose
// errors nobody reads.
func (b *Builder) parse(fset *token.FileSet, path string, content []byte) (*ast.File, error) {
	if !b.foreign(path) {
		return parser.ParseFile(fset, path, content, parser.AllErrors|parser.ParseComments)
	}
	file, err := parser.ParseFile(fset, path, content, parser.AllErrors|parser.SkipObjectResolution)
	if file != nil {
		for _, d := range file.Decls {
			if function, ok := d.(*ast.FuncDecl); ok {
				function.Body = nil
			}
		}
	}
	return file, err
}

// foreign tells whether a file is Go's own or of the module cache, and what is
// measured is neither.
func (t *Toolchain) foreign(path string) bool {
	for _, folder := range []string{t.Root, t.modules} {
		if inside(path, folder) {
			return !inside(filepath.Dir(t.Module), folder) && !inside(filepath.Dir(t.Work), folder)
		}
	}
	return false
}

// spot is an expression on a line, with all that is around it, outwards.
type spot struct {
	*sourceFile
	fset *token.FileSet
	expr ast.Expr
	path []ast.Node // path[0] is expr
}

// file returns the source of a file, nil where it is not known.
func (s *sources) file(path string) *sourceFile {
	if f := s.files[path]; f != nil {
		return f
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	return s.files[absolute]
}

// loadBeyond reads another module's package, or one of Go itself, unless it was
// read already.
func (b *Builder) loadBeyond(s *sources, path string) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Fset: s.fset, BuildFlags: b.GoFlags,
	}, path)
	if err != nil {
		return
	}
	for _, p := range all {
		if p.TypesInfo != nil {
			s.beyond.add(p, s.fset)
		}
	}
}

// spots returns the expressions on a line that accept takes.
func (s *sources) spots(file string, line int, accept func(*sourceFile, ast.Expr) bool) []spot {
	return s.spotsOf(s.file(file), line, accept)
}

func (s *sources) spotsOf(f *sourceFile, line int, accept func(*sourceFile, ast.Expr) bool) []spot {
	return s.spotsAcross(f, line, func(f *sourceFile, e ast.Expr) bool { return s.lineOf(e) == line && accept(f, e) })
}

// receivers returns the calls that may have an argument on a line: those that
// stand there, then those that began before, the innermost first.
func (s *sources) receivers(file string, line int) []spot {
	calls := s.spots(file, line, isCall)
	began := s.spotsAcross(s.file(file), line, func(_ *sourceFile, e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && s.lineOf(e) < line && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return s.lineOf(a) == line })
	})
	slices.Reverse(began)
	return append(calls, began...)
}

// spotsAcross returns accepted expressions of which a part is on a line.
func (s *sources) spotsAcross(f *sourceFile, line int, accept func(*sourceFile, ast.Expr) bool) []spot {
	if f == nil {
		return nil
	}
	var found []spot
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		if s.fset.Position(n.Pos()).Line > line || s.fset.Position(n.End()).Line < line {
			return false
		}
		if e, ok := n.(ast.Expr); ok && accept(f, e) {
			path, _ := astutil.PathEnclosingInterval(f.syntax, e.Pos(), e.End())
			for len(path) > 0 && path[0] != n {
				path = path[1:]
			}
			found = append(found, spot{f, s.fset, e, path})
		}
		return true
	})
	return found
}

// lineOf is the line that the compiler gives an expression: of a call that of
// its bracket, of an operation that of its operator.
func (s *sources) lineOf(e ast.Expr) int {
	at := e.Pos()
	switch e := e.(type) {
	case *ast.CallExpr:
		at = e.Lparen
		if selector, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
			at = selector.Sel.Pos()
		}
	case *ast.BinaryExpr:
		at = e.OpPos
	}
	return s.fset.Position(at).Line
}

// calls returns the calls of a function on a line.
func (s *sources) calls(file string, line int, callee string) []spot {
	return s.spots(file, line, func(f *sourceFile, e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && f.callee(call) == callee
	})
}

// callee returns the function that a call names, as symbols of programs have
// it: "strconv.Itoa", "bytes.(*Buffer).Write"; "" for what is none.
func (f *sourceFile) callee(call *ast.CallExpr) string {
	var name *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name = fun.Sel
	default:
		return ""
	}
	function, ok := f.info.Uses[name].(*types.Func)
	if !ok || function.Pkg() == nil {
		return ""
	}
	receiver := function.Signature().Recv()
	if receiver == nil {
		return function.Pkg().Path() + "." + function.Name()
	}
	of, pointer := receiver.Type(), false
	if p, ok := of.(*types.Pointer); ok {
		of, pointer = p.Elem(), true
	}
	named, ok := of.(*types.Named)
	switch {
	case !ok:
		return ""
	case pointer:
		return function.Pkg().Path() + ".(*" + named.Obj().Name() + ")." + function.Name()
	}
	return function.Pkg().Path() + "." + named.Obj().Name() + "." + function.Name()
}

// loop returns the innermost loop around the spot within its function, nil for
// none. What stands in the head of a loop and is done once is not in it.
func (s *spot) loop() ast.Stmt {
	for i, n := range s.path {
		var statements []ast.Stmt
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if isTurn(n.(ast.Stmt), s.path[:i]) {
				return n.(ast.Stmt)
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return nil
		case *ast.BlockStmt:
			statements = n.List
		case *ast.CaseClause:
			statements = n.Body
		case *ast.CommClause:
			statements = n.Body
		}
		if endsFunction(statements) && !continues(statements) {
			return nil // whatever loops are around: it is done once
		}
	}
	return nil
}

// continues tells whether statements may go on with the next turn of a loop.
func continues(statements []ast.Stmt) (found bool) {
	for _, statement := range statements {
		ast.Inspect(statement, func(n ast.Node) bool {
			branch, ok := n.(*ast.BranchStmt)
			found = found || ok && (branch.Tok == token.CONTINUE || branch.Tok == token.GOTO)
			return !found
		})
	}
	return found
}

// isTurn tells whether a part of a loop, with all up to the loop, is done in
// every turn of it.
func isTurn(loop ast.Stmt, part []ast.Node) bool {
	if len(part) == 0 {
		return true
	}
	switch last := part[len(part)-1]; loop := loop.(type) {
	case *ast.ForStmt:
		return last != ast.Node(loop.Init)
	case *ast.RangeStmt:
		return last != ast.Node(loop.X)
	}
	return false
}

// function returns the body of the function around the spot.
func (s *spot) function() *ast.BlockStmt {
	for _, n := range s.path {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Body
		case *ast.FuncLit:
			return n.Body
		}
	}
	return nil
}

// text is the source of a node, on one line: to be read, not to be compiled.
func text(n ast.Expr) string { return strings.ReplaceAll(types.ExprString(n), "\n", `\n`) }

// isConstant tells whether the compiler knows the value.
func (f *sourceFile) isConstant(e ast.Expr) bool {
	return f.info.Types[e].Value != nil
}

// varies tells whether an expression may have another value in the next turn
// of a loop. Only names of variables of the function that nothing assigns to
// within the loop, and whose address nothing in the function takes, are said
// not to vary, and what is made of those by operators and conversions.
func (s *spot) varies(e ast.Expr, loop ast.Stmt) bool {
	varies := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			switch object := s.info.Uses[n].(type) {
			case *types.Var:
				varies = varies || object.IsField() || object.Parent() == nil || object.Parent() == object.Pkg().Scope() ||
					object.Pos() >= loop.Pos() && object.Pos() < loop.End() || s.changes(object, loop)
			case *types.Const, *types.TypeName, *types.Nil, *types.Builtin, *types.PkgName:
			default:
				varies = true
			}
		case *ast.CallExpr:
			if tv := s.info.Types[n.Fun]; !tv.IsType() {
				varies = true
			}
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr, *ast.FuncLit, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.CompositeLit:
			varies = true
		case *ast.UnaryExpr:
			varies = varies || n.Op == token.AND || n.Op == token.ARROW
		}
		return !varies
	})
	return varies
}

// turns returns how many turns a loop makes, as source, where that can be said
// by a name or a number.
func (s *spot) turns(loop ast.Stmt) (string, bool) {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		switch t := s.info.TypeOf(loop.X).Underlying().(type) {
		case *types.Slice, *types.Array, *types.Map:
			return "len(" + text(loop.X) + ")", simple(loop.X)
		case *types.Basic:
			if t.Info()&types.IsInteger != 0 {
				return text(loop.X), s.isConstant(loop.X) || simple(loop.X) || isConversionOrLen(loop.X, s.sourceFile)
			}
			if t.Info()&types.IsString != 0 {
				return "len(" + text(loop.X) + ")", simple(loop.X)
			}
		}
	case *ast.ForStmt:
		return s.countedTurns(loop)
	}
	return "", false
}

// countedTurns are those of for i := low; i < high; i++.
func (s *spot) countedTurns(loop *ast.ForStmt) (string, bool) {
	begin, begins := loop.Init.(*ast.AssignStmt)
	condition, ends := loop.Cond.(*ast.BinaryExpr)
	step, counts := loop.Post.(*ast.IncDecStmt)
	if !begins || !ends || !counts || step.Tok != token.INC || condition.Op != token.LSS && condition.Op != token.LEQ || len(begin.Lhs) != 1 || len(begin.Rhs) != 1 {
		return "", false
	}
	counter, low, high := text(step.X), begin.Rhs[0], condition.Y
	known := func(e ast.Expr) bool { return s.isConstant(e) || simple(e) || isConversionOrLen(e, s.sourceFile) }
	if text(begin.Lhs[0]) != counter || text(condition.X) != counter || !known(low) || strings.Contains(text(high), "(") && !known(high) {
		return "", false
	}
	first, constant := s.constantNumber(low)
	turns := text(high)
	if condition.Op == token.LEQ {
		first--
	}
	if _, composed := high.(*ast.BinaryExpr); composed && (!constant || first != 0) {
		turns = "(" + turns + ")"
	}
	switch {
	// There may be none: make and slices.Grow panic at less than no room.
	case !constant && condition.Op == token.LEQ:
		turns = "max(0, " + turns + " - " + text(low) + " + 1)"
	case !constant:
		turns = "max(0, " + turns + " - " + text(low) + ")"
	case first > 0:
		turns = fmt.Sprintf("max(0, %s - %d)", turns, first)
	case first < 0:
		turns = fmt.Sprintf("%s + %d", turns, -first)
	}
	return turns, true
}

func simple(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return simple(e.X)
	}
	return false
}

func isConversionOrLen(e ast.Expr, f *sourceFile) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	tv := f.info.Types[call.Fun]
	return tv.IsType() || tv.IsBuiltin() && text(call.Fun) == "len"
}
