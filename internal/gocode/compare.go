package gocode

import (
	"bytes"
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// comparedCalls of the changed function are compared with the one before it.
const comparedCalls = 1000

// compare runs the changed function and the one before it with the same
// arguments, a thousand times, and returns by what they were compared. What
// cannot be compared so stands on the package's tests alone.
func (f *fixer) compare(r *Rewrite) (string, error) {
	tests, why, err := comparison(f.sources, r)
	if err != nil {
		return "", err
	}
	switch {
	case tests == nil && r.function == nil:
		return f.provenBy(), nil
	case tests == nil:
		return f.provenBy() + " (" + why + ")", nil
	}
	changed := map[string][]byte{r.File: r.Source}
	for name, content := range tests {
		changed[filepath.Join(filepath.Dir(r.File), name)] = content
	}
	overlay, err := f.overlayWith(changed, f.plain)
	if err != nil {
		return "", err
	}
	result := filepath.Join(f.folder, "compared")
	if err := os.RemoveAll(result); err != nil {
		return "", err
	}
	args := slices.Concat([]string{"test", "-count=1", "-vet=off", "-timeout=180s", "-run=^TestMallowCompare$", "-overlay", overlay}, f.GoFlags,
		[]string{r.of.pkg.Path(), "-mallow-compare=" + result}) // what follows the package is for the test's executable
	if err := f.build("compared with the function before", args); err != nil {
		return "", err
	}
	compared, err := os.ReadFile(result)
	if err != nil {
		return "", err
	}
	words := string(compared)
	if strings.HasPrefix(words, "0 ") {
		return f.provenBy() + " (with made-up arguments it does not do the same twice)", nil
	}
	return f.provenBy() + " and " + words, nil
}

// comparison writes a test that compares a function with what it was, by file:
// the function is in one of its own, for it is of the version of Go that the
// module is written for. why says what stands against it where there is none.
func comparison(s *sources, r *Rewrite) (tests map[string][]byte, why string, err error) {
	function := r.function
	if function == nil {
		return nil, "the text of no function changes", nil
	}
	object, ok := r.of.info.Defs[function.Name].(*types.Func)
	if !ok {
		return nil, "it is not known", nil
	}
	signature := object.Signature()
	if signature.TypeParams() != nil || signature.RecvTypeParams() != nil {
		return nil, "it has type parameters", nil
	}
	if function.Recv == nil && (function.Name.Name == "init" || function.Name.Name == "main") {
		return nil, "it is called by nobody", nil
	}
	var values []types.Type
	if signature.Recv() != nil {
		values = append(values, signature.Recv().Type())
	}
	observed := signature.Results().Len() > 0
	for i := range signature.Params().Len() {
		values = append(values, signature.Params().At(i).Type())
	}
	for _, t := range values {
		if what := unmakeable(t, r.of.pkg, 0); what != "" {
			return nil, "no " + what + " can be made up", nil
		}
		observed = observed || refersTo(t)
	}
	if !observed {
		return nil, "it returns nothing", nil
	}
	if what := s.touches(r.of, function); what != "" {
		return nil, "it " + what, nil
	}
	const oldName = "mallowBefore"
	file := s.fset.File(r.of.syntax.Pos())
	begin, end := file.Offset(function.Pos()), file.Offset(function.End())
	name := file.Offset(function.Name.Pos())
	old := string(r.before[begin:name]) + oldName + string(r.before[name+len(function.Name.Name):end])
	before, after := oldName, function.Name.Name
	if signature.Recv() != nil {
		receiver := "(" + types.TypeString(signature.Recv().Type(), func(*types.Package) string { return "" }) + ")."
		before, after = receiver+before, receiver+after
	}
	var imports []string
	for _, i := range r.of.syntax.Imports {
		spec := i.Path.Value
		if i.Name != nil {
			spec = i.Name.Name + " " + spec
		}
		imports = append(imports, spec)
	}
	of := map[string]any{
		"Package": r.of.syntax.Name.Name, "Imports": imports, "Old": old, "Before": before, "After": after, "Calls": comparedCalls,
		"Words": words(function),
	}
	tests = make(map[string][]byte)
	for part, name := range map[string]string{"before": "mallow_before_test.go", "compare": "mallow_compare_test.go"} {
		var out bytes.Buffer
		if err := comparisonTest.ExecuteTemplate(&out, part, of); err != nil {
			return nil, "", err
		}
		if tests[name], err = withoutUnusedImports(r.of, out.Bytes()); err != nil {
			return nil, "", err
		}
	}
	return tests, "", nil
}

// words are the texts that stand in a function: arguments that are made of
// them come to more of its branches.
func words(function *ast.FuncDecl) []string {
	var all []string
	ast.Inspect(function, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && len(literal.Value) < 40 && !slices.Contains(all, literal.Value) {
			all = append(all, literal.Value)
		}
		return true
	})
	return all
}

