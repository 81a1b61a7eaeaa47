// Package web is the page of the HTML report: what is the same in every report
// of one version of mallow. It stands at the root because go:embed reaches
// only downwards.
//
// A page is one file without assets: markup, style, script and, compressed,
// the data. Its Content-Security-Policy allows that style and that script by
// hash and nothing else, so what is in the data can never run.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed page.html go.html style.css go.css js/*.js js/go/*.js vendor/uplot
var files embed.FS

// Kind is a page by what it shows.
type Kind int

const (
	Recordings Kind = iota // see internal/report/html
	Go                     // see internal/report/gocode
)

// design names the files that a page is made of.
type design struct {
	markup string
	styles []string
	// modules are the script's parts, each after those that it imports. The page
	// has them as one script, because a module that stands in the page cannot be
	// imported by another.
	modules []string
	plots   bool // with uPlot, which draws a timeline
}

var designs = [...]design{
	Recordings: {
		markup: "page.html", styles: []string{"style.css"}, plots: true,
		modules: []string{
			"text", "dom", "data", "model", "state", "theme", "tree",
			"table", "detail", "overview", "icicle", "timeline", "sizes", "source", "about", "keys", "main",
		},
	},
	Go: {
		markup: "go.html", styles: []string{"style.css", "go.css"},
		modules: []string{"text", "dom", "data", "state", "theme", "go/report", "go/lines", "go/annotated", "go/views", "go/main"},
	},
}

// Page is what differs between reports.
type Page struct {
	Kind  Kind
	Title string
	Data  []byte
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	s := assembled[p.Kind]()
	head := strings.NewReplacer(
		"{{policy}}", html.EscapeString(s.policy),
		"{{title}}", html.EscapeString(p.Title),
		"{{style}}", s.style,
	).Replace(s.head)
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	if err := p.writeData(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Replace(s.tail, "{{script}}", s.script, 1))
	return err
}

// writeData writes letters, digits, + / and = only: nothing that markup could
// be made of.
func (p *Page) writeData(w io.Writer) error {
	letters := base64.NewEncoder(base64.StdEncoding, w)
	packed, err := gzip.NewWriterLevel(letters, 6)
	if err != nil {
		return err
	}
	if _, err := packed.Write(p.Data); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return letters.Close()
}

// Policy returns the Content-Security-Policy of every page of a kind.
func Policy(kind Kind) string { return assembled[kind]().policy }

type parts struct {
	head, tail, style, script, policy string
}

var assembled = [...]func() parts{
	Recordings: sync.OnceValue(designs[Recordings].assemble),
	Go:         sync.OnceValue(designs[Go].assemble),
}

func (d *design) assemble() parts {
	var p parts
	var script, style strings.Builder
	for _, name := range d.modules {
		script.WriteString(unwrapped(read("js/" + name + ".js")))
	}
	for _, name := range d.styles {
		style.WriteString(read(name))
	}
	p.style, p.script = squeezed("text/css", style.String()), squeezed("application/javascript", script.String())
	if d.plots {
		p.style = read("vendor/uplot/uPlot.min.css") + p.style
		p.script = "/*! uPlot\n" + read("vendor/uplot/LICENSE") + "*/\n" + read("vendor/uplot/uPlot.iife.min.js") + p.script
	}
	p.head, p.tail, _ = strings.Cut(read(d.markup), "{{data}}")
	p.policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(p.script), hash(p.style))
	return p
}

// read returns a file that is part of the program: it is always there.
func read(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

var (
	importLine = regexp.MustCompile(`(?m)^import .*\n`)
	exportWord = regexp.MustCompile(`(?m)^export `)
)

// unwrapped makes a module a part of one script: all names of the parts are
// then in one scope.
func unwrapped(module string) string {
	return exportWord.ReplaceAllString(importLine.ReplaceAllString(module, ""), "")
}

// squeezed makes a text as short as it can be without changing what it does.
func squeezed(mediaType, text string) string {
	m := minify.New()
	m.AddFunc("text/css", css.Minify)
	m.Add("application/javascript", &js.Minifier{Version: 2022})
	short, err := m.String(mediaType, text)
	if err != nil {
		panic(err) // the texts are part of the program, and tested
	}
	return short
}
