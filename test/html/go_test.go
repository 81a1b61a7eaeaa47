package html

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/gocode"
	goreport "mallow/internal/report/gocode"
	"mallow/test/html/browser"
)

const wordSource = `package digest

// Word makes a word of n.
func Word(n int) string {
	var text bytes.Buffer
	for range 2000 {
		text.WriteString(strconv.Itoa(n)) // 2000 tiny strings
	}
	x := n
	last = &x
	return text.String()
}
`

// digest is a package with two benchmarks whose functions have the given prefix.
func digest(t *testing.T, prefix string) (all []*gocode.Benchmark, notes []gocode.Note) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "digest.go")
	if err := os.WriteFile(file, []byte(wordSource), 0o600); err != nil {
		t.Fatal(err)
	}
	itoa := gocode.Frame{Function: "strconv.Itoa", File: "/usr/local/go/src/strconv/itoa.go", Line: 37, Origin: gocode.OriginStandard}
	at := func(line int) gocode.Frame {
		return gocode.Frame{Function: prefix + "digest.Word", File: file, Line: line, Origin: gocode.OriginOwn}
	}
	bench := gocode.Frame{Function: prefix + "digest_test.BenchmarkWord", File: strings.TrimSuffix(file, ".go") + "_test.go", Line: 16, Origin: gocode.OriginOwn}
	word := &gocode.Benchmark{
		Package: prefix + "digest", Name: prefix + "Word", NsPerOp: 71600, Operations: 1000, AllocsPerOp: 2001, BytesPerOp: 10016, GCPerOp: 0.01, Checked: true, Mallocs: 2031000,
		Lines: []*gocode.Line{
			{
				Frame: at(7), Callee: itoa.Function, Allocs: 2000, Bytes: 10000,
				Stacks: []gocode.Stack{{Frames: []gocode.Frame{itoa, at(7), bench}, Size: 5, Allocs: 2000, Bytes: 10000}},
				Reason: gocode.Reason{Why: prefix + "it is called in every turn", Remedy: prefix + "call it once", Rule: "hoist-call"},
			},
			{
				Frame: at(9), Type: prefix + "int", Allocs: 1, Bytes: 16,
				Stacks: []gocode.Stack{{Frames: []gocode.Frame{at(9), bench}, Type: prefix + "int", Size: 8, Allocs: 1, Bytes: 16}},
				Reason: gocode.Reason{Why: "x goes to the heap", Flow: []string{prefix + "flow: {heap} ← &x:"}},
			},
		},
		CPU: &gocode.CPU{Samples: 169, Rate: 100, Malloc: 0.33, Collector: 0.14, Functions: []gocode.CPUFunction{
			{Frame: gocode.Frame{Function: prefix + "runtime.memmove"}, Flat: 0.17, Cumulated: 0.17},
			{Frame: gocode.Frame{Function: "strconv.Itoa"}, Flat: 0.02, Cumulated: 0.41},
		}},
	}
	nothing := &gocode.Benchmark{Package: prefix + "digest", Name: "Nothing", NsPerOp: 3, Operations: 1000, Checked: true}
	return []*gocode.Benchmark{word, nothing}, []gocode.Note{{File: file, Line: 9, Why: prefix + "x goes to the heap: it is stored by last = &x", Flow: []string{prefix + "from &x (address-of)"}}}
}

func openGo(t *testing.T, prefix string) *browser.Page {
	t.Helper()
	all, notes := digest(t, prefix)
	return show(t, func(file *os.File) error {
		unsound := []gocode.Unsound{{File: notes[0].File, Line: 11, Message: prefix + "the string has memory of a pool"}}
		return goreport.BenchmarksPage("go1.26.8", all, unsound, notes).Write(file, true)
	})
}

func TestGoBenchmarks(t *testing.T) {
	page := openGo(t, "")
	if rows := page.Count("#all tbody tr"); rows != 2 {
		t.Errorf("%d benchmarks", rows)
	}
	page.Click("#all tbody .link")
	for selector, words := range map[string]string{
		"#lines .tiles": "2,001", "#lines tbody tr": "2,000", "#lines .why": "call it once hoist-call", "#lines .trust": "every allocation is in it", ".unsound": "memory of a pool",
	} {
		if got := page.Text(selector); !strings.Contains(got, words) {
			t.Errorf("%s is %q, without %q", selector, got, words)
		}
	}
	page.Click("#lines tbody .link")
	if got := page.Text("#detail"); !strings.Contains(got, "Why") || !strings.Contains(got, "strconv.Itoa") || !strings.Contains(got, "digest_test.BenchmarkWord") {
		t.Errorf("of the line is said %q", got)
	}
	page.Click("#detail .link.where")
	if got := page.Text("#source tr.chosen"); !strings.Contains(got, "2,000") || !strings.Contains(got, "text.WriteString") {
		t.Errorf("the chosen line of the source is %q", got)
	}
	if got := page.Text("#source tr.escape"); !strings.Contains(got, "x goes to the heap: it is stored by last = &x") {
		t.Errorf("of what escapes is said %q", got)
	}
	page.Key("Escape")
	page.Click("#tab-cpu")
	if got := page.Text("#cpu tbody tr"); !strings.Contains(got, "runtime.memmove") {
		t.Errorf("the first function is %q", got)
	}
	page.Eval(`document.querySelectorAll("#cpu .sort")[1].click()`, nil)
	if got := page.Text("#cpu tbody tr"); !strings.Contains(got, "strconv.Itoa") {
		t.Errorf("the first function with what it calls is %q", got)
	}
	page.Key("2")
	page.Key("n")
	if got := page.Text("#lines"); !strings.Contains(got, "Nothing allocates") {
		t.Errorf("of the other benchmark is said %q", got)
	}
	page.Key("p")
	page.Key("/")
	page.Type("no such function")
	page.Wait(`document.querySelector("#lines").textContent.includes("No line matches")`)
}

