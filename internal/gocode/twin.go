package gocode

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"golang.org/x/perf/benchfmt"
)

// Twin is a function beside one that returns a string, which appends the same
// text to bytes of its caller: with another signature there is nothing left
// that must be allocated. It is a proposal; its figures are those of calls with
// the arguments that the benchmark had.
type Twin struct {
	File     string
	Function string // that there is
	Source   string // of the twin
	// Of one call of the function that there is, and of the twin with room enough.
	AllocsPerCall, TwinAllocsPerCall float64
	NsPerCall, TwinNsPerCall         float64
}

// mostTwins are proposed of a package.
const mostTwins = 3

// twins proposes them for the functions whose string is what remains.
func (f *fixer) twins(now *Benchmark) []Twin {
	if f.Measure != MeasureBenchmark {
		return nil
	}
	var all []Twin
	seen := make(map[*ast.FuncDecl]bool)
	for _, l := range now.Lines {
		if l.Allocs < leastSaved || len(all) == mostTwins {
			break
		}
		source := f.sources.file(l.File)
		if source == nil || filepath.Dir(l.File) != f.p.Dir || strings.HasSuffix(l.File, "_test.go") || ast.IsGenerated(source.syntax) || importsC(source.syntax) {
			continue
		}
		path := f.sources.fset.File(source.syntax.Pos()).Name()
		content, err := f.content(path)
		if err != nil {
			continue
		}
		e := &editor{sourceFile: source, fset: f.sources.fset, content: content}
		function := e.functionAt(l.Line)
		if function == nil || seen[function] {
			continue
		}
		seen[function] = true
		e.function = function
		twin, ok := e.twin(path)
		if !ok {
			continue
		}
		f.o.Progress("measure " + twin.name)
		if err := f.measureTwin(twin); err == nil && twin.AllocsPerCall-twin.TwinAllocsPerCall >= leastSaved {
			all = append(all, twin.Twin)
		}
	}
	return all
}

func (e *editor) functionAt(line int) *ast.FuncDecl {
	for _, d := range e.syntax.Decls {
		function, ok := d.(*ast.FuncDecl)
		if ok && function.Body != nil && e.fset.Position(function.Pos()).Line <= line && line <= e.fset.Position(function.End()).Line {
			return function
		}
	}
	return nil
}

// twinSource is a twin with what is needed to measure it.
type twinSource struct {
	Twin
	name      string
	function  *ast.FuncDecl
	receiver  string   // "" for a function
	fields    []string // name and type of each parameter, the receiver first
	arguments []string
	variadic  bool
	results   int
	content   []byte // of the file
}

// twin writes a twin of the function; false where its form is none for it.
func (e *editor) twin(path string) (*twinSource, bool) {
	function := e.function
	object, ok := e.info.Defs[function.Name].(*types.Func)
	if !ok || ast.IsGenerated(e.syntax) || function.Name.Name == "String" || function.Name.Name == "Error" {
		return nil, false
	}
	signature := object.Signature()
	results := function.Type.Results
	if signature.TypeParams() != nil || signature.RecvTypeParams() != nil || signature.Results().Len() == 0 || len(results.List[0].Names) > 0 ||
		!types.Identical(signature.Results().At(0).Type(), types.Typ[types.String]) {
		return nil, false
	}
	t := &twinSource{function: function, variadic: signature.Variadic(), results: signature.Results().Len(), content: e.content}
	t.name = "Append" + upperFirst(function.Name.Name)
	if !function.Name.IsExported() {
		t.name = "append" + upperFirst(function.Name.Name)
	}
	if e.pkg.Scope().Lookup(t.name) != nil {
		return nil, false // perhaps it is the twin
	}
	if !e.listParameters(t) {
		return nil, false
	}
	dst := e.fresh("dst")
	e.changes = nil
	e.replace(function.Name, t.name)
	parameter := dst + " []byte"
	if len(function.Type.Params.List) > 0 {
		parameter += ", "
	}
	e.insertAt(function.Type.Params.Opening+1, parameter)
	e.replace(results.List[0].Type, "[]byte")
	if !e.returnsAppended(dst) {
		return nil, false
	}
	text, ok := e.changedFunction()
	if !ok {
		return nil, false
	}
	t.Twin = Twin{File: path, Function: function.Name.Name, Source: text}
	return t, true
}

func upperFirst(name string) string {
	for i, r := range name {
		return string(unicode.ToUpper(r)) + name[i+len(string(r)):]
	}
	return name
}

