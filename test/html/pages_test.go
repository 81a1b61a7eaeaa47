// Package html looks at the pages of the HTML report with a real browser.
package html

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/report/html"
	"mallow/test/html/browser"
)

// course is a program that builds up for a second, serves for two and takes
// down, in functions with the given prefix; its amount of work is a factor.
func course(im *recordingtest.Image, prefix, source string, work int) *recordingtest.Process {
	p := recordingtest.NewProcess(im)
	p.Detailed = true
	p.At(0)
	thread := p.Thread()
	at := func(function string, line uint32) recordingtest.Frame {
		return im.Symbolic(prefix+function, source, "server", line)
	}
	main := at("main", 40)
	table := im.Stack(recording.Calloc, main, at("table::grow(unsigned long)", 12))
	parse := im.Stack(recording.Malloc, main, at("serve(request&)", 20), at("parse(std::basic_string_view<char, std::char_traits<char>>)", 5))
	answer := im.Stack(recording.Malloc, main, at("serve(request&)", 21), at("answer", 30))
	var kept []recordingtest.Block
	for i := range 400 {
		p.At(uint32(i * 1000 / 400))
		for range work {
			kept = append(kept, thread.Alloc(table, 256))
		}
	}
	for i := range 3000 * work {
		p.At(uint32(1000 + i*2000/(3000*work)))
		first := thread.Alloc(parse, uint64(20+i%200))
		second := thread.Alloc(answer, 64)
		thread.Free(second)
		thread.Free(first)
	}
	for i, block := range kept[:len(kept)-3] {
		p.At(uint32(3000 + i*1000/len(kept)))
		thread.Free(block)
	}
	return p
}

func profileOf(t *testing.T, p *recordingtest.Process) *profile.Profile {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "server.mallow")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

func symbolic() *recordingtest.Image {
	im := recordingtest.NewImage(7, "/opt/server")
	im.Flags = recording.FlagSymbolic
	return im
}

func TestMain(m *testing.M) { browser.Main(m) }

// open writes the page of a profile and shows it.
func open(t *testing.T, p *profile.Profile) *browser.Page {
	t.Helper()
	return show(t, func(file *os.File) error {
		return html.Write(file, p, html.Options{Advice: advise.For(p, advise.Options{}), Sources: true})
	})
}

func show(t *testing.T, write func(file *os.File) error) *browser.Page {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := write(file); err != nil {
		t.Fatal(err)
	}
	file.Close()
	page := browser.Open(t, "file://"+file.Name())
	page.Wait(`document.body.classList.contains("ready") || document.body.classList.contains("failed")`)
	t.Cleanup(func() {
		for _, problem := range page.Problems() {
			t.Error(problem)
		}
		for _, address := range page.Requests() {
			t.Error("the page asked for", address)
		}
		if t.Failed() {
			if folder := os.Getenv("MALLOW_SHOTS"); folder != "" {
				os.WriteFile(filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "_")+".png"), page.Screenshot(), 0o644)
			}
		}
	})
	return page
}

