package gocode

import (
	"bytes"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var here, _ = os.Getwd()

// marked calls visit with a subject for each line that has a mark and the name
// of the function that allocates there.
func marked(t *testing.T, folder, mark string, visit func(s *subject, content []byte)) {
	t.Helper()
	t.Chdir(filepath.Join(here, "testdata", folder))
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	sources := (&Builder{Toolchain: &Toolchain{}}).loadSources([]string{"."}, nil)
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range strings.Split(string(content), "\n") {
			if _, callee, ok := strings.Cut(text, mark); ok {
				if sources.file(path) == nil {
					t.Fatalf("%s is not read", name)
				}
				line := &Line{Frame: Frame{File: path, Line: i + 1, Origin: OriginOwn}, Callee: callee}
				visit(&subject{line: line, sources: sources}, content)
			}
		}
	}
}

func TestLookAlikesAreRefused(t *testing.T) {
	seen := 0
	for _, folder := range []string{"lookalikes", "lookalikes_start", "lookalikes_variable", "lookalikes_older"} {
		t.Run(folder, func(t *testing.T) {
			marked(t, folder, "// refuse: ", func(s *subject, _ []byte) {
				seen++
				for _, r := range s.rewrites(os.ReadFile) {
					t.Errorf("%s:%d: %s", filepath.Base(s.line.File), s.line.Line, r.Title)
				}
			})
		})
	}
	if seen < 150 {
		t.Errorf("%d look-alikes", seen)
	}
}

// rewritten calls visit with a subject for each line for which there is a
// rewrite.
func rewritten(t *testing.T, visit func(s *subject)) {
	t.Helper()
	for _, folder := range []string{"rewrites", "rewrites_older"} {
		marked(t, folder, "// rewrite: ", func(s *subject, _ []byte) { visit(s) })
	}
}

func TestRewrites(t *testing.T) {
	seen := 0
	rewritten(t, func(s *subject) {
		seen++
		all := s.rewrites(os.ReadFile)
		if len(all) == 0 {
			t.Errorf("line %d, %s: no rewrite", s.line.Line, s.line.Callee)
			return
		}
		golden := strings.TrimSuffix(filepath.Base(s.line.File), ".go") + ".golden"
		if os.Getenv("MALLOW_UPDATE") != "" {
			if err := os.WriteFile(golden, all[0].Source, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != string(all[0].Source) {
			t.Errorf("%s, %v: %s", golden, err, all[0].Source)
		}
	})
	if seen < 5 {
		t.Errorf("%d rewrites", seen)
	}
}

// Every rewrite is executed with the function that it came from, with the same
// arguments.
func TestRewritesDoTheSame(t *testing.T) {
	for folder, language := range map[string]string{"rewrites": "1.26", "rewrites_older": "1.18"} {
		t.Run(folder, func(t *testing.T) { rewritesDoTheSame(t, folder, language) })
	}
}

func rewritesDoTheSame(t *testing.T, of, language string) {
	modules := t.TempDir()
	if err := os.WriteFile(filepath.Join(modules, "go.mod"), []byte("module example.org/rewrites\n\ngo "+language+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var folders []string
	marked(t, of, "// rewrite: ", func(s *subject, _ []byte) {
		r := s.rewrites(os.ReadFile)[0]
		if r.function == nil {
			return // its text stays as it is
		}
		tests, why, err := comparison(s.sources, r)
		if err != nil || tests == nil {
			t.Errorf("%s: %v %s", r.Function, err, why)
			return
		}
		folder := filepath.Join(modules, r.Function)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
		tests["rewrite.go"] = r.Source
		for name, content := range tests {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	c := exec.Command("go", "test", "-vet=off", "./...", "-mallow-compare=compared")
	c.Dir = modules
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, folder := range folders {
		compared, err := os.ReadFile(filepath.Join(folder, "compared"))
		if err != nil || !strings.HasPrefix(string(compared), "1000 calls") {
			t.Errorf("%s: %v, %s", filepath.Base(folder), err, compared)
		}
	}
}

// A file whose lines end with CR LF keeps them, and is changed as one without.
func TestRewritesKeepLineEnds(t *testing.T) {
	seen := 0
	returns := func(content []byte) []byte { return bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")) }
	converted := make(map[string]*sources) // by folder
	rewritten(t, func(s *subject) {
		read := func(path string) ([]byte, error) {
			content, err := os.ReadFile(path)
			return returns(content), err
		}
		want := s.rewrites(os.ReadFile)[0]
		folder := filepath.Dir(s.line.File)
		if converted[folder] == nil {
			changed := make(map[string][]byte)
			for path := range s.sources.files {
				content, err := read(path)
				if err != nil {
					t.Fatal(err)
				}
				changed[path] = content
			}
			converted[folder] = (&Builder{Toolchain: &Toolchain{}}).loadSources([]string{"."}, changed)
		}
		s.sources = converted[folder]
		all := s.rewrites(read)
		if len(all) == 0 {
			t.Errorf("%s: no rewrite", s.line.File)
			return
		}
		if ends := returns(want.Source); !bytes.Equal(all[0].Source, ends) {
			t.Errorf("%s: %q, want %q", filepath.Base(s.line.File), all[0].Source, ends)
		}
		seen++
	})
	if seen < 30 {
		t.Errorf("%d rewrites", seen)
	}
}

// The comparison notices what a rewrite must not change.
func TestComparisonFindsDifferences(t *testing.T) {
	modules := t.TempDir()
	if err := os.WriteFile(filepath.Join(modules, "go.mod"), []byte("module example.org/rewrites\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][3]string{ // file, callee, and what is put instead of what
		"KeptNil":   {"kept_nil.go", "var sizes []int", "sizes := []int{}"},
		"FoldASCII": {"fold_ascii.go", `strings.ToLower(name) == "close"`, `strings.EqualFold(name, "close")`},
		"CutOne":    {"cut_one.go", `word + "."`, `word + " "`},
	} {
		marked(t, "rewrites", "// rewrite: ", func(s *subject, content []byte) {
			if filepath.Base(s.line.File) != change[0] {
				return
			}
			r := s.rewrites(os.ReadFile)[0]
			r.Source = []byte(strings.Replace(string(content), change[1], change[2], 1))
			tests, why, err := comparison(s.sources, r)
			if err != nil || tests == nil {
				t.Fatalf("%s: %v %s", name, err, why)
			}
			folder := filepath.Join(modules, name)
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			tests["rewrite.go"] = r.Source
			for file, content := range tests {
				if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	c := exec.Command("go", "test", "-vet=off", "./...", "-mallow-compare=compared")
	c.Dir = modules
	out, _ := c.CombinedOutput()
	if n := strings.Count(string(out), "instead of"); n != 3 {
		t.Errorf("%d of 3 differences are found: %s", n, out)
	}
}

// What a function does to the world outside, with any arguments, is found
// before it is called with made-up ones.
func TestTouches(t *testing.T) {
	want := map[string]string{}
	marked(t, "touches", "// touches: ", func(s *subject, _ []byte) {
		f := s.sources.file(s.line.File)
		for _, d := range f.syntax.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok || s.sources.fset.Position(function.Pos()).Line != s.line.Line {
				continue
			}
			want[function.Name.Name] = s.line.Callee
			got := s.sources.touches(f, function)
			if says := s.line.Callee; says == "nothing" && got != "" || says != "nothing" && !strings.Contains(got, says) {
				t.Errorf("%s %q, want %q", function.Name.Name, got, says)
			}
		}
	})
	if len(want) < 12 {
		t.Errorf("%d functions", len(want))
	}
}
