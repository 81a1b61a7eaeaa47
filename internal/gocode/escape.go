package gocode

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Escape is what the compiler says of a value that it puts on the heap.
type Escape struct {
	File         string
	Line, Column int
	Message      string // such as "&x escapes to heap"
	Flow         []Step // how it comes to outlive its function
	// Inlined are the places of the value in functions that are inlined here, the
	// innermost last.
	Inlined []Step
	// beyond is what the function does that it is an argument of; nil where that
	// is not known.
	beyond *beyond
}

// Step is one step of an escape: Text is the compiler's.
type Step struct {
	File         string
	Line, Column int
	Text         string
}

// escapes are by file and line.
type escapes map[string]map[int][]Escape

// Note is what the compiler says of a line: a value that goes to the heap.
type Note struct {
	File string
	Line int
	Why  string   // one sentence
	Flow []string // the compiler's own words
}

// notes are by file and line.
func (e escapes) notes() []Note {
	var all []Note
	for _, lines := range e {
		for _, escapes := range lines {
			for i := range escapes {
				n := Note{File: escapes[i].File, Line: escapes[i].Line, Why: escapes[i].reason()}
				for _, step := range escapes[i].Flow {
					n.Flow = append(n.Flow, step.Text)
				}
				all = append(all, n)
			}
		}
	}
	return NotesOnce(all)
}

// NotesOnce sorts by file and line and leaves out what is there twice: packages
// are compiled anew for each test, and functions where they are inlined.
func NotesOnce(all []Note) []Note {
	slices.SortStableFunc(all, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Why, b.Why), slices.Compare(a.Flow, b.Flow))
	})
	return slices.CompactFunc(all, func(a, b Note) bool { return a.File == b.File && a.Line == b.Line && a.Why == b.Why })
}

func (e escapes) at(file string, line int) []Escape { return e[file][line] }

// diagnose lets the compiler say, of the packages of some modules, what
// escapes; where there are none, of those that are named. tests are compiled, too,
// where they are asked for. Nothing is linked.
//
// The compiler writes what it says when it compiles, not when the go command
// finds the outcome in its cache. So what it wrote is kept, under a name that
// no other compilation has: the name is an argument of the compiler, which the
// cache heeds.
func (b *Builder) diagnose(modules, patterns []string, tests bool) (escapes, error) {
	folder, err := b.diagnosisFolder(modules)
	if err != nil {
		return nil, err
	}
	return b.diagnoseInto(folder, modules, patterns, tests)
}

// diagnoseInto lets the compiler write what it says into a folder.
func (b *Builder) diagnoseInto(folder string, modules, patterns []string, tests bool) (escapes, error) {
	say := "-json=0,file://" + (&url.URL{Path: folder}).EscapedPath()
	var flags []string
	for _, module := range modules {
		flags = append(flags, "-gcflags="+module+"/...="+say)
	}
	if len(modules) == 0 {
		flags = []string{"-gcflags=" + say}
	}
	// To list the files with what packages export is to compile them; go build -o /dev/null links.
	list := []string{"list", "-export", `-f={{""}}`, "-test=" + strconv.FormatBool(tests)}
	args := slices.Concat(list, b.overlayFlag(), b.GoFlags, flags, []string{"--"}, patterns)
	if err := b.build(strings.Join(patterns, " "), args); err != nil {
		return nil, err
	}
	return readEscapes(folder)
}

func (b *Builder) overlayFlag() []string {
	if b.overlay == "" {
		return nil
	}
	return []string{"-overlay", b.overlay}
}

// diagnosisFolder returns the folder of these packages compiled with these
// flags; a new one where there is none.
func (b *Builder) diagnosisFolder(modules []string) (string, error) {
	base, err := cacheFolder()
	if err != nil {
		return "", err
	}
	work, _ := os.Getwd()
	key := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{b.Version, b.Flags, b.Module, work, b.overlay}, modules, b.GoFlags), "\x00")))
	parent := filepath.Join(base, "escapes", fmt.Sprintf("%x", key[:8]))
	if _, err := os.Stat(parent); err != nil {
		prune(base, time.Now())
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	if entries, err := os.ReadDir(parent); err == nil && len(entries) > 0 {
		used(parent)
		return filepath.Join(parent, entries[0].Name()), nil
	}
	return os.MkdirTemp(parent, "")
}

