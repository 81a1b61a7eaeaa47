package advise_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/internal/advise"
	"mallow/internal/advise/price"
	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/test/harness"
)

// busy makes temporary blocks of one size, pairs, a growing buffer, and others.
func busy(t *testing.T) *ruletest.Program {
	p := ruletest.NewProgram(t)
	key := p.Stack(recording.Malloc, "key_of cache.c:95", "find cache.c:107")
	for range 20_000 {
		p.FreeFrom(p.Alloc(key, 20), p.By("find cache.c:112"))
	}
	connection, node := p.Stack(recording.Malloc, "open conn.c:162"), p.Stack(recording.Malloc, "append list.c:40", "open conn.c:165")
	for range 100 {
		var row [][2]recordingtest.Block
		for range 30 {
			row = append(row, [2]recordingtest.Block{p.Alloc(connection, 32), p.Alloc(node, 24)})
		}
		for _, b := range row {
			p.FreeFrom(b[1], p.By("remove list.c:66"))
			p.FreeFrom(b[0], p.By("close conn.c:127"))
		}
	}
	first, again := p.Stack(recording.Malloc, "line_new line.c:3"), p.Stack(recording.Realloc, "line_add line.c:9")
	for range 200 {
		b := p.Alloc(first, 16)
		for size := uint64(32); size <= 320; size += 16 {
			b = p.Realloc(b, again, size)
		}
		p.Free(b)
	}
	p.Noise(2000)
	return p
}

// used tells how long the run took, as meta.json does.
func used(p *profile.Profile, seconds float64) *profile.Profile {
	p.Recordings[0].Meta = &recording.Meta{UserSeconds: seconds}
	return p
}

// sum demands what holds of any advice, and returns what it saves in all.
func sum(t *testing.T, p *profile.Profile, r advise.Result) (saved uint64) {
	t.Helper()
	var time float64
	for i := range r.Advice {
		a := &r.Advice[i]
		saved += a.Saves.Allocations
		if a.Saves.CPUShare != nil {
			time += *a.Saves.CPUShare
		}
		if a.Rule == "" || a.Title == "" || a.Remedy == "" || a.Evidence == "" || len(a.Sites) == 0 {
			t.Errorf("incomplete: %+v", a)
		}
		if !(a.Saves.Share >= 0 && a.Saves.Share <= 1) || a.Saves.CPUShare != nil && !(*a.Saves.CPUShare >= 0 && *a.Saves.CPUShare <= 1) {
			t.Errorf("shares of %s: %+v", a.Title, a.Saves)
		}
		if (a.Saves.CPUShare == nil) != (a.Saves.Basis == "") {
			t.Errorf("basis of %s: %+v", a.Title, a.Saves)
		}
	}
	if time > 1+1e-9 {
		t.Errorf("%g of the CPU time is saved", time)
	}
	if all := p.Totals.Allocations; saved > all {
		t.Errorf("%d allocations are saved of %d", saved, all)
	}
	return saved
}

// TestOnce demands that no allocation is promised twice, though several rules
// have something to say of it.
func TestOnce(t *testing.T) {
	p := busy(t).Profile()
	r := advise.For(p, advise.Options{})
	sum(t, p, r)
	perRule := make(map[string]uint64)
	for _, a := range r.Advice {
		perRule[a.Rule] += a.Saves.Allocations
	}
	if perRule["temporary"] != 20_000 || perRule["pair"] != 3000 || perRule["growth"] != 200*18 || len(r.Advice) != 3 {
		t.Errorf("%v: %+v", perRule, r.Advice)
	}
	if r.Stop != "" {
		t.Errorf("nobody knows what that costs: %s", r.Stop)
	}
}