// source writes a file that the frames of course are in.
func source(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for line := range 60 {
		fmt.Fprintf(&text, "\tint line_%d = 0; // <b>\u202e&amp;\n", line+1)
	}
	path := filepath.Join(t.TempDir(), "server.cc")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFirstScreen(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", "server.cc", 1)))
	for _, selector := range []string{".sites tbody tr", ".tile", ".todo", "#timeline canvas"} {
		var seen bool
		page.Eval(fmt.Sprintf(`(() => { const b = document.querySelector(%q).getBoundingClientRect(); return b.width > 0 && b.top >= 0 && b.bottom <= innerHeight; })()`, selector), &seen)
		if !seen {
			t.Errorf("%s is not on the first screen", selector)
		}
	}
	if first := page.Text(".sites tbody tr"); !strings.Contains(first, "3,000") || !strings.Contains(first, "parse") || strings.Contains(first, "string_view") {
		t.Errorf("the first site is %q", first)
	}
	if n := page.Count(`#calls:not([hidden])`); n > 0 {
		t.Error("the call tree is on the first screen")
	}
	if got := page.Text(".tile[aria-pressed=true]"); !strings.Contains(got, "6,400") {
		t.Errorf("the chosen metric is %q", got)
	}
}

func TestMetrics(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", "server.cc", 1)))
	for i, test := range []struct{ name, total, first string }{
		{"Count", "6,400", "parse"}, {"Bytes", "653 kB", "parse"}, {"Temporary", "3,000", "answer"},
		{"Peak", "103 kB", "table::grow"}, {"Leaked", "768 B", "table::grow"}, {"Waste", "", "parse"},
	} {
		page.Click(fmt.Sprintf(".tile:nth-child(%d)", i+1))
		if got := page.Text(".tile[aria-pressed=true]"); !strings.Contains(got, test.name) || !strings.Contains(got, test.total) {
			t.Errorf("%s: the tile says %q", test.name, got)
		}
		if got := page.Text(".sites tbody tr"); !strings.Contains(got, test.first) {
			t.Errorf("%s: the first site is %q", test.name, got)
		}
	}
	page.Key("m")
	if got := page.Text(".tile[aria-pressed=true]"); !strings.Contains(got, "Count") {
		t.Errorf("m leads to %q", got)
	}
}

func TestSiteAndItsStacks(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", source(t), 1)))
	page.Click(".sites tbody tr .link")
	detail := page.Text("#detail")
	for _, want := range []string{"parse(std::basic_string_view<char, std::char_traits<char>>)", "3,000 (47 %)", "20 B to 219 B", "serve", "malloc"} {
		if !strings.Contains(detail, want) {
			t.Errorf("of the site is not said: %q\n%s", want, detail)
		}
	}
	if n := page.Count("#detail .stack li"); n != 3 {
		t.Errorf("its stack has %d frames", n)
	}
	page.Click("#detail .place .link")
	if got := page.Text(".code-table tr.chosen"); !strings.Contains(got, "line_5") || !strings.Contains(got, "3,000") || !strings.Contains(got, `<b>\u{202e}&amp;`) {
		t.Errorf("the chosen line is %q", got)
	}
	if got := page.Text(`.code-table tr[data-line="40"]`); !strings.Contains(got, "6,400") {
		t.Errorf("line 40, from which all is called: %q", got)
	}
	page.Key("Escape")
	if page.Count("#detail:not([hidden])") != 0 {
		t.Error("Escape did not close the site")
	}
	page.Eval("history.back()", nil)
	page.Wait(`!document.querySelector("#detail").hidden`)
}

func TestKeys(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", source(t), 1)))
	for i, view := range []string{"overview", "calls", "sizes", "source", "about"} {
		page.Key(fmt.Sprint(i + 1))
		page.Wait(fmt.Sprintf(`!document.getElementById(%q).hidden`, view))
		if n := page.Count("main > :not([hidden])"); n != 1 {
			t.Errorf("%s: %d views are shown", view, n)
		}
	}
	page.Key("1")
	page.Key("j")
	page.Key("j")
	if got := page.Text("tr.chosen"); !strings.Contains(got, "answer") {
		t.Errorf("j leads to %q", got)
	}
	page.Key("k")
	if got := page.Text("tr.chosen"); !strings.Contains(got, "parse") {
		t.Errorf("k leads to %q", got)
	}
	page.Key("Escape")
	page.Key("/")
	page.Type("answer")
	page.Key("Enter")
	page.Wait(`document.querySelectorAll("#overview .sites tbody tr").length === 1`)
	if got := page.Text("#chips"); !strings.Contains(got, "answer") {
		t.Errorf("the filters are %q", got)
	}
	page.Key("Escape")
	page.Wait(`document.querySelectorAll("#overview .sites tbody tr").length === 3`)
}

func TestCallTree(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", "server.cc", 1)))
	page.Key("2")
	page.Eval(`document.querySelector("#calls canvas").focus()`, nil)
	for _, key := range []string{"ArrowDown", "ArrowDown", "ArrowDown"} {
		page.Key(key)
	}
	if got := page.Text("#icicle-status"); !strings.Contains(got, "parse") || !strings.Contains(got, "3,000 47 %") || !strings.Contains(got, "50 % of its caller") {
		t.Errorf("the third row is %q", got)
	}
	page.Key("ArrowRight")
	if got := page.Text("#icicle-status"); !strings.Contains(got, "answer") {
		t.Errorf("beside it is %q", got)
	}
	page.Key("ArrowUp")
	page.Key("Enter")
	page.Wait(`!document.querySelector("#calls .toolbar button:nth-child(2)").disabled`)
	if got := page.Text("#icicle-status"); !strings.Contains(got, "serve(request&)") || !strings.Contains(got, "6,000") {
		t.Errorf("zoomed in on %q", got)
	}
	page.Key("Backspace")
	page.Key("Backspace")
	page.Wait(`document.querySelector("#calls .toolbar button:nth-child(2)").disabled`)
	page.Key("i")
	page.Key("ArrowDown")
	if got := page.Text("#icicle-status"); !strings.Contains(got, "parse") {
		t.Errorf("inverted, the first is %q", got)
	}
	page.Key("ArrowDown")
	if got := page.Text("#icicle-status"); !strings.Contains(got, "serve") || !strings.Contains(got, "100 % of its callee") {
		t.Errorf("its caller is %q", got)
	}
	page.Key("/")
	page.Type("answer")
	page.Wait(`document.querySelector("#calls .toolbar [role=status]").textContent.startsWith("47 %")`)
	var colours int
	page.Eval(`(() => { const c = document.querySelector("#calls canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, 60).data; const s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); return s.size; })()`, &colours)
	if colours < 4 {
		t.Errorf("the tree has %d colours", colours)
	}
	page.Click("#icicle-status button")
	page.Wait(`document.querySelector("#chips").textContent.includes("through serve")`)
}

func TestTimeline(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", "server.cc", 1)))
	var chart struct{ Left, Top, Width, Height float64 }
	page.Eval(`(() => { const b = document.querySelector(".u-over").getBoundingClientRect(); return {Left: b.left, Top: b.top, Width: b.width, Height: b.height}; })()`, &chart)
	y := chart.Top + chart.Height/2
	// The first fifth: only the table grows.
	page.Drag(chart.Left+2, y, chart.Left+chart.Width/5, y)
	page.Wait(`document.querySelector("#chips button")`)
	if got := page.Text(".sites tbody"); strings.Contains(got, "parse") || !strings.Contains(got, "table::grow") || !strings.Contains(got, "≈") {
		t.Errorf("in the first fifth there are %q", got)
	}
	if got := page.Text(".range-says"); !strings.Contains(got, "in proportion") {
		t.Errorf("of the range is said %q", got)
	}
	page.Click("#chips button")
	page.Wait(`document.querySelectorAll("#overview .sites tbody tr").length === 3`)
	page.Eval(`(() => { const f = document.querySelectorAll(".range input"); f[0].value = "1"; f[1].value = "3"; f[1].dispatchEvent(new Event("change")); })()`, nil)
	page.Wait(`document.querySelectorAll("#overview .sites tbody tr").length === 2`)
	if got := page.Text(".sites tbody"); strings.Contains(got, "≈") || !strings.Contains(got, "3,000") {
		t.Errorf("from 1 to 3 s, in which all of them are: %q", got)
	}
}

// A run within one tick of its clock has no course to draw.
func TestShortRun(t *testing.T) {
	im := symbolic()
	p := recordingtest.NewProcess(im)
	p.Detailed = true
	p.At(0)
	thread := p.Thread()
	stack := im.Stack(recording.Malloc, im.Symbolic("main", "a.c", "a", 1))
	for range 2000 {
		thread.Free(thread.Alloc(stack, 8))
	}
	page := open(t, profileOf(t, p))
	if got := page.Count("#timeline:not([hidden])"); got != 0 {
		t.Errorf("a run of 0 ms has a timeline: %q", page.Text("#timeline"))
	}
}

func TestSizes(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", "server.cc", 1)))
	page.Key("3")
	if got := page.Text(".histogram-table tbody"); !strings.Contains(got, "57–64 B") || !strings.Contains(got, "225–256 B") {
		t.Errorf("sizes: %q", got)
	}
	page.Eval(`[...document.querySelectorAll(".histogram-table .link")].find((b) => b.textContent === "57–64 B").click()`, nil)
	page.Wait(`document.querySelectorAll("#sizes .sites tbody tr").length === 1`)
	if got := page.Text("#sizes .sites tbody"); !strings.Contains(got, "answer") || !strings.Contains(got, "3,000") {
		t.Errorf("behind 64 B are %q", got)
	}
	if n := page.Count(".histogram-table tbody tr"); n < 3 {
		t.Errorf("%d bars are left", n)
	}
}

func TestThemesAndWindows(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", source(t), 1)))
	ground := func() (rgb string) {
		page.Eval(`getComputedStyle(document.documentElement).backgroundColor`, &rgb)
		return rgb
	}
	page.Dark(false)
	light := ground()
	page.Dark(true)
	page.Wait(fmt.Sprintf(`getComputedStyle(document.documentElement).backgroundColor !== %q`, light))
	dark := ground()
	page.Key("t")
	if got := ground(); got != light {
		t.Errorf("light was chosen, the ground is %s", got)
	}
	page.Key("t")
	if got := ground(); got != dark {
		t.Errorf("dark was chosen, the ground is %s", got)
	}
	for _, width := range []int{1280, 800, 400} {
		page.Size(width, 800)
		fits(t, page, width)
	}
}

// fits goes through all views, with a site open and without, and looks whether
// anything is wider than the window.
func fits(t *testing.T, page *browser.Page, width int) {
	t.Helper()
	page.Key("Escape")
	for _, open := range []bool{false, true} {
		for view := 1; view <= 5; view++ {
			page.Key(fmt.Sprint(view))
			if open && view == 1 && page.Count(".sites tbody tr .link") > 0 {
				page.Click(".sites tbody tr .link")
			}
			// What is drawn follows the size of its place with the next frames.
			page.Wait(fmt.Sprintf(`/* view %d at %d, a site open: %v */ document.documentElement.scrollWidth <= innerWidth`, view, width, open))
		}
	}
	page.Key("Escape")
}

func TestHostileNames(t *testing.T) {
	names := []string{
		`</script><script>window.hacked = 1</script>`, `<img src=x onerror="window.hacked=1">`, `javascript:window.hacked=1`,
		"line one\nline two\r\tthree", "\u202eesrever\u2066 isolated", strings.Repeat("endless", 500), `"'><b>bold</b>&lt;`,
		`operator<<<std::vector<std::map<std::string, std::vector<int>>>>(std::ostream&)`, "=cmd|' /C calc'!A0", "{{style}}${window.hacked=1}",
		strings.Repeat("\u0335\u0336", 300), "constructor", "__proto__", "toString",
	}
	im := symbolic()
	p := recordingtest.NewProcess(im)
	p.Detailed = true
	p.At(0)
	thread := p.Thread()
	stacks := make([]recordingtest.Stack, len(names))
	for i, name := range names {
		frame := im.Symbolic(name, "/tmp/"+name+".c", name, 7)
		stacks[i] = im.Stack(recording.Malloc, frame, im.Symbolic("a::"+name, name, name, 8), frame)
	}
	for i := range 8000 {
		p.At(uint32(i))
		thread.Free(thread.Alloc(stacks[i%len(stacks)], uint64(8+i%100)))
	}
	page := open(t, profileOf(t, p))
	untouched := func(where string) {
		t.Helper()
		var hacked string
		page.Eval(`typeof window.hacked + document.querySelectorAll("img, b, main script, aside script").length`, &hacked)
		if hacked != "undefined0" {
			t.Errorf("%s: a name became markup: %s", where, hacked)
		}
	}
	untouched("overview")
	var over int
	page.Eval(`(() => { const e = document.querySelector("#overview .scroll"); return e.scrollWidth - e.clientWidth; })()`, &over)
	if over > 0 {
		t.Errorf("names make the table %d too wide", over)
	}
	if n := page.Count(".sites tbody tr"); n != len(names) {
		t.Errorf("%d sites of %d", n, len(names))
	}
	for range names {
		page.Key("j")
		untouched("site")
		var name, window float64
		page.Eval(`document.querySelector("#detail h2").offsetHeight`, &name)
		page.Eval(`innerHeight`, &window)
		if name > window/3 {
			t.Errorf("the name of a site takes %v of %v pixels: what is said of it is out of sight", name, window)
		}
		page.Eval(`document.querySelectorAll("#detail details").forEach((d) => d.open = true)`, nil)
		untouched("stack")
	}
	for _, width := range []int{1280, 400} {
		page.Size(width, 800)
		fits(t, page, width)
	}
	page.Size(1280, 800)
	page.Key("2")
	page.Eval(`document.querySelector("#calls canvas").focus()`, nil)
	for range 4 {
		page.Key("ArrowDown")
		page.Click("#icicle-status button")
		untouched("call tree")
		page.Eval(`document.querySelector("#calls canvas").focus()`, nil)
	}
	// The address comes from anybody, too.
	for _, address := range []string{"#view=__proto__&metric=constructor", "#site=99999999&range=[1,0]", "#through=[\"<b>x\"]&sizes=[1e999,2]", "#%zz=1&view=%E0%A4%A", "#file=-5&line=1e308&site=1.5"} {
		page.Eval(fmt.Sprintf("location.hash = %q", address), nil)
		page.Eval("new Promise((done) => setTimeout(done, 100))", nil)
		untouched(address)
		if n := page.Count("main > :not([hidden])"); n != 1 {
			t.Errorf("%s: %d views are shown", address, n)
		}
	}
}

// TestManyStacks opens a page of 100,000 stacks and goes through its views.
func TestManyStacks(t *testing.T) {
	const stacks = 100_000
	im := symbolic()
	p := recordingtest.NewProcess(im)
	thread := p.Thread()
	main := im.Path(im.Symbolic("main", "main.c", "large", 1))
	for i := range stacks {
		path := main
		for n, depth := i, 0; depth < 9; depth++ {
			path = im.Inside(path, im.Symbolic(fmt.Sprintf("level%d<std::vector<int>>::f%d(int)", depth, n%7), "large.c", "large", uint32(1+100*depth+n%7)))
			n = n*31/7 + depth
		}
		path = im.Inside(path, im.Symbolic("leaf", "leaf.c", "large", uint32(i+1)))
		thread.Alloc(im.StackAt(path, recording.Malloc, false), uint64(1+i%5000))
	}
	page := open(t, profileOf(t, p))
	if got := page.Text(".tile"); !strings.Contains(got, "100,000") {
		t.Errorf("the first tile is %q", got)
	}
	if n := page.Count("tr"); n > 500 {
		t.Errorf("the first screen has %d rows", n)
	}
	for _, key := range []string{"2", "i", "m", "3", "5", "1"} {
		page.Key(key)
	}
	page.Click(".sites tbody tr .link")
	page.Key("/")
	page.Type("level3")
	page.Key("Enter")
	page.Wait(`document.querySelector("#chips button")`)
}

func TestComparison(t *testing.T) {
	old := profileOf(t, course(symbolic(), "", "server.cc", 3))
	im := symbolic()
	changed := course(im, "", "server.cc", 1)
	extra := im.Stack(recording.Malloc, im.Symbolic("main", "server.cc", "server", 40), im.Symbolic("added", "server.cc", "server", 44))
	thread := changed.Thread()
	for range 500 {
		thread.Free(thread.Alloc(extra, 10))
	}
	new := profileOf(t, changed)
	page := show(t, func(file *os.File) error {
		return html.WriteDiff(file, diff.Compare(old, new, diff.Options{All: true}), html.Options{})
	})
	if got := page.Text(".tile"); !strings.Contains(got, "19,200 → 6,900") || !strings.Contains(got, "2.8 times fewer") {
		t.Errorf("the first tile is %q", got)
	}
	rows := page.Text(".compared tbody")
	for _, want := range []string{"parse", "−6,000", "3.0 times fewer", "added", "+500", "new"} {
		if !strings.Contains(rows, want) {
			t.Errorf("not among the changes: %q\n%s", want, rows)
		}
	}
	page.Eval(`[...document.querySelectorAll(".segments button")].find((b) => b.textContent.startsWith("new")).click()`, nil)
	page.Wait(`document.querySelectorAll(".compared tbody tr").length === 1`)
	page.Key("2")
	if got := page.Text("#icicle-status"); !strings.Contains(got, "19,200 → 6,900") {
		t.Errorf("the tree is of %q", got)
	}
	for _, width := range []int{1280, 400} {
		page.Size(width, 800)
		fits(t, page, width)
	}
}

// What lives was never freed where the program has ended. A heap profile is of
// one that goes on, and so may a recording be.
func TestWhatLives(t *testing.T) {
	ended := profileOf(t, course(symbolic(), "", "server.cc", 1))
	snapshot := profileOf(t, course(symbolic(), "", "server.cc", 1))
	snapshot.SumsOnly = true
	running := profileOf(t, course(symbolic(), "", "server.cc", 1))
	running.Running = 1
	for _, test := range []struct {
		p          *profile.Profile
		name, fate string
	}{{ended, "Leaked", "never freed"}, {snapshot, "In use", "in use"}, {running, "Live", "not freed yet"}} {
		page := open(t, test.p)
		if got := page.Text(".tiles"); !strings.Contains(got, test.name) {
			t.Errorf("%s: tiles %q", test.name, got)
		}
		if got := page.Text(".sites thead"); !strings.Contains(strings.ToLower(got), strings.ToLower(test.name)) {
			t.Errorf("%s: columns %q", test.name, got)
		}
		page.Click(".sites tbody tr .link")
		for _, where := range []string{"#detail", "#about"} {
			if where == "#about" {
				page.Key("5")
			}
			got := page.Text(where)
			if !strings.Contains(got, test.fate) || test.p != ended && strings.Contains(got, "never freed") {
				t.Errorf("%s: %s says %q", test.name, where, got)
			}
		}
	}
}

// Of several processes the peak is the sum of those that each had.
func TestPeakOfSeveral(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "family.mallow")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"live at once", "sum over the processes"} {
		im := symbolic()
		im.PID += uint64(i)
		im.Name = fmt.Sprintf("image-%d-1-0", im.PID)
		if err := course(im, "", "server.cc", 1).Finish().Write(folder, recordingtest.Packed); err != nil {
			t.Fatal(err)
		}
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		page := open(t, profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()}))
		if got := page.Text(".tiles"); !strings.Contains(got, want) {
			t.Errorf("%d processes: %q", i+1, got)
		}
	}
}