// readEscapes reads what the compiler wrote below a folder.
func readEscapes(folder string) (escapes, error) {
	found := make(escapes)
	err := eachDiagnostic(folder, found.add)
	return found, err
}

func (e escapes) add(file string, d *diagnostic) {
	if d.Code != "escape" && d.Code != "escapes" || d.Message == "" {
		return
	}
	escape := Escape{File: file, Line: d.Range.Start.Line, Column: d.Range.Start.Character, Message: d.Message, Flow: d.flow(), Inlined: d.inlined()}
	if e[file] == nil {
		e[file] = make(map[int][]Escape)
	}
	e[file][escape.Line] = append(e[file][escape.Line], escape)
}

// eachDiagnostic visits all that the compiler wrote below a folder. Of what
// cannot be read, which may be the form of another version, nothing is known.
func eachDiagnostic(folder string, visit func(file string, d *diagnostic)) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		lines.Buffer(nil, 16<<20)
		var head struct{ File string }
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.File == "" {
			return nil
		}
		for lines.Scan() {
			var d diagnostic
			if json.Unmarshal(lines.Bytes(), &d) == nil {
				visit(head.File, &d)
			}
		}
		return nil
	})
}

// reason says in one sentence why the value escapes: by the last step of its
// flow, and by the step of another function that the flow comes to, if any.
func (e *Escape) reason() string {
	what, _, _ := strings.Cut(WithoutShapes(e.Message), " escapes to heap")
	what = strings.TrimPrefix(what, "moved to heap: ")
	if strings.HasPrefix(e.Message, "moved to heap") {
		what = "variable " + what
	}
	if what == "... argument" {
		what = "the slice of the variadic arguments"
	}
	for i := len(e.Flow) - 1; i >= 0; i-- {
		text, ok := strings.CutPrefix(e.Flow[i].Text, "from ")
		if !ok {
			continue
		}
		expression, kind, ok := cutLast(text, " (")
		if !ok {
			continue
		}
		kind = strings.TrimSuffix(kind, ")")
		how := escapeWords(kind, expression)
		if how == "" {
			continue
		}
		if e.beyond != nil && kind == "call parameter" {
			how = strings.Replace(how, mayKeep, e.beyond.words(), 1)
		}
		return fmt.Sprintf("%s goes to the heap: %s", what, WithoutShapes(how))
	}
	return what + " goes to the heap"
}

const (
	// storedBy begins the words for a value that is found in another one later.
	storedBy = "it is stored by "
	// argumentOf begins those for an argument of a function.
	argumentOf = "it is an argument of "
	// mayKeep ends those for an argument of a function of which no more is known.
	mayKeep = "which may keep it"
)

// escapeWords turns the compiler's name of a step into words.
func escapeWords(kind, expression string) string {
	switch kind {
	case "return":
		return "it is returned"
	case "call parameter":
		if callName(expression) == "append" {
			return storedBy + expression
		}
		return argumentOf + callName(expression) + ", " + mayKeep
	case "interface-converted":
		return "it becomes an interface value"
	case "assign", "assign-pair", "star-assign", "star-dot-equals", "slice-element-equals", "dot-equals", "key-value", "map-assign":
		return storedBy + expression
	case "struct literal element", "slice-literal-element", "array literal element", "map literal key", "map literal value":
		if expression != "... argument" { // the function that is called decides then
			return storedBy + expression + ", which goes to the heap"
		}
	case "captured by a closure":
		return "a function literal that outlives the call refers to it"
	case "non-constant size":
		return "its size is not known when it is compiled"
	case "too large for stack":
		return "it is too large for the stack"
	case "send":
		return "it is sent on a channel"
	case "go/defer", "defer", "go":
		return "a deferred call or a goroutine refers to it"
	}
	return ""
}

// callName is what a call names, which may be a method of a type in parentheses.
func callName(expression string) string {
	depth := 0
	for i, r := range expression {
		switch {
		case r == '(' && depth == 0 && i > 0:
			return expression[:i]
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
	}
	return expression
}

func cutLast(s, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(s, separator); at >= 0 {
		return s[:at], s[at+len(separator):], true
	}
	return s, "", false
}
