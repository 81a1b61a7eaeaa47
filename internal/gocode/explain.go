package gocode

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reason is why a line allocates and what could be done about it.
type Reason struct {
	Why    string // one sentence
	Remedy string // one sentence, "" where there is nothing to say
	Rule   string // name of the manual page of the remedy, "" for none
	// Fix is what mallow go fix would try here, "" for nothing.
	Fix string
	// Flow are the compiler's own words for why a value goes to the heap.
	Flow []string
}

// subject is a line as the rules see it.
type subject struct {
	line    *Line
	sources *sources
	escapes []Escape
	// generated files are rewritten, too, to see what could be done.
	generated bool
}

// rule finds out whether a line is an example of something.
type rule struct {
	name string
	find func(s *subject) (why, remedy string, found bool)
}

// Rules are the names of all rules; each has a manual page.
func Rules() []string {
	var names []string
	for _, r := range rules {
		if !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	return names
}

// rules are in the order of their remedies: avoid, reuse, one block for many.
// The first that finds something has the word.
var rules = []rule{
	{"hoist-call", findInvariantCall},
	{"constant", findConstant},
	{"constant-error", findConstantError},
	{"compile-once", findCompileInFunction},
	{"lazy", findLazy},
	{"stream", findStream},
	{"reuse", findCopy},
	{"append-capacity", findAppendGrowth},
	{"map-capacity", findMapGrowth},
	{"buffer-capacity", findBufferGrowth},
	{"cut", findCallee("cut")},
	{"equal-fold", findFold},
	{"format", findCallee("format")},
	{"stream", findCallee("stream")},
	{"cache", findCallee("cache")},
	{"pool", findCallee("pool")},
	{"reuse", findCallee("reuse")},
	{"library", findLibrary},
	{"library", findScanned},
	{"boxing", findLogged},
	{"conversion", findConversion},
	{"conversion", findCallee("conversion")},
	{"join-strings", findConcatenation},
	{"callee", findColdCallee},
	{"variadic", findVariadic},
	{"boxing", findBoxing},
	{"pool", findPooled},
	{"closure", findStarted},
	{"closure", findDeferred},
	{"closure", findClosure},
	{"scratch", findScratch},
	{"pool", findLarge},
	{"reuse", findMoved},
	{"slab", findSlab},
	{"value", findSmall},
	{"slab", findMany},
	{"pointer", findPointer},
	{"reuse", findMadeInLoop},
	{"size", findSize},
}

// understand reads the source of packages of the module that is measured, and
// what the compiler says of them when it compiles them, with their tests or
// without. What cannot be had is not known then: the figures stand without it.
func (b *Builder) understand(patterns []string, tests bool) (*sources, escapes) {
	e, _ := b.diagnose(ownModules(), patterns, tests)
	s := b.loadSources(patterns, nil)
	s.follower = &follower{Builder: b, known: make(map[string]leaks)}
	return s, e
}

// explain gives lines their reasons.
func explain(lines []*Line, s *sources, e escapes) {
	for _, l := range lines {
		if l.C {
			continue
		}
		sub := &subject{line: l, sources: s, escapes: madeBy(l.Callee, e.at(l.File, l.Line))}
		sub.follow()
		l.Reason = sub.reason()
	}
}

// madeBy returns those of the values of a line that go to the heap that a
// function of the runtime makes, and all where it seems to make none.
func madeBy(callee string, all []Escape) []Escape {
	makes := strings.HasPrefix(callee, "runtime.make")
	others := func(e Escape) bool { return strings.HasPrefix(e.Message, "make(") != makes }
	if fit := slices.DeleteFunc(slices.Clone(all), others); len(fit) > 0 {
		return fit
	}
	return all
}

// announce says of lines that allocate so much at least what mallow go fix would
// try with them.
func announce(lines []*Line, s *sources, least float64) {
	if s == nil {
		return
	}
	contents := make(map[string][]byte)
	read := func(path string) (content []byte, err error) {
		if contents[path] == nil {
			contents[path], err = os.ReadFile(path)
		}
		return contents[path], err
	}
	for _, l := range lines {
		if l.Allocs < least || l.initializes() || s.rewritable(l) == nil {
			continue
		}
		all := (&subject{line: l, sources: s}).rewrites(read)
		at := slices.IndexFunc(all, func(r *Rewrite) bool { return r.Rule == l.Rule })
		if at < 0 && (len(all) == 0 || strings.HasSuffix(l.Rule, "-capacity")) {
			continue // what grows does so whatever else of the line is changed
		}
		fix := all[max(0, at)]
		l.Fix = fix.Title
		if l.Rule != fix.Rule {
			l.Remedy, l.Rule = fix.Title, fix.Rule
		}
	}
}

// follow finds out what functions do with the values that escape because they
// are arguments.
func (s *subject) follow() {
	if s.sources == nil || s.sources.follower == nil || !s.ofCompiler() {
		return
	}
	for i := range s.escapes {
		s.escapes[i].beyond = s.sources.follower.follow(&s.escapes[i], s.sources)
	}
}

func (s *subject) reason() Reason {
	var r Reason
	for i := range s.escapes {
		for _, step := range s.escapes[i].Flow {
			r.Flow = append(r.Flow, step.Text)
		}
		for w := s.escapes[i].beyond; w != nil; w = w.next {
			for _, step := range w.flow {
				r.Flow = append(r.Flow, fmt.Sprintf("in %s, %s:%d: %s", ShortFunction(w.function), filepath.Base(step.File), step.Line, step.Text))
			}
		}
	}
	if s.line.initializes() {
		r.Why = "it is made once, before main, for a variable of the package"
		return r
	}
	for _, rule := range rules {
		why, remedy, found := rule.find(s)
		if !found {
			continue
		}
		r.Why = why
		if remedy != "" && !s.isGenerated() {
			r.Remedy, r.Rule = remedy, rule.name
		}
		return r
	}
	switch {
	case len(s.escapes) > 0 && s.ofCompiler():
		r.Why = s.escapes[0].reason()
	case s.line.Callee != "" && !s.ofCompiler():
		r.Why = shortName(s.line.Callee) + " allocates what it returns or needs"
	}
	return r
}

// initializes tells whether the line gives variables of a package their values.
func (l *Line) initializes() bool {
	_, name := cutPackage(l.Function)
	return name == "init" || strings.HasPrefix(name, "map.init.")
}

// isGenerated tells whether the line stands in a file that is generated: what
// generates it would have to change.
func (s *subject) isGenerated() bool {
	f := s.sources.file(s.line.File)
	return f != nil && ast.IsGenerated(f.syntax)
}

// ofCompiler tells whether the line itself allocates, by what the compiler
// put there.
func (s *subject) ofCompiler() bool {
	return s.line.Callee == "" || packageOf(s.line.Callee) == "runtime"
}

// calls are those of the function that the line calls.
func (s *subject) calls() []spot {
	if s.ofCompiler() {
		return nil
	}
	return s.sources.calls(s.line.File, s.line.Line, withoutArguments(s.line.Callee))
}

// builtins are the calls of a function of the language on the line.
func (s *subject) builtins(name string) []spot {
	return s.sources.spots(s.line.File, s.line.Line, func(f *sourceFile, e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && f.info.Types[call.Fun].IsBuiltin() && text(call.Fun) == name
	})
}

// withoutArguments takes type arguments out of a function's name.
func withoutArguments(function string) string {
	var name strings.Builder
	depth := 0
	for _, c := range []byte(function) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			name.WriteByte(c)
		}
	}
	return name.String()
}

