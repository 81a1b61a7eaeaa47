package gocode

import (
	"go/ast"
	"go/token"
	"testing"
)

// Bodies are left out where nobody asks for them, and nowhere else.
func TestBodies(t *testing.T) {
	const source = "package p\n\nfunc F() int { return 1 }\n\nvar V = func() int { return 2 }()\n"
	for _, c := range []struct {
		path, module, work string
		kept               bool
	}{
		{path: "/go/src/fmt/print.go", module: "/module/go.mod"},
		{path: "/cache/example.org@v1.0.0/a.go", module: "/module/go.mod"},
		{path: "/module/a.go", module: "/module/go.mod", kept: true},
		{path: "/module/vendor/example.org/a.go", module: "/module/go.mod", kept: true},
		{path: "/go/src/fmt/print.go", module: "/go/src/go.mod", kept: true},
		{path: "/cache/example.org@v1.0.0/a.go", module: "/cache/example.org@v1.0.0/go.mod", kept: true},
		{path: "/cache/example.org@v1.0.0/a.go", work: "/cache/example.org@v1.0.0/go.work", kept: true},
		{path: "/module/a.go", module: "/dev/null", kept: true},
	} {
		b := &Builder{Toolchain: &Toolchain{Root: "/go", modules: "/cache", Module: c.module, Work: c.work}}
		file, err := b.parse(token.NewFileSet(), c.path, []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if kept := file.Decls[0].(*ast.FuncDecl).Body != nil; kept != c.kept {
			t.Errorf("%s of %s%s: body kept: %t", c.path, c.module, c.work, kept)
		}
		literal := file.Decls[1].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.CallExpr).Fun.(*ast.FuncLit)
		if len(literal.Body.List) != 1 {
			t.Errorf("%s: a variable's type may come from a function literal, which has no body", c.path)
		}
	}
}
