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
	for kind := range designs {
		if n := len(page(t, &Page{Kind: Kind(kind)})); n > most {
			t.Errorf("page %d without data has %d bytes, more than %d", kind, n, most)
		}
	}
}

// TestTitleIsText holds a title that is markup to be none in the page.
func TestTitleIsText(t *testing.T) {
	for kind := range designs {
		p := page(t, &Page{Kind: Kind(kind), Title: `</title><script>alert(1)</script>{{script}}`, Data: []byte(`</script><script>alert(1)</script>`)})
		if strings.Contains(p, "<script>alert") || strings.Count(p, "<script") != 2 {
			t.Errorf("page %d: the title or the data became markup", kind)
		}
	}
}

// TestNoNetwork finds no address of anything outside of the page.
func TestNoNetwork(t *testing.T) {
	asking := regexp.MustCompile(`(?i)(src|href)\s*=\s*["'][^#"']+|url\([^)]*\)|@import|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(`)
	for kind := range designs {
		for _, m := range asking.FindAllString(page(t, &Page{Kind: Kind(kind)}), -1) {
			t.Errorf("page %d asks for %s", kind, m)
		}
	}
}

var topLevel = regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function|class|const|let) \*?([A-Za-z_$][\w$]*)`)

// TestModulesFitTogether holds the modules to what joining them demands: every
// name once, imports in one line, of earlier modules or of functions that are
// called later.
func TestModulesFitTogether(t *testing.T) {
	used := map[string]bool{}
	for kind := range designs {
		modulesFit(t, designs[kind].modules, used)
	}
	found, _ := filepath.Glob("js/*.js")
	inFolders, _ := filepath.Glob("js/*/*.js")
	for _, path := range append(found, inFolders...) {
		if name := strings.TrimSuffix(strings.TrimPrefix(path, "js/"), ".js"); !used[name] {
			t.Errorf("%s is in no page: designs list them", path)
		}
	}
}

func modulesFit(t *testing.T, modules []string, used map[string]bool) {
	t.Helper()
	owner := map[string]string{}
	for _, name := range modules {
		used[name] = true
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
}

// TestScriptParses lets node read the joined script.
func TestScriptParses(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (nodejs): only a browser reads the script now")
	}
	for kind := range designs {
		path := filepath.Join(t.TempDir(), "page.mjs")
		if err := os.WriteFile(path, []byte(assembled[kind]().script), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(node, "--check", path).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
