package ci_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"mallow/internal/gate"
	"mallow/internal/report/ci"
)

// FuzzForms puts one text into every place of a result that somebody else may
// choose, and reads each form as its readers do.
func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"make_row", "operator|", "std::map<int, a*>::operator[]", "x`y", "``", "`", "|", "\\|", "\\", "a\nb", "\r\n::error::x", "</code>", "<!--", "-->", "]]>",
		"@octocat", "#1", "GH-1", "![x](y)", "[a](b)", "https://example.com", "www.example.com", "a@example.com", "```\n# x", "\u202e", "\x00", "\xff", "\ufffe",
		"%0A", "%", "1.", "1) x", "- x", "+ x", "> x", "# x", "=1+1", "&lt;", "&#124;", "~~x~~", "~~~", "    x", "\t", " ", ":smile:", "*x*", "_x_", "__x__", "$x$",
		"a|b|c", "\n\n|x|", "<details>", "<script>alert(1)</script>", "::stop-commands::x", "##[error]x", "../../x", "/src/demo/x.c", "/src/demo/a b(c).c", strings.Repeat("x`", 3000),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := everywhere(s)
		for _, limit := range []int{pageLimit, 0} {
			checkMarkdown(t, ci.Markdown(r, options, limit))
		}
		checkCommands(t, form(t, "commands", r))
		checkXML(t, form(t, "junit.xml", r))
		checkQuality(t, form(t, "quality", r))
		checkMetrics(t, form(t, "metrics", r))
	})
}

func form(t *testing.T, name string, r *gate.Result) string {
	var b bytes.Buffer
	if err := forms[name](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everywhere is a result of nothing but s.
func everywhere(s string) *gate.Result {
	was, now := 1.0, 2.0
	site := gate.Site{
		Function: s, File: s, Line: 3, Module: s, Now: math.MaxUint64, Status: s,
		Callers: []gate.Frame{{Function: s, File: "/src/demo/" + s, Line: 1, Module: s}},
		Changed: []gate.LineChange{{File: s, Line: 1, Old: s, New: s}, {File: s, Line: 2, New: s}},
	}
	check := gate.Check{
		Benchmark: s, Metric: s, Class: gate.Class(s), Was: &was, Now: &now, Unit: s, Reference: gate.Reference(s),
		Verdict: gate.Regression, Message: s, Sites: []gate.Site{site, site},
	}
	kept, odd, failed := check, check, check
	kept.Verdict, odd.Verdict, failed.Verdict = gate.OK, gate.Verdict(s), gate.Failed
	failed.Was, failed.Now, failed.Sites = nil, nil, nil
	return &gate.Result{Schema: gate.Schema, Checks: []gate.Check{check, kept, odd, failed}, Notes: []string{s, s}}
}

var (
	page = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	tag  = regexp.MustCompile(`<[^>]*>`)
	// own are the tags that the summary itself is made of.
	own = regexp.MustCompile(`^</?(h2|h3|p|ul|li|strong|code|pre|table|thead|tbody|tr|details|summary|sub)>$|^<t[hd]( style="text-align:right")?>$|^</t[hd]>$|^<br ?/?>$|` +
		`^<code class="language-diff">$|^<a href="https://forge\.example/demo/(FILE#L[0-9]+|runs/17)">$|^</a>$`)
	codePart = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
	row      = regexp.MustCompile(`(?s)<tr>.*?</tr>`)
)

// checkMarkdown renders a page as a forge does and demands that nothing of the
// names became markup, a link or the name of a person.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := page.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	rendered := b.String()
	for _, found := range tag.FindAllString(rendered, -1) {
		if !own.MatchString(found) {
			t.Fatalf("%q is no markup of ours:\n%s\n%s", found, text, rendered)
		}
	}
	if n := strings.Count(rendered, "<h2>"); n != 1 {
		t.Fatalf("%d headings:\n%s", n, text)
	}
	for _, r := range row.FindAllString(rendered, -1) {
		if n := strings.Count(r, "<td") + strings.Count(r, "<th"); n != 7 && n != 5 {
			t.Fatalf("a row of %d cells: %s\n%s", n, r, text)
		}
	}
	plain := tag.ReplaceAllString(codePart.ReplaceAllString(rendered, ""), "")
	if i := strings.IndexAny(plain, "@#`|*[]\\"); i >= 0 {
		t.Fatalf("outside of code: %q\n%s", plain[i:min(len(plain), i+20)], text)
	}
	checkVisible(t, text)
}

// checkVisible demands that nothing steers terminals or turns lines round.
func checkVisible(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("%U is in %q", r, text)
		}
	}
	if !utf8.ValidString(text) {
		t.Fatalf("no UTF-8: %q", text)
	}
}

var command = regexp.MustCompile(`^::(error|notice) ((?:file=[^:,]+,line=[0-9]+,)?)title=([^:,]*)::(.*)$`)

func checkCommands(t *testing.T, text string) {
	t.Helper()
	checkVisible(t, text)
	for line := range strings.Lines(text) {
		if !command.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Fatalf("%q is no command of ours", line)
		}
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	checkVisible(t, text)
	decoder := xml.NewDecoder(strings.NewReader(text))
	cases := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "testcase":
				cases++
			case "testsuites", "testsuite", "failure", "error", "system-out":
			default:
				t.Fatalf("<%s>", e.Name.Local)
			}
		case xml.Comment, xml.Directive:
			t.Fatalf("%v", e)
		}
	}
	if cases != 4 {
		t.Fatalf("%d cases:\n%s", cases, text)
	}
}

func checkQuality(t *testing.T, text string) {
	t.Helper()
	checkVisible(t, text)
	var issues []struct {
		Description, Fingerprint, Severity string
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	if err := json.Unmarshal([]byte(text), &issues); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, i := range issues {
		if seen[i.Fingerprint] || i.Location.Path == "" || strings.HasPrefix(i.Location.Path, "/") || strings.HasPrefix(i.Location.Path, "../") || i.Location.Lines.Begin < 1 {
			t.Fatalf("%+v", i)
		}
		seen[i.Fingerprint] = true
	}
	if len(issues) == 0 {
		t.Fatal("no issue")
	}
}

var sample = regexp.MustCompile(`^(# (TYPE mallow_[a-zA-Z0-9_]* gauge|EOF)|mallow_[a-zA-Z0-9_]*\{benchmark="([^"\\]|\\["\\n])*"\} [0-9.]+)$`)

func checkMetrics(t *testing.T, text string) {
	t.Helper()
	checkVisible(t, text)
	if !strings.HasSuffix(text, "# EOF\n") {
		t.Fatal(text)
	}
	for line := range strings.Lines(text) {
		if !sample.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Fatalf("%q", line)
		}
	}
}

// FuzzRead reads what nobody vouches for.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"regressions", "kept", "hostile", "none", "go"} {
		content, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := ci.Read(bytes.NewReader(content))
		if err != nil {
			checkVisible(t, err.Error())
			return
		}
		checkMarkdown(t, ci.Markdown(r, options, pageLimit))
		for _, name := range []string{"commands", "junit.xml", "quality", "metrics"} {
			checkVisible(t, form(t, name, r))
		}
	})
}