// WithoutShapes writes "[...]" for type arguments that only the compiler knows,
// as the runtime's stack traces do, and "..." for types that they make.
func WithoutShapes(text string) string {
	text = strings.ReplaceAll(text, "<node DYNAMICTYPE>", "...")
	for {
		begin := strings.Index(text, "[go.shape.")
		if begin < 0 {
			return text
		}
		depth, end := 0, len(text)
		for i := begin; i < len(text) && end == len(text); i++ {
			switch text[i] {
			case '[':
				depth++
			case ']':
				if depth--; depth == 0 {
					end = i + 1
				}
			}
		}
		text = text[:begin] + "[...]" + text[end:]
	}
}

// LongFunction is how texts call a function by its package's whole path:
// "gopkg.in/yaml.v3.(*Node).Decode".
func LongFunction(symbol string) string {
	pkg, name := cutPackage(WithoutShapes(symbol))
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}

// ShortFunction leaves the path of the package out: "main.foo",
// "bytes.(*Buffer).Write".
func ShortFunction(symbol string) string {
	name := LongFunction(symbol)
	short := name[strings.LastIndexByte(withoutArguments(name), '/')+1:]
	if _, called, ok := strings.Cut(short, "._Cfunc_"); ok {
		return "C." + strings.ReplaceAll(called, "_CMalloc", "malloc") // as the source has it
	}
	return short
}

// shortName leaves type arguments out, too.
func shortName(function string) string { return ShortFunction(withoutArguments(function)) }
