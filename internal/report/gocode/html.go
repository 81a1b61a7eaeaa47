package gocode

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"mallow/internal/gocode"
	"mallow/internal/report/html"
	"mallow/web"
)

// Page is a report for browsers: one file that needs no network and no other
// file, see package web.
type Page struct {
	*report
	Title string `json:"title"`
	// Subjects are the benchmarks, or the processes, in their order.
	Subjects []pageSubject `json:"subjects"`
	// Escapes are what the compiler says of lines of the sources.
	Escapes []pageNote   `json:"escapes"`
	Sources []pageSource `json:"sources"`
}

// pageSubject says which of the lines are of a benchmark or process, and what
// its figures stand on.
type pageSubject struct {
	First int    `json:"first"`
	Count int    `json:"count"`
	Trust string `json:"trust"`
}

type pageNote struct {
	File string   `json:"file"`
	Line int      `json:"line"`
	Why  string   `json:"why"`
	Flow []string `json:"flow"`
}

type pageSource struct {
	File string `json:"file"`
	html.Excerpt
}

// BenchmarksPage is what WriteBenchmarks prints, and more.
func BenchmarksPage(version string, all []*gocode.Benchmark, unsound []gocode.Unsound, notes []gocode.Note) *Page {
	p := newPage(benchmarksKeys(version, all, unsound), notes)
	p.Title = "mallow go test"
	for i, b := range all {
		p.subject(len(b.Lines), trust(b))
		if i == 0 {
			p.Title = b.Package
		} else if b.Package != p.Title {
			p.Title = "mallow go test"
		}
	}
	return p
}

// RunPage is what WriteRun prints, and more.
func RunPage(version string, r *gocode.Run) *Page {
	p := newPage(runKeys(version, r), r.Notes)
	p.Title = "mallow go run"
	for i := range r.Processes {
		p.subject(len(r.Processes[i].Lines), trustRun(&r.Processes[i]))
		if i == 0 {
			p.Title = r.Processes[i].Name
		}
	}
	return p
}

// FixedPage shows the ladder, and what remains.
func FixedPage(version string, f *gocode.Fixed) *Page {
	p := newPage(fixedKeys(version, f), nil)
	p.Title = f.Package
	last := &f.Ladder[len(f.Ladder)-1]
	var bytes, none float64
	for _, l := range f.Left {
		bytes += l.Bytes
	}
	p.Benchmarks = append(p.Benchmarks, benchmark{
		Package: f.Package, Name: f.Benchmark, AllocsPerOp: &last.AllocsPerOp, BytesPerOp: &bytes, NsPerOp: last.NsPerOp, RuntimeAllocsPerOp: &none, GCPerOp: &none,
	})
	p.subject(len(f.Left), "What remains after the last step of the ladder. The source is as it is on the disk.")
	return p
}

func newPage(r *report, notes []gocode.Note) *Page {
	p := &Page{report: r, Subjects: []pageSubject{}, Escapes: []pageNote{}, Sources: []pageSource{}}
	for _, n := range notes {
		p.Escapes = append(p.Escapes, pageNote{n.File, n.Line, n.Why, append([]string{}, n.Flow...)})
	}
	return p
}

func (p *Page) subject(lines int, trust string) {
	first := 0
	if n := len(p.Subjects); n > 0 {
		first = p.Subjects[n-1].First + p.Subjects[n-1].Count
	}
	p.Subjects = append(p.Subjects, pageSubject{first, lines, trust})
}

// Write writes the page, with the lines of source files or without.
func (p *Page) Write(w io.Writer, sources bool) error {
	if sources {
		p.addSources()
	}
	data, err := cleanJSON(p)
	if err != nil {
		return err
	}
	return (&web.Page{Kind: web.Go, Title: "mallow: " + html.Clean(p.Title), Data: data}).Write(w)
}

// addSources reads the files of lines and of what the compiler speaks of, those
// with most allocations first, as long as there is room.
func (p *Page) addSources() {
	wanted, allocs := make(map[string]map[int]bool), make(map[string]float64)
	want := func(file string, line int) {
		if filepath.Ext(file) != ".go" || !filepath.IsAbs(file) {
			return
		}
		if wanted[file] == nil {
			wanted[file] = make(map[int]bool)
		}
		wanted[file][line] = true
	}
	var files []string
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.File == nil || l.Line == nil {
			continue
		}
		want(*l.File, *l.Line)
		allocs[*l.File] += l.Objects
	}
	for _, n := range p.Escapes {
		want(n.File, n.Line)
	}
	for file := range wanted {
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b string) int {
		switch {
		case allocs[a] > allocs[b]:
			return -1
		case allocs[a] < allocs[b]:
			return 1
		case a < b:
			return -1
		}
		return 1
	})
	left := html.SourceBytes
	for _, file := range files {
		if excerpt := html.ReadExcerpt(file, wanted[file], &left); excerpt != nil {
			p.Sources = append(p.Sources, pageSource{file, *excerpt})
		}
	}
}

// cleanJSON encodes a value all of whose strings are shown as what they are: no
// control character and no mark that turns the direction of writing is left.
func cleanJSON(value any) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(cleaned(tree, ""))
}

// cleaned leaves source text alone, whose tabs are kept and which is clean, and
// patches, whose lines are cleaned one by one.
func cleaned(tree any, key string) any {
	switch t := tree.(type) {
	case map[string]any:
		for k, v := range t {
			t[k] = cleaned(v, k)
		}
	case []any:
		for i, v := range t {
			t[i] = cleaned(v, key)
		}
	case string:
		switch key {
		case "text":
			return t
		case "patch":
			return html.CleanText(t)
		}
		return html.Clean(t)
	}
	return tree
}
