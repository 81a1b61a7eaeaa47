package budget

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Error is what is wrong with a budget, and where: line and column count from
// 1, columns in bytes; 0 where the whole file is meant.
type Error struct {
	Path         string
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Message)
}

// document is the text of a budget with what stands where in it, so that a
// value can be replaced and all else stays as it is.
type document struct {
	path string
	text []byte
	root *table
}

// table is one of TOML's, however it was written.
type table struct {
	at     int // offset of what named it first
	inline bool
	keys   []string // in the order of the text
	values map[string]*value
	tables map[string]*table
	// end is behind the last line that belongs to the table itself, -1 for a
	// table that only has others inside.
	end int
}

// value is what a key has.
type value struct {
	key    int // offset
	at     int // offset
	length int // in the text
	kind   unstable.Kind
	text   string   // of a string, or the digits of a number
	list   []*value // of an array
}

func newTable(at int, inline bool) *table {
	return &table{at: at, inline: inline, values: make(map[string]*value), tables: make(map[string]*table), end: -1}
}

// errorAt makes an error of a place in the text.
func (d *document) errorAt(offset int, format string, args ...any) error {
	line, column := d.position(offset)
	return &Error{d.path, line, column, fmt.Sprintf(format, args...)}
}

func (d *document) position(offset int) (line, column int) {
	before := bytes.TrimPrefix(d.text[:offset], []byte(byteOrderMark))
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// byteOrderMark is what some editors begin a text with.
const byteOrderMark = "\ufeff"

// parse reads TOML. What it says twice, or in the wrong order, is an error too.
func parse(path string, text []byte) (*document, error) {
	d := &document{path: path, text: text, root: newTable(0, false)}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) { // blanks in its place keep all offsets
		text = slices.Concat(bytes.Repeat([]byte(" "), len(byteOrderMark)), text[len(byteOrderMark):])
	}
	var any map[string]any
	if err := toml.Unmarshal(text, &any); err != nil {
		return nil, d.syntaxError(err)
	}
	p := unstable.Parser{}
	p.Reset(text)
	current := d.root
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			key := e.Key()
			current = d.root
			at := 0
			for key.Next() {
				at = int(key.Node().Raw.Offset)
				current = current.inside(string(key.Node().Data), at)
			}
			current.at, current.end = at, d.endOfLine(at)
		case unstable.ArrayTable:
			key := e.Key()
			key.Next()
			return nil, d.errorAt(int(key.Node().Raw.Offset), "a list of tables, [[%s]]: there is none in a budget; write [benchmark.NAME]", key.Node().Data)
		case unstable.KeyValue:
			d.add(&p, current, e)
			current.end = d.endOfLine(int(e.Raw.Offset + e.Raw.Length))
		}
	}
	return d, p.Error()
}

func (d *document) syntaxError(err error) error {
	var where *toml.DecodeError
	if !errors.As(err, &where) {
		return &Error{Path: d.path, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	line, column := where.Position()
	if line == 1 && bytes.HasPrefix(d.text, []byte(byteOrderMark)) {
		column = max(column-len(byteOrderMark), 1)
	}
	return &Error{d.path, line, column, strings.TrimPrefix(where.Error(), "toml: ")}
}

// inside returns the table of that name within another.
func (t *table) inside(name string, at int) *table {
	inner := t.tables[name]
	if inner == nil {
		inner = newTable(at, false)
		t.tables[name] = inner
		t.keys = append(t.keys, name)
	}
	return inner
}

// add puts a key and its value into a table; of a dotted key into the one that
// it names.
func (d *document) add(p *unstable.Parser, t *table, e *unstable.Node) {
	key := e.Key()
	key.Next()
	at := int(key.Node().Raw.Offset)
	name := string(key.Node().Data)
	last := key.Node()
	for key.Next() {
		t = t.inside(name, at)
		t.inline = true // nothing can be added below a header of its own
		last = key.Node()
		name = string(last.Data)
	}
	if v := e.Value(); v.Kind == unstable.InlineTable {
		inner := t.inside(name, at)
		inner.inline = true
		children := v.Children()
		for children.Next() {
			if child := children.Node(); child.Kind == unstable.KeyValue {
				d.add(p, inner, child)
			}
		}
		return
	}
	v := d.valueOf(e.Value())
	v.key = at
	v.at = d.valueStart(int(last.Raw.Offset + last.Raw.Length))
	v.length = int(e.Raw.Offset+e.Raw.Length) - v.at
	t.values[name] = v
	t.keys = append(t.keys, name)
}

// valueStart is where the value of a key begins that ends at an offset.
func (d *document) valueStart(offset int) int {
	offset += bytes.IndexByte(d.text[offset:], '=') + 1
	return offset + len(d.text[offset:]) - len(bytes.TrimLeft(d.text[offset:], " \t"))
}

func (d *document) valueOf(n *unstable.Node) *value {
	v := &value{at: int(n.Raw.Offset), kind: n.Kind, text: string(n.Data)}
	children := n.Children()
	for n.Kind == unstable.Array && children.Next() {
		if child := children.Node(); child.Kind != unstable.Comment {
			v.list = append(v.list, d.valueOf(child))
		}
	}
	return v
}

// endOfLine is the offset behind the line of an offset.
func (d *document) endOfLine(offset int) int {
	end := bytes.IndexByte(d.text[offset:], '\n')
	if end < 0 {
		return len(d.text)
	}
	return offset + end + 1
}

// number reads an integer or a float of TOML.
func (v *value) number() (float64, bool) {
	if v.kind != unstable.Integer && v.kind != unstable.Float {
		return 0, false
	}
	digits := strings.ReplaceAll(v.text, "_", "")
	if v.kind == unstable.Integer {
		n, err := strconv.ParseInt(digits, 0, 64)
		return float64(n), err == nil
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil
}

// edit is a piece of the text that another one takes the place of.
type edit struct {
	at, length int
	text       string
}

// apply makes edits, all of which speak of the text as it was.
func (d *document) apply(edits []edit) []byte {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].at < edits[j].at })
	var out bytes.Buffer
	from := 0
	for _, e := range edits {
		out.Write(d.text[from:e.at])
		out.WriteString(e.text)
		from = e.at + e.length
	}
	out.Write(d.text[from:])
	return out.Bytes()
}
