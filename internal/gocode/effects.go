package gocode

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// quiet are packages of the standard library whose functions touch nothing but
// what they are given: with made-up arguments they do no harm. Loud ones are
// their exceptions.
var quiet = map[string]bool{
	"bufio": true, "bytes": true, "cmp": true, "errors": true, "fmt": true, "hash": true, "html": true, "io": true, "iter": true,
	"maps": true, "math": true, "net/netip": true, "net/url": true, "path": true, "reflect": true, "regexp": true, "regexp/syntax": true,
	"slices": true, "sort": true, "strconv": true, "strings": true, "sync": true, "sync/atomic": true, "text/tabwriter": true,
	"time": true, "unicode": true, "unsafe": true, "context": true, "net/textproto": true,
}

var quietBelow = []string{"container/", "crypto/", "encoding/", "hash/", "math/", "unicode/"}

var loud = map[string]bool{
	"fmt.Print": true, "fmt.Printf": true, "fmt.Println": true, "fmt.Scan": true, "fmt.Scanf": true, "fmt.Scanln": true,
	"time.Sleep": true, "time.After": true, "time.Tick": true, "time.NewTimer": true, "time.NewTicker": true, "time.AfterFunc": true, "time.LoadLocation": true,
	"crypto/tls": true, "crypto/x509": true,
}

func isQuiet(path string) bool {
	if loud[path] {
		return false
	}
	if quiet[path] || path == "path/filepath" {
		return true
	}
	for _, below := range quietBelow {
		if strings.HasPrefix(path, below) {
			return true
		}
	}
	return false
}

// quietPaths are the functions of path/filepath that look at no file.
var quietPaths = map[string]bool{
	"Base": true, "Clean": true, "Dir": true, "Ext": true, "FromSlash": true, "IsAbs": true, "IsLocal": true, "Join": true, "Match": true,
	"Rel": true, "Split": true, "SplitList": true, "ToSlash": true, "VolumeName": true,
}

// touches says what a function, or one that it calls, does besides working on
// its arguments and the variables of its module; "" where it can be called with
// any arguments without harm to anything outside of the process.
func (s *sources) touches(f *sourceFile, function *ast.FuncDecl) string {
	seen := map[types.Object]bool{f.info.Defs[function.Name]: true}
	return s.touchesIn(f, function.Body, seen)
}

func (s *sources) touchesIn(f *sourceFile, body ast.Node, seen map[types.Object]bool) (why string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if why != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			why = "starts a goroutine"
		case *ast.SendStmt, *ast.SelectStmt:
			why = "waits for others"
		case *ast.Ident:
			if of, ok := f.info.Uses[n].(*types.PkgName); ok && !isQuiet(of.Imported().Path()) && !s.knows(of.Imported()) {
				why = "uses package " + of.Imported().Path()
			}
		case *ast.CallExpr:
			why = s.touchesCall(f, n, seen)
		}
		return why == ""
	})
	return why
}

// knows tells whether a package belongs to what is measured.
func (s *sources) knows(p *types.Package) bool {
	if s.packages == nil {
		s.packages = make(map[string]bool)
		for _, f := range s.files {
			s.packages[f.pkg.Path()] = true
		}
	}
	return s.packages[p.Path()]
}

func (s *sources) touchesCall(f *sourceFile, call *ast.CallExpr, seen map[types.Object]bool) string {
	if tv := f.info.Types[call.Fun]; tv.IsType() || tv.IsBuiltin() {
		return ""
	}
	fun := ast.Unparen(call.Fun)
	if _, literal := fun.(*ast.FuncLit); literal {
		return "" // it is looked at where it stands
	}
	function := f.called(call)
	if function == nil {
		if selector, ok := fun.(*ast.SelectorExpr); ok {
			if selection := f.info.Selections[selector]; selection != nil && isInterface(selection.Recv()) {
				of := types.TypeString(selection.Recv(), nil)
				method := selection.Obj()
				if (of == "error" || method.Pkg() != nil && isQuiet(method.Pkg().Path())) && !f.ofPackage(selector.X) {
					return ""
				}
				return fmt.Sprintf("calls %s, a method of an interface", text(selector))
			}
		}
		if name, ok := fun.(*ast.Ident); ok {
			if v, ok := f.info.Uses[name].(*types.Var); ok && v.Pkg() != nil && v.Parent() != v.Pkg().Scope() {
				return "" // a literal of the function, or one that was made up
			}
		}
		return "calls " + text(fun) + ", a function value"
	}
	if function.Pkg() == nil {
		return "" // error.Error
	}
	path := function.Pkg().Path()
	if path == "path/filepath" && !quietPaths[function.Name()] || loud[path+"."+function.Name()] && function.Signature().Recv() == nil {
		return "calls " + path + "." + function.Name()
	}
	if !s.knows(function.Pkg()) {
		if !isQuiet(path) {
			return "calls " + path + "." + function.Name()
		}
		return ""
	}
	if seen[function] {
		return ""
	}
	seen[function] = true
	body, of := s.bodyOf(function)
	if body == nil {
		return "calls " + function.FullName() + ", which is not known"
	}
	return s.touchesIn(of, body, seen)
}

// ofPackage tells whether an expression begins with a variable of a package.
func (f *sourceFile) ofPackage(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			v, ok := f.info.Uses[name].(*types.Var)
			found = found || ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
		}
		return !found
	})
	return found
}