// listParameters notes the function's parameters, all of which must have names.
func (e *editor) listParameters(t *twinSource) bool {
	add := func(list *ast.FieldList) bool {
		for _, field := range list.List {
			if len(field.Names) == 0 {
				return false
			}
			kind := e.source(field.Type)
			if ellipsis, ok := field.Type.(*ast.Ellipsis); ok {
				kind = "[]" + e.source(ellipsis.Elt)
			}
			for _, name := range field.Names {
				if name.Name == "_" {
					return false
				}
				t.fields = append(t.fields, kind)
				t.arguments = append(t.arguments, name.Name)
			}
		}
		return true
	}
	if t.function.Recv != nil {
		if !add(t.function.Recv) {
			return false
		}
		t.receiver = t.arguments[0]
	}
	return add(t.function.Type.Params)
}

// returnsAppended rewrites every return of the function, so that it appends to
// dst what it returned.
func (e *editor) returnsAppended(dst string) bool {
	whole := true
	ast.Inspect(e.function.Body, func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal {
			return false
		}
		returns, ok := n.(*ast.ReturnStmt)
		if !ok {
			return true
		}
		if len(returns.Results) != e.info.Defs[e.function.Name].(*types.Func).Signature().Results().Len() {
			whole = false // it hands on the results of a call
			return false
		}
		e.replace(returns.Results[0], e.appended(dst, returns.Results[0]))
		return false
	})
	return whole
}

// appended writes an expression that appends a string to dst, without making
// the string where there is a way.
func (e *editor) appended(dst string, x ast.Expr) string {
	x = ast.Unparen(x)
	if constant, ok := e.constantText(x); ok && constant == "" {
		return dst
	}
	if parts := operands(x); len(parts) > 1 && !e.isConstant(x) {
		for _, part := range parts {
			dst = e.appended(dst, part)
		}
		return dst
	}
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return "append(" + dst + ", " + e.source(x) + "...)"
	}
	if e.info.Types[call.Fun].IsType() && len(call.Args) == 1 && types.Identical(e.info.TypeOf(call.Args[0]).Underlying(), types.NewSlice(types.Typ[types.Byte])) {
		return "append(" + dst + ", " + e.source(call.Args[0]) + "...)"
	}
	callee := e.callee(call)
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok && len(call.Args) > 0 {
		switch {
		case strings.HasPrefix(callee, "fmt.Sprint"):
			return fmt.Sprintf("%s.Append%s(%s, %s)", e.source(selector.X), strings.TrimPrefix(selector.Sel.Name, "Sprint"), dst, e.argumentText(call))
		case appenders[callee].name != "":
			if appended, ok := e.appending(call, callee, dst); ok {
				return appended
			}
		}
	}
	if of, ok := e.methodOf(call, "String", "bytes.Buffer"); ok {
		return "append(" + dst + ", " + e.source(of) + ".Bytes()...)"
	}
	return "append(" + dst + ", " + e.source(x) + "...)"
}

// changedFunction is the function with the changes, formatted.
func (e *editor) changedFunction() (string, bool) {
	file := e.fset.File(e.syntax.Pos())
	slices.SortStableFunc(e.changes, func(a, b change) int { return int(a.from - b.from) })
	var out bytes.Buffer
	at := file.Offset(e.function.Pos())
	for _, c := range e.changes {
		if file.Offset(c.from) < at {
			return "", false
		}
		out.Write(e.content[at:file.Offset(c.from)])
		out.WriteString(c.text)
		at = file.Offset(c.to)
	}
	out.Write(e.content[at:file.Offset(e.function.End())])
	formatted, err := format.Source(out.Bytes())
	return string(formatted), err == nil
}

//go:embed twin.go.tmpl
var twinTemplate string

var twinCode = template.Must(template.New("").Parse(twinTemplate))

// The benchmarks of a twin and of the function that there is.
const (
	twinBenchmark = "MallowTwin"
	asItIs        = "MallowTwinAsItIs"
)

