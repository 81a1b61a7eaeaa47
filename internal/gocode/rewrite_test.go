package gocode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// marked calls visit with a subject for each line that has a mark and the name
// of the function that allocates there.
func marked(t *testing.T, folder, mark string, visit func(s *subject, content []byte)) {
	t.Helper()
	t.Chdir(filepath.Join("testdata", folder))
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	sources := (&Builder{Toolchain: &Toolchain{}}).loadSources([]string{"."}, nil)
	files, err := filepath.Glob("*.go")
	if err != nil || len(sources.files) < len(files) {
		t.Fatalf("%d files, %d read: %v", len(files), len(sources.files), err)
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
				line := &Line{Frame: Frame{File: path, Line: i + 1, Origin: OriginOwn}, Callee: callee}
				visit(&subject{line: line, sources: sources}, content)
			}
		}
	}
}

func TestLookAlikesAreRefused(t *testing.T) {
	seen := 0
	for _, folder := range []string{"lookalikes", "lookalikes_start"} {
		t.Run(folder, func(t *testing.T) {
			marked(t, folder, "// refuse: ", func(s *subject, content []byte) {
				seen++
				for _, r := range s.rewrites(map[string][]byte{s.line.File: content}) {
					t.Errorf("%s:%d: %s", filepath.Base(s.line.File), s.line.Line, r.Title)
				}
			})
		})
	}
	if seen < 150 {
		t.Errorf("%d look-alikes", seen)
	}
}

func TestRewrites(t *testing.T) {
	seen := 0
	marked(t, "rewrites", "// rewrite: ", func(s *subject, content []byte) {
		seen++
		all := s.rewrites(map[string][]byte{s.line.File: content})
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
