package web

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSizeOfThePage holds the page without data to what it may have.
func TestSizeOfThePage(t *testing.T) {
	const most = 150_000
	if n := len(page(t, &Page{})); n > most {
		t.Errorf("the page without data has %d bytes, more than %d", n, most)
	}
}

// TestTitleIsText holds a title that is markup to be none in the page.
func TestTitleIsText(t *testing.T) {
	p := page(t, &Page{Title: `</title><script>alert(1)</script>{{script}}`, Data: []byte(`</script><script>alert(1)</script>`)})
	if strings.Contains(p, "<script>alert") || strings.Count(p, "<script") != 2 {
		t.Error("the title or the data became markup")
	}
}

// TestNoNetwork finds no address of anything outside of the page.
func TestNoNetwork(t *testing.T) {
	for _, m := range regexp.MustCompile(`(?i)(src|href)\s*=\s*["'][^#"']+|url\([^)]*\)|@import|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(`).FindAllString(page(t, &Page{}), -1) {
		t.Errorf("the page asks for %s", m)
	}
}

var topLevel = regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function|class|const|let) \*?([A-Za-z_$][\w$]*)`)

// TestModulesFitTogether holds the modules to what joining them demands: every
// name once, imports in one line, of earlier modules or of functions that are
// called later.
func TestModulesFitTogether(t *testing.T) {
	owner := map[string]string{}
	listed := map[string]bool{}
	for _, name := range modules {
		listed[name+".js"] = true
		source := read("js/" + name + ".js")
		for _, m := range topLevel.FindAllStringSubmatch(source, -1) {
			if other := owner[m[1]]; other != "" {
				t.Errorf("%s is in %s and in %s", m[1], other, name)
			}
			owner[m[1]] = name
		}
		rest := unwrapped(source)
		if regexp.MustCompile(`(?m)^\s*(import|export)\b`).MatchString(rest) {
			t.Errorf("%s has an import or export that joining does not understand", name)
		}
	}
	found, _ := filepath.Glob("js/*.js")
	for _, path := range found {
		if !listed[filepath.Base(path)] {
			t.Errorf("%s is in no page: modules lists them", path)
		}
	}
}

// TestScriptParses lets node read the joined script.
func TestScriptParses(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (nodejs): only a browser reads the script now")
	}
	path := filepath.Join(t.TempDir(), "page.mjs")
	if err := os.WriteFile(path, []byte(assembled().script), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, "--check", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