func TestGoLadder(t *testing.T) {
	all, _ := digest(t, "")
	fixed := &gocode.Fixed{
		Package: "digest", Benchmark: "Word",
		Ladder: []gocode.LadderStep{
			{AllocsPerOp: 2001, NsPerOp: 71600},
			{Rewrite: &gocode.Rewrite{Title: "call strconv.Itoa(n) once", Rule: "hoist-call"}, Compared: "its tests", AllocsPerOp: 2, NsPerOp: 31000, Patch: "--- a/digest.go\n+++ b/digest.go\n-old\n+new <b>\n"},
		},
		Left: all[0].Lines[1:],
	}
	page := show(t, func(file *os.File) error { return goreport.FixedPage("go1.26.8", fixed).Write(file, true) })
	if got := page.Text("#ladder tbody"); !strings.Contains(got, "2,001") || !strings.Contains(got, "call strconv.Itoa(n) once") || !strings.Contains(got, "proven by its tests") {
		t.Errorf("the ladder is %q", got)
	}
	page.Eval(`document.querySelector("#ladder details").open = true`, nil)
	if got := page.Text("#ladder .patch-more"); got != "+new <b>" {
		t.Errorf("a line of the patch is %q", got)
	}
}

func TestGoHostileNames(t *testing.T) {
	for _, name := range []string{
		`</script><script>window.hacked = 1</script>`, `<img src=x onerror="window.hacked=1">`, "line\nbreak\x1b[31m\u202eesrever=cmd|' /C calc'!A0", strings.Repeat("endless", 300), "__proto__",
	} {
		page := openGo(t, name)
		for view := 1; view <= 5; view++ {
			page.Key(fmt.Sprint(view))
			if view == 2 {
				page.Key("j")
				page.Eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`, nil)
			}
			var hacked string
			page.Eval(`typeof window.hacked + document.querySelectorAll("img, b, main script, aside script").length + /[\u202a-\u202e\u2066-\u2069\x1b]/.test(document.body.textContent)`, &hacked)
			if hacked != "undefined0false" {
				t.Errorf("%q, view %d: %s", name, view, hacked)
			}
			for _, width := range []int{1280, 400} {
				page.Size(width, 800)
				var over int
				page.Eval(`document.documentElement.scrollWidth - innerWidth`, &over)
				if over > 0 {
					t.Errorf("%.20q, view %d at %d: %d too wide", name, view, width, over)
				}
			}
		}
		for _, address := range []string{"#view=__proto__&subject=99", "#line=1e9&subject=-1", "#by=constructor&file=<b>", "#%zz=1&view=%E0%A4%A"} {
			page.Eval(fmt.Sprintf("location.hash = %q", address), nil)
			page.Eval("new Promise((done) => setTimeout(done, 50))", nil)
			if n := page.Count("main > :not([hidden])"); n != 1 {
				t.Errorf("%s: %d views are shown", address, n)
			}
		}
	}
}

func TestGoContrastAndNames(t *testing.T) {
	page := openGo(t, "")
	for _, dark := range []bool{false, true} {
		page.Dark(dark)
		for view := 1; view <= 5; view++ {
			page.Key(fmt.Sprint(view))
			page.Eval("new Promise((done) => setTimeout(done, 200))", nil)
			for _, f := range faintTexts(page) {
				t.Errorf("view %d, dark %v: %s", view, dark, f)
			}
			if folder := os.Getenv("MALLOW_SHOTS"); folder != "" {
				os.WriteFile(filepath.Join(folder, fmt.Sprintf("go-%d-%v.png", view, dark)), page.Screenshot(), 0o644)
			}
			problems, _ := controlsOf(page)
			for _, problem := range problems {
				t.Errorf("view %d: %s", view, problem)
			}
		}
	}
}