// TestMovedOrHoisted has rows that are copied into a container one after the other: what is moved there cannot be used
// again in the next round.
func TestMovedOrHoisted(t *testing.T) {
	const row = "std::vector<double, std::allocator<double> >"
	p := ruletest.NewProgram(t)
	original := p.Stack(recording.New, "operator new(unsigned long)", row+"::vector(unsigned long, double const&, std::allocator<double> const&)", "matrix matrix.cc:41")
	element := p.Stack(recording.New, "operator new(unsigned long)", row+"::vector("+row+" const&)",
		"void std::allocator_traits<std::allocator<"+row+" > >::construct<"+row+", "+row+" const&>(std::allocator<"+row+" >&, "+row+"*, "+row+" const&)",
		"std::vector<"+row+", std::allocator<"+row+" > >::push_back("+row+" const&)", "matrix matrix.cc:42")
	for range 1000 {
		var rows []recordingtest.Block
		for range 8 {
			made := p.Alloc(original, 64)
			rows = append(rows, p.Alloc(element, 64))
			p.FreeFrom(made, p.By("matrix matrix.cc:43"))
		}
		for _, b := range rows {
			p.FreeFrom(b, p.By("main matrix.cc:66"))
		}
	}
	r := advise.For(p.Profile(), advise.Options{})
	if len(r.Advice) != 1 || r.Advice[0].Rule != "element-copy" || r.Advice[0].Saves.Allocations != 8000 {
		t.Errorf("%+v", r.Advice)
	}
}

// TestMadeByLibrary has texts that a library makes and the program releases: to have
// them elsewhere is not for the program to say.
func TestMadeByLibrary(t *testing.T) {
	for maker, words := range map[string]string{"libz!zDump": "; libz.so.6 makes it: ", "libz!xstrdup": "; libz.so.6 makes it: ", "dump main.c:7": ""} {
		p := ruletest.NewProgram(t)
		text := p.Stack(recording.Malloc, maker, "print main.c:20")
		other := p.Stack(recording.Malloc, "open main.c:30")
		for i := range uint64(1000) {
			b := p.Alloc(text, 8+i%20)
			p.Alloc(other, 40+i)
			p.FreeFrom(b, p.By("print main.c:22"))
		}
		first := advise.For(p.Profile(), advise.Options{}).Advice[0]
		if first.Rule != "hoist" || first.Sites[0].Function != "print" || strings.Contains(first.Remedy, "makes it") != (words != "") || !strings.Contains(first.Remedy, words) {
			t.Errorf("%s: %+v", maker, first)
		}
	}
}

// TestPackages has allocations of crates: the program's own line that uses them is
// named first; what starts a thread is none.
func TestPackages(t *testing.T) {
	const crates = "/build/.cargo/registry/src/crates-6f17d22bba15001f/"
	for user, lines := range map[string][]int{"mine::lines /build/mine/src/main.rs:24": {24, 232}, "libc!start_thread nptl/pthread_create.c:442": {1, 232}} {
		p := ruletest.NewProgram(t)
		stack := p.Stack(recording.Realloc, "WriterFormatter::write "+crates+"serde_json-1.0/src/value/mod.rs:232", "to_string "+crates+"serde_json-1.0/src/ser.rs:9", user)
		for range 1000 {
			b := p.Alloc(stack, 8)
			for size := uint64(16); size <= 128; size *= 2 {
				b = p.Realloc(b, stack, size)
			}
			p.FreeFrom(b, p.By("to_string "+crates+"serde_json-1.0/src/ser.rs:19"))
		}
		first := advise.For(p.Profile(), advise.Options{}).Advice[0]
		var named []int
		for _, place := range first.Sites {
			named = append(named, place.Line)
		}
		if first.Rule != "growth" || !slices.Equal(named, lines) || !first.Uses || !strings.Contains(first.Remedy, "a package's") {
			t.Errorf("%s: %+v", user, first)
		}
	}
}