// madeInterfaces are those for which the test has a value.
var madeInterfaces = regexp.MustCompile(`^(any|interface\{\}|error|io\.(Reader|Writer|StringWriter|ByteReader|ByteWriter|RuneReader|RuneScanner|ByteScanner|ReadWriter)|fmt\.Stringer|context\.Context)$`)

// deepest values are nested so often; deeper ones are nil.
const deepest = 3

// unmakeable names what of a type cannot be made up, "" for nothing.
func unmakeable(t types.Type, pkg *types.Package, depth int) string {
	name := types.TypeString(t, nil)
	if depth > deepest {
		return ""
	}
	named, _ := types.Unalias(t).(*types.Named)
	switch name {
	case "bytes.Buffer", "strings.Builder", "time.Time", "sync.Mutex", "sync.RWMutex", "strings.Reader", "bytes.Reader", "math/big.Int":
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr {
			return name
		}
		return ""
	case *types.Slice:
		return unmakeable(u.Elem(), pkg, depth+1)
	case *types.Array:
		return unmakeable(u.Elem(), pkg, depth+1)
	case *types.Pointer:
		return unmakeable(u.Elem(), pkg, depth+1)
	case *types.Map:
		if what := unmakeable(u.Key(), pkg, depth+1); what != "" {
			return what
		}
		return unmakeable(u.Elem(), pkg, depth+1)
	case *types.Interface:
		if madeInterfaces.MatchString(name) || depth > 1 {
			return "" // within others it is nil
		}
		return name
	case *types.Struct:
		for i := range u.NumFields() {
			field := u.Field(i)
			if !field.Exported() && (named == nil || named.Obj().Pkg() != pkg) {
				return name
			}
			if what := unmakeable(field.Type(), pkg, depth+1); what != "" {
				return what
			}
		}
		return ""
	}
	return name
}

// refersTo tells whether a function can change something for its caller
// through a value of a type.
func refersTo(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	}
	return false
}

// withoutUnusedImports drops the imports of a test that nothing in it uses: it
// has one function of the file of which it has the imports.
func withoutUnusedImports(of *sourceFile, source []byte) ([]byte, error) {
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
	names := make(map[string]string) // of packages whose name is not the end of their path
	for _, i := range of.syntax.Imports {
		if p, ok := of.info.Implicits[i].(*types.PkgName); ok {
			names[i.Path.Value] = p.Name()
		}
	}
	lines := strings.Split(string(source), "\n")
	for _, i := range file.Imports {
		name := names[i.Path.Value]
		if i.Name != nil {
			name = i.Name.Name
		}
		if !used[name] && name != "." {
			lines[fset.Position(i.Pos()).Line-1] = ""
		}
	}
	return []byte(strings.Join(lines, "\n")), nil
}

//go:embed compare.go.tmpl
var comparisonSource string

var comparisonTest = template.Must(template.New("").Parse(comparisonSource))
