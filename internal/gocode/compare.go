package gocode

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// compare runs the changed function and the one before it with the same
// arguments, a thousand times, and returns by what they were compared. What
// cannot be compared so stands on the package's tests alone.
func (f *fixer) compare(r *Rewrite) (string, error) {
	old, err := f.content(r.File)
	if err != nil {
		return "", err
	}
	test, why, err := comparison(r, old)
	if err != nil {
		return "", err
	}
	if test == nil {
		return "its tests (" + why + ")", nil
	}
	beside := filepath.Join(filepath.Dir(r.File), "mallow_compare_test.go")
	overlay, err := f.overlayWith(map[string][]byte{r.File: r.Source, beside: test}, f.plain)
	if err != nil {
		return "", err
	}
	args := slices.Concat([]string{"test", "-count=1", "-timeout=60s", "-run=^TestMallowCompare$", "-overlay", overlay}, f.GoFlags, []string{f.p.ImportPath})
	if err := f.build(args); err != nil {
		return "", fmt.Errorf("compared with the function before: %w", err)
	}
	return fmt.Sprintf("its tests and %d calls with the same arguments", comparedCalls), nil
}

const comparedCalls = 1000

// comparison writes a test that compares a function with what it was. why says
// what stands against it where there is none.
func comparison(r *Rewrite, old []byte) (test []byte, why string, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, r.File, old, parser.SkipObjectResolution)
	if err != nil {
		return nil, "", err
	}
	var function *ast.FuncDecl
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == r.Function && f.Recv == nil {
			if function != nil {
				return nil, "there are several functions " + r.Function, nil
			}
			function = f
		}
	}
	switch {
	case function == nil:
		return nil, "a method has a receiver that cannot be made up", nil
	case function.Type.TypeParams != nil:
		return nil, "it has type parameters", nil
	case function.Type.Results == nil:
		return nil, "it returns nothing", nil
	}
	var parameters []string
	for _, field := range function.Type.Params.List {
		kind := types.ExprString(field.Type)
		if !slices.Contains(madeUp, kind) {
			return nil, "an argument is of type " + kind, nil
		}
		parameters = append(parameters, slices.Repeat([]string{kind}, max(1, len(field.Names)))...)
	}
	results := 0
	for _, field := range function.Type.Results.List {
		results += max(1, len(field.Names))
	}
	const oldName = "mallowBefore"
	function.Name.Name, function.Doc = oldName, nil
	var body bytes.Buffer
	if err := format.Node(&body, fset, function); err != nil {
		return nil, "", err
	}
	var imports []string
	for _, i := range file.Imports {
		spec := i.Path.Value
		if i.Name != nil {
			spec = i.Name.Name + " " + spec
		}
		imports = append(imports, spec)
	}
	var out bytes.Buffer
	err = comparisonTest.Execute(&out, map[string]any{
		"Package": file.Name.Name, "Imports": imports, "Old": body.String(), "Function": r.Function,
		"Parameters": parameters, "Results": slices.Repeat([]struct{}{{}}, results), "Calls": comparedCalls,
	})
	if err != nil {
		return nil, "", err
	}
	cleaned, err := withoutUnusedImports(out.Bytes())
	return cleaned, "", err
}

// madeUp are the types of arguments that can be made up.
var madeUp = []string{
	"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune",
	"bool", "string", "float32", "float64", "[]byte", "[]string", "[]int",
}

func withoutUnusedImports(source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, 0)
	if err != nil {
		return nil, err
	}
	used := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok {
				used[name.Name] = true
			}
		}
		return true
	})
	lines := strings.Split(string(source), "\n")
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		if !used[name] && name != "_" && name != "." {
			lines[fset.Position(i.Pos()).Line-1] = ""
		}
	}
	return []byte(strings.Join(lines, "\n")), nil
}

var comparisonTest = template.Must(template.New("").Parse(`package {{.Package}}

import (
{{range .Imports}}	{{.}}
{{end}}	mallowFmt "fmt"
	mallowRand "math/rand/v2"
	mallowReflect "reflect"
	mallowTesting "testing"
)

{{.Old}}

type mallowArguments struct {
{{range $i, $t := .Parameters}}	a{{$i}} {{$t}}
{{end}}}

func mallowMake(seed uint64) (a mallowArguments) {
	random := mallowRand.New(mallowRand.NewPCG(seed, 1))
	number := func() int64 {
		switch random.IntN(4) {
		case 0:
			return int64(random.IntN(5)) - 1
		case 1:
			return int64(random.IntN(300)) - 20
		case 2:
			return random.Int64N(1 << 16)
		}
		return random.Int64N(1<<20) * (1 - 2*random.Int64N(2))
	}
	words := func() string {
		text := make([]rune, random.IntN(20))
		for i := range text {
			text[i] = []rune("aAbBzZ09 ,.;:=-/\\\"\t\näÄßİ世")[random.IntN(26)]
		}
		return string(text)
	}
	_, _ = number, words
{{range $i, $t := .Parameters}}{{if eq $t "string"}}	a.a{{$i}} = words()
{{else if eq $t "bool"}}	a.a{{$i}} = random.IntN(2) == 0
{{else if eq $t "[]byte"}}	a.a{{$i}} = []byte(words())
{{else if eq $t "[]string"}}	for range random.IntN(6) {
		a.a{{$i}} = append(a.a{{$i}}, words())
	}
{{else if eq $t "[]int"}}	for range random.IntN(12) {
		a.a{{$i}} = append(a.a{{$i}}, int(number()))
	}
{{else}}	a.a{{$i}} = {{$t}}(number())
{{end}}{{end}}	return a
}

func mallowCall(f func(a mallowArguments) []any, seed uint64) (results []any, arguments mallowArguments, panicked string) {
	arguments = mallowMake(seed)
	defer func() {
		if r := recover(); r != nil {
			panicked = mallowFmt.Sprint(r)
		}
	}()
	return f(arguments), arguments, ""
}

func TestMallowCompare(t *mallowTesting.T) {
	before := func(a mallowArguments) []any {
		{{range $i, $r := .Results}}{{if $i}}, {{end}}r{{$i}}{{end}} := mallowBefore({{range $i, $t := .Parameters}}a.a{{$i}}, {{end}})
		return []any{ {{range $i, $r := .Results}}r{{$i}}, {{end}} }
	}
	after := func(a mallowArguments) []any {
		{{range $i, $r := .Results}}{{if $i}}, {{end}}r{{$i}}{{end}} := {{.Function}}({{range $i, $t := .Parameters}}a.a{{$i}}, {{end}})
		return []any{ {{range $i, $r := .Results}}r{{$i}}, {{end}} }
	}
	for seed := range uint64({{.Calls}}) {
		r1, a1, p1 := mallowCall(before, seed)
		r2, a2, p2 := mallowCall(after, seed)
		if !mallowReflect.DeepEqual(r1, r2) || !mallowReflect.DeepEqual(a1, a2) || p1 != p2 {
			t.Fatalf("for %#v: %#v %q instead of %#v %q", mallowMake(seed), r2, p2, r1, p1)
		}
	}
}
`))