// The page says how long a program took, and its CPU time only where that is known.
func TestTimes(t *testing.T) {
	for unwaited, want := range map[uint64]string{0: "2.00 s, 1.50 s of CPU time", 7: "2.00 s"} {
		p := profileOf(t, course(symbolic(), "", "server.cc", 1))
		p.Recordings[0].Meta = &recording.Meta{
			Started: time.Unix(1, 0), Ended: time.Unix(3, 0), UserSeconds: 1.25, SystemSeconds: 0.25, Unwaited: []uint64{unwaited},
		}
		page := open(t, p)
		page.Key("5")
		var got string
		page.Eval(`[...document.querySelectorAll("#about dt")].find((name) => name.textContent == "took").nextElementSibling.textContent`, &got)
		if got != want {
			t.Errorf("took %v, want %q", got, want)
		}
	}
}

// TestNothing shows a recording without any allocation.
func TestNothing(t *testing.T) {
	p := recordingtest.NewProcess(symbolic())
	p.Thread()
	page := open(t, profileOf(t, p))
	page.Wait(`document.body.classList.contains("ready")`)
	for _, key := range []string{"2", "i", "3", "4", "5", "1"} {
		page.Key(key)
	}
	if got := page.Text("#overview"); !strings.Contains(got, "Nothing") {
		t.Errorf("of nothing is said %q", got)
	}
	fits(t, page, 1280)
}