// TestHelper has a helper whose callers are told instead of it: it is named, too, for it is there that a vector grows.
func TestHelper(t *testing.T) {
	const grows = "void std::vector<Object, std::allocator<Object> >::_M_realloc_insert<Object>(Object*, Object&&)"
	p := ruletest.NewProgram(t)
	add := func(by string) recordingtest.Stack {
		return p.Stack(recording.New, "operator new(unsigned long)", grows, "Array::add(Object&&) array.cc:74", by)
	}
	operands, tables := add("operands parser.cc:10"), add("tables parser.cc:20")
	release := p.By("Array::~Array() array.cc:90")
	for range 1000 {
		var old recordingtest.Block
		for size := uint64(16); size <= 128; size *= 2 {
			b := p.Alloc(operands, size)
			if size > 16 {
				p.FreeFrom(old, p.By(grows))
			}
			old = b
		}
		p.FreeFrom(old, release)
		p.FreeFrom(p.Alloc(tables, 4096), release)
	}
	var sites []string
	for _, a := range advise.For(p.Profile(), advise.Options{}).Advice {
		if a.Rule == "growth" {
			for _, site := range a.Sites {
				sites = append(sites, site.Function)
			}
		}
	}
	if got := strings.Join(sites, ", "); got != "operands, Array::add(Object&&)" {
		t.Errorf("growth at %s", got)
	}
}

// TestPrice takes known costs: 50 ns for each pair, of a program that used a
// millisecond, or a minute.
func TestPrice(t *testing.T) {
	priced := func(seconds float64) advise.Result {
		p := used(busy(t).Profile(), seconds)
		r := advise.For(p, advise.Options{Price: price.Fixed(50, 0)})
		sum(t, p, r)
		return r
	}
	short := priced(0.01)
	if first := &short.Advice[0]; first.Rule != "temporary" || *first.Saves.CPUShare < 0.09 || *first.Saves.CPUShare > 0.11 ||
		!strings.Contains(first.Saves.Basis, "glibc's malloc at 50 ns a pair") || first.Saves.Little() {
		t.Errorf("%+v", first)
	}
	if short.Stop != "" {
		t.Errorf("%s", short.Stop)
	}
	long := priced(60)
	for i := range long.Advice {
		a := &long.Advice[i]
		if !a.Saves.Little() || !strings.HasSuffix(a.Evidence, "many calls, but little cost") {
			t.Errorf("%+v", a)
		}
	}
	if len(long.Advice) == 0 || !strings.HasPrefix(long.Stop, "stop here: all of this together") {
		t.Errorf("%d: %s", len(long.Advice), long.Stop)
	}
}

// TestRemedyTakesTime has blocks for which a list is told: it takes a part of what malloc took.
func TestRemedyTakesTime(t *testing.T) {
	p := ruletest.NewProgram(t)
	event, text := p.Stack(recording.Malloc, "post queue.c:12"), p.Stack(recording.Malloc, "show show.c:7")
	var queue []recordingtest.Block
	for range 20_000 {
		queue = append(queue, p.Alloc(event, 48))
		p.FreeFrom(p.Alloc(text, 80), p.By("show show.c:9"))
		if len(queue) == 50 {
			p.FreeFrom(queue[0], p.By("take queue.c:30"))
			queue = queue[1:]
		}
	}
	for _, a := range advise.For(used(p.Profile(), 0.01), advise.Options{Price: price.Fixed(50, 0)}).Advice {
		takes, want := strings.HasSuffix(a.Saves.Basis, ", of which the remedy takes 50 %"), 0.1
		if a.Rule == "same-size" {
			want = 0.05
		}
		if takes != (a.Rule == "same-size") || math.Abs(*a.Saves.CPUShare-want) > want/10 {
			t.Errorf("%s: %+v", a.Rule, a)
		}
	}
}

// TestNoMoreThanAll has two buffers of which each one's copying, at what a byte is thought to cost, takes all the time.
func TestNoMoreThanAll(t *testing.T) {
	p := ruletest.NewProgram(t)
	for _, by := range []string{"names", "values"} {
		first, again := p.Stack(recording.Malloc, by+"_new list.c:3"), p.Stack(recording.Realloc, by+"_add list.c:9")
		for range 10 {
			b := p.Alloc(first, 16<<10)
			for size := uint64(32 << 10); size <= 4<<20; size += 16 << 10 {
				b = p.Realloc(b, again, size)
			}
			p.Free(b)
		}
	}
	profile := used(p.Profile(), 0.01)
	r := advise.For(profile, advise.Options{Price: price.Fixed(50, 0)})
	sum(t, profile, r)
	if len(r.Advice) != 2 {
		t.Errorf("%+v", r.Advice)
	}
}