// measureTwin measures the function and its twin, with the arguments that the
// function has in the benchmark.
func (f *fixer) measureTwin(t *twinSource) error {
	changed, err := f.twinFiles(t)
	if err != nil {
		return err
	}
	trial, err := f.try(changed)
	if err != nil {
		return err
	}
	defer trial.close()
	pattern := Exactly(f.Benchmark) + "|" + Exactly(twinBenchmark) + "|" + Exactly(asItIs)
	o := f.o.BenchmarkOptions
	if err := trial.countTwin(t, pattern, o.TestFlags); err != nil {
		return err
	}
	plain, err := f.overlayWith(changed, f.plain)
	if err != nil {
		return err
	}
	with := *f.Builder
	with.plain = plain
	if err := with.test(trial.tests.stock, f.p.ImportPath, false); err != nil {
		return err
	}
	args := append([]string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchtime=1000x"}, o.TestFlags...)
	out, _, err := trial.tests.run(trial.tests.stock, nil, args)
	if err != nil {
		return err
	}
	for reader := benchfmt.NewReader(bytes.NewReader(out), f.p.ImportPath); reader.Scan(); {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		ns, _ := result.Value("sec/op")
		switch withoutProcessors(result.Name.String()) {
		case twinBenchmark:
			t.TwinNsPerCall = ns * 1e9
		case asItIs:
			t.NsPerCall = ns * 1e9
		}
	}
	return nil
}

// countTwin counts what a call of the function and of its twin allocates, by a
// shorter and a longer run. Where that is no whole number, other goroutines or
// a collection may have had a part in it, which only adds: then a further pair
// of runs has its say, and of either length the least counts.
func (t *trial) countTwin(twin *twinSource, pattern string, flags []string) error {
	const apart, mostPairs = 100, 3
	var least [2]map[string]float64
	per := func(name string) float64 { return (least[1][name] - least[0][name]) / apart }
	for range mostPairs {
		for i, operations := range []int{shortRun, shortRun + apart} {
			now, err := t.countPerBenchmark(pattern, operations, flags)
			if err != nil {
				return err
			}
			if least[i] == nil {
				least[i] = now
			}
			for _, name := range []string{asItIs, twinBenchmark} {
				least[i][name] = min(least[i][name], now[name])
			}
		}
		twin.AllocsPerCall, twin.TwinAllocsPerCall = per(asItIs), per(twinBenchmark)
		if isWhole(twin.AllocsPerCall) && isWhole(twin.TwinAllocsPerCall) {
			break
		}
	}
	return nil
}

func isWhole(x float64) bool { return x == math.Trunc(x) }

// countPerBenchmark counts what is allocated below each of the benchmarks of a
// run of so many operations.
func (t *trial) countPerBenchmark(pattern string, operations int, flags []string) (map[string]float64, error) {
	args := append([]string{"-test.run=^$", "-test.bench=" + pattern, fmt.Sprintf("-test.benchtime=%dx", operations)}, flags...)
	counted, err := t.tests.counted(args, nil)
	if err != nil {
		return nil, err
	}
	all := make(map[string]float64)
	for _, s := range counted.stacks {
		checks := slices.ContainsFunc(s.Frames, func(f Frame) bool { return strings.HasSuffix(f.Function, ".MallowSame") })
		if s.OfRuntime() || s.OfTesting() || checks {
			continue
		}
		for i := range s.Frames {
			if _, name, ok := strings.Cut(s.Frames[i].Function, ".Benchmark"); ok {
				all[name] += s.Allocs
				break
			}
		}
	}
	return all, nil
}

// twinFiles are the files that a twin is measured with: that of the function,
// with the twin and with a note of the arguments that the function is called
// with, and a test file with the benchmarks.
func (f *fixer) twinFiles(t *twinSource) (map[string][]byte, error) {
	fields := slices.Clone(t.fields)
	arguments := make([]string, len(t.arguments))
	for i := range arguments {
		arguments[i] = fmt.Sprint("c.a", i)
	}
	receiver := ""
	if t.receiver != "" {
		receiver = arguments[0] + "."
		arguments = arguments[1:]
	}
	list := strings.Join(arguments, ", ")
	if t.variadic {
		list += "..."
	}
	values := map[string]any{
		"Function": receiver + t.function.Name.Name, "Twin": receiver + t.name, "Fields": fields, "Arguments": list,
		"Noted": strings.Join(t.arguments, ", "), "Others": strings.Repeat(", _", t.results-1), "Source": t.Source, "Package": "", "Import": "",
	}
	var beside bytes.Buffer
	if err := twinCode.ExecuteTemplate(&beside, "code", values); err != nil {
		return nil, err
	}
	// The function notes its arguments when it is called.
	source := f.sources.file(t.File)
	file := f.sources.fset.File(source.syntax.Pos())
	at := file.Offset(t.function.Body.Lbrace) + 1
	var noted bytes.Buffer
	noted.Write(t.content[:at])
	fmt.Fprintf(&noted, " mallowNote(mallowCall{%s}); ", values["Noted"])
	noted.Write(t.content[at:])
	noted.Write(beside.Bytes())

	values["Package"], values["Import"] = source.syntax.Name.Name, ""
	if slices.Contains(f.p.XTestGoFiles, f.benchmarkFile()) {
		values["Package"], values["Import"] = source.syntax.Name.Name+"_test", f.p.ImportPath
	}
	var test bytes.Buffer
	if err := twinCode.ExecuteTemplate(&test, "test", values); err != nil {
		return nil, err
	}
	return map[string][]byte{
		t.File: noted.Bytes(),
		filepath.Join(f.p.Dir, "zzz_mallow_twin_test.go"): test.Bytes(), // behind all others
	}, nil
}

// benchmarkFile is the name of the test file that has the benchmark.
func (f *fixer) benchmarkFile() string {
	name, _, _ := strings.Cut(f.Benchmark, "/")
	for path, source := range f.sources.files {
		if filepath.Dir(path) != f.p.Dir || !strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, d := range source.syntax.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Name.Name == "Benchmark"+name {
				return filepath.Base(path)
			}
		}
	}
	return ""
}