// TestNamesOfControls asks the tree that screen readers use whether all that
// can be pressed or filled in has a name.
func TestNamesOfControls(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", source(t), 1)))
	for view := 1; view <= 5; view++ {
		page.Key(fmt.Sprint(view))
		if view == 1 {
			page.Click(".sites tbody tr .link")
		}
		problems, controls := controlsOf(page)
		for _, problem := range problems {
			t.Errorf("view %d: %s", view, problem)
		}
		if controls < 10 {
			t.Errorf("view %d: %d controls are in the tree", view, controls)
		}
	}
}

// controlsOf says which controls have no name, and how many there are.
func controlsOf(page *browser.Page) (problems []string, controls int) {
	var tree struct {
		Nodes []struct {
			Ignored bool
			Role    struct{ Value string }
			Name    struct{ Value string }
		}
	}
	page.Call("Accessibility.getFullAXTree", nil, &tree)
	for _, n := range tree.Nodes {
		switch n.Role.Value {
		case "button", "link", "searchbox", "spinbutton", "combobox", "application", "navigation", "table":
			if n.Ignored {
				continue
			}
			controls++
			if strings.TrimSpace(n.Name.Value) == "" && n.Role.Value != "table" {
				problems = append(problems, "a "+n.Role.Value+" has no name")
			}
		}
	}
	return problems, controls
}