// TestLeftOut has twelve lines that each save a twelfth of the allocations, and next to no time of a minute: it must not
// say that nothing is known.
func TestLeftOut(t *testing.T) {
	p := ruletest.NewProgram(t)
	for i := range 12 {
		key := p.Stack(recording.Malloc, fmt.Sprintf("key%d cache.c:%d", i, 10+i))
		for range 1000 {
			p.FreeFrom(p.Alloc(key, 20), p.By(fmt.Sprintf("key%d cache.c:%d", i, 50+i)))
		}
	}
	r := advise.For(used(p.Profile(), 60), advise.Options{Price: price.Fixed(50, 0)})
	if want := "stop here: the 12 changes that are known would save less than 0.1 % of the CPU time"; len(r.Advice) > 0 || r.Stop != want {
		t.Errorf("%q, not %q: %+v", r.Stop, want, r.Advice)
	}
	if want := "left out: 12 changes that would save 100 % of the allocations, and less than 0.1 % of the CPU time"; r.LeftOut != want {
		t.Errorf("%q, not %q", r.LeftOut, want)
	}
	// Without a time it is told all the same.
	if r := advise.For(p.Profile(), advise.Options{}); len(r.Advice) != 12 || r.LeftOut != "" {
		t.Errorf("%d: %q", len(r.Advice), r.LeftOut)
	}
}

// TestNothing has nothing to say of a program that is fine, or does nothing.
func TestNothing(t *testing.T) {
	fine := ruletest.NewProgram(t)
	fine.Noise(1000)
	if r := advise.For(fine.Profile(), advise.Options{}); len(r.Advice) > 0 || !strings.HasPrefix(r.Stop, "stop here: ") {
		t.Errorf("%+v", r)
	}
	if r := advise.For(ruletest.NewProgram(t).Profile(), advise.Options{}); len(r.Advice) > 0 || r.Stop != "" {
		t.Errorf("%+v", r)
	}
}

// TestDamaged takes every golden recording, whole and with bytes damaged:
// whatever the reader lets through must be borne.
func TestDamaged(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(harness.Root(), "format", "testdata", "*.mallow"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, folder := range folders {
		images, _ := filepath.Glob(filepath.Join(folder, "image-*"))
		for at := -1; at < 40; at++ {
			damaged := t.TempDir()
			for _, image := range images {
				b, err := os.ReadFile(image)
				if err != nil {
					t.Fatal(err)
				}
				if at >= 0 {
					for i := 4096 + at; i < len(b); i += 97 + 13*at {
						b[i] ^= byte(1 << (i % 8))
					}
				}
				if err := os.WriteFile(filepath.Join(damaged, filepath.Base(image)), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			rec, err := recording.Open(damaged)
			if err != nil {
				continue
			}
			p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
			r := advise.For(used(p, 1), advise.Options{Price: price.Fixed(20, 10), All: at%2 == 0})
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%s, %d: %v", folder, at, err)
			}
			if at < 0 {
				sum(t, p, r)
			}
		}
	}
}

// TestPages demands a page of the manual for each rule, and that the list of
// them has it.
func TestPages(t *testing.T) {
	folder := filepath.Join(harness.Root(), "docs", "manual", "advice")
	list, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.All {
		page, err := os.ReadFile(filepath.Join(folder, r.Name+".md"))
		if err != nil || !strings.HasPrefix(string(page), "# "+r.Name+"\n") {
			t.Errorf("no page of %s: %v", r.Name, err)
		}
		if !strings.Contains(string(list), "["+r.Name+"]("+r.Name+".md)") {
			t.Errorf("the list lacks %s", r.Name)
		}
	}
}