// faintTexts measures all text that is shown against what it stands on, by the
// formula of WCAG: 4.5 is its least.
func faintTexts(page *browser.Page) (found []string) {
	const faint = `(() => {
		const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
		const scale = (c) => c.startsWith("color(") ? 1 : 255;
		const light = (c, s) => { const f = c.slice(0, 3).map((v) => { v /= s; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
		const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; const p = parse(c); if (p.length < 4 || p[3] > 0.9) return [p, scale(c)]; } return [[255, 255, 255], 255]; };
		const found = [];
		for (const e of document.querySelectorAll("body *")) {
			if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
			if (!e.getClientRects().length || e.closest("canvas, script, .u-over, .skip, .unseen, :disabled") || getComputedStyle(e).visibility === "hidden") continue;
			const c = getComputedStyle(e).color;
			const [g, s] = ground(e);
			const a = light(parse(c), scale(c)), b = light(g, s);
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (contrast < 4.5) found.push(contrast.toFixed(2) + " " + e.className + " " + e.textContent.slice(0, 40));
		}
		return found;
	})()`
	page.Eval(faint, &found)
	return found
}

func TestContrast(t *testing.T) {
	page := open(t, profileOf(t, course(symbolic(), "", source(t), 1)))
	for _, dark := range []bool{false, true} {
		page.Dark(dark)
		page.Eval("new Promise((done) => setTimeout(done, 300))", nil)
		for view := 1; view <= 5; view++ {
			page.Key(fmt.Sprint(view))
			page.Eval("new Promise((done) => setTimeout(done, 200))", nil)
			for _, f := range faintTexts(page) {
				t.Errorf("view %d, dark %v: %s", view, dark, f)
			}
		}
	}
}
