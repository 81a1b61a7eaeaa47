package html_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"mallow/internal/advise"
	"mallow/internal/diff"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/report/html"
)

const handmade = "../../../format/testdata/handmade"

func load(t *testing.T, path string) *profile.Profile {
	t.Helper()
	rec, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	rec.Path = filepath.Base(path)
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

func golden(t *testing.T, name string) *profile.Profile {
	t.Helper()
	return load(t, filepath.Join(handmade, name+".mallow"))
}

// data is what a page holds, read as the page itself does.
type data struct {
	Schema  string
	Strings []string
	Columns map[string]struct{ At, N, Form int }
	Sites   []struct{ Frame, Side int }
	Thinned struct{ Stacks, Nodes int }
	Advice  []struct {
		Places []struct{ Site int }
	}
	Sources []struct {
		File, Lines int
		Pieces      []struct {
			First int
			Text  []string
		}
	}
	Diff *struct {
		Rows []struct {
			Status   string
			Old, New []int
		}
	}
	body []byte
}

var holder = regexp.MustCompile(`(?s)id="data">(.*?)</script>`)

func dataOf(t *testing.T, page []byte) *data {
	t.Helper()
	m := holder.FindSubmatch(page)
	if m == nil {
		t.Fatal("the page holds no data")
	}
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, all)
}

func parse(t *testing.T, all []byte) *data {
	t.Helper()
	length := binary.LittleEndian.Uint32(all)
	var d data
	if err := json.Unmarshal(all[4:4+length], &d); err != nil {
		t.Fatal(err)
	}
	d.body = all[4+length:]
	return &d
}

func (d *data) column(t *testing.T, name string) []int64 {
	t.Helper()
	c, known := d.Columns[name]
	if !known {
		t.Fatalf("there is no column %s", name)
	}
	values := make([]int64, c.N)
	from, last := d.body[c.At:], int64(0)
	for i := range values {
		u, n := binary.Uvarint(from)
		if n <= 0 {
			t.Fatalf("%s: number %d is cut", name, i)
		}
		from = from[n:]
		values[i] = int64(u)
		if c.Form > 0 {
			values[i] = int64(u>>1) ^ -int64(u&1)
		}
		if c.Form == 2 {
			values[i] += last
			last = values[i]
		}
	}
	return values
}

func sum(values []int64) (s uint64) {
	for _, v := range values {
		s += uint64(v)
	}
	return s
}

func write(t *testing.T, p *profile.Profile, o html.Options) []byte {
	t.Helper()
	var page bytes.Buffer
	if err := html.Write(&page, p, o); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// TestNothingIsLost adds up what pages of all golden recordings hold.
func TestNothingIsLost(t *testing.T) {
	for _, g := range recordingtest.Goldens() {
		t.Run(g.Name, func(t *testing.T) {
			p := golden(t, g.Name)
			page := write(t, p, html.Options{Advice: advise.For(p, advise.Options{})})
			if again := write(t, p, html.Options{Advice: advise.For(p, advise.Options{})}); !bytes.Equal(page, again) {
				t.Error("a second page of the same recording differs")
			}
			d := dataOf(t, page)
			var all recording.Counters
			for _, s := range p.Sites {
				all.Add(&s.Counters)
			}
			for name, want := range map[string]uint64{
				"stack.calls": all.Calls, "stack.bytes": all.Bytes, "stack.temporary": all.Temporary,
				"stack.liveBytes": uint64(all.LiveBytes()), "stack.waste": all.UsableBytes - all.Bytes,
			} {
				if got := sum(d.column(t, name)); got != want {
					t.Errorf("%s: %d, want %d", name, got, want)
				}
			}
			if len(d.Sites) != len(p.Sites) {
				t.Errorf("%d sites, want %d", len(d.Sites), len(p.Sites))
			}
			parents, nodes := d.column(t, "node.parent"), d.column(t, "stack.node")
			for i, back := range parents {
				if back < 1 || back > int64(i)+1 {
					t.Fatalf("node %d is %d after its parent", i, back)
				}
			}
			for _, n := range nodes {
				if n < -1 || n >= int64(len(parents)) {
					t.Fatalf("a stack is at node %d of %d", n, len(parents))
				}
			}
		})
	}
}

// large makes a recording of so many stacks, each five functions deep.
func large(t *testing.T, stacks int) string {
	t.Helper()
	im := recordingtest.NewImage(7, "/opt/large")
	im.Flags = recording.FlagSymbolic
	p := recordingtest.NewProcess(im)
	thread := p.Thread()
	main := im.Path(im.Symbolic("main", "main.c", "large", 1))
	for i := range stacks {
		path := main
		for depth, width := range []int{7, 31, 101, 1 << 30} {
			path = im.Inside(path, im.Symbolic("f"+string(rune('a'+depth)), "large.c", "large", uint32(1000*depth+(i/(1+depth))%width%900+1)))
		}
		for range 1 + i%3 {
			thread.Alloc(im.StackAt(path, recording.Malloc, false), uint64(16+i%64))
		}
	}
	return finish(t, p, "large.mallow")
}

func finish(t *testing.T, p *recordingtest.Process, name string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.Finish().Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestThinned holds a page within its limit, and its sums to those of the
// recording.
func TestThinned(t *testing.T) {
	p := load(t, large(t, 20_000))
	whole := dataOf(t, write(t, p, html.Options{}))
	if whole.Thinned.Stacks > 0 {
		t.Errorf("thinned below the limit: %+v", whole.Thinned)
	}
	const limit = 150_000
	page := write(t, p, html.Options{Limit: limit})
	d := dataOf(t, page)
	if d.Thinned.Stacks == 0 || len(d.body) > limit {
		t.Errorf("%d bytes of data, thinned %+v", len(d.body), d.Thinned)
	}
	if len(d.Sites) != len(whole.Sites) {
		t.Errorf("%d of %d sites are left", len(d.Sites), len(whole.Sites))
	}
	bySite := func(d *data) []int64 {
		calls := make([]int64, len(d.Sites))
		of := d.column(t, "stack.calls")
		for i, site := range d.column(t, "stack.site") {
			calls[site] += of[i]
		}
		return calls
	}
	want := bySite(whole)
	for site, calls := range bySite(d) {
		if calls != want[site] {
			t.Errorf("site %d: %d calls, want %d", site, calls, want[site])
		}
	}
}

// TestHostileNames writes names that want to be something else. What the
// browser makes of them is seen in test/html.
func TestHostileNames(t *testing.T) {
	hostile := []string{
		`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "a\nb\r\tc\x00\x1b[31m", "\u202egnp.exe\u2066", `{{script}}`, "\xff\xfe", `"'><&`,
		strings.Repeat("very<long", 10_000),
	}
	im := recordingtest.NewImage(7, hostile[0])
	im.Flags = recording.FlagSymbolic
	p := recordingtest.NewProcess(im)
	thread := p.Thread()
	for _, name := range hostile {
		thread.Alloc(im.Stack(recording.Malloc, im.Symbolic(name, name, name, 1)), 8)
	}
	folder := finish(t, p, "<b>x.mallow")
	page := write(t, load(t, folder), html.Options{Sources: true})
	for _, bad := range []string{"<b>", "alert(", "\u202e", "\x1b", "{{"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if bytes.Count(page, []byte("<script")) != 2 {
		t.Error("the page has another script")
	}
	for _, s := range dataOf(t, page).Strings {
		if strings.ContainsAny(s, "\n\r\x00\x1b\u202e\u2066") || len(s) > 100_000 {
			t.Errorf("a string is %.100q", s)
		}
	}
}

// TestDiff compares a recording with itself and with another.
func TestDiff(t *testing.T) {
	old, new := golden(t, "single-thread"), golden(t, "two-threads")
	for _, d := range []*diff.Diff{diff.Compare(old, old, diff.Options{All: true}), diff.Compare(old, new, diff.Options{All: true})} {
		var page bytes.Buffer
		if err := html.WriteDiff(&page, d, html.Options{}); err != nil {
			t.Fatal(err)
		}
		got := dataOf(t, page.Bytes())
		if got.Diff == nil || len(got.Diff.Rows) != len(d.Sites) {
			t.Fatalf("%d sites in %+v", len(d.Sites), got.Diff)
		}
		calls := make([]uint64, len(got.Sites))
		of := got.column(t, "stack.calls")
		for i, site := range got.column(t, "stack.site") {
			calls[site] += uint64(of[i])
		}
		for i, row := range got.Diff.Rows {
			for side, sites := range [][]int{row.Old, row.New} {
				var n uint64
				for _, s := range sites {
					n += calls[s]
					if got.Sites[s].Side != side {
						t.Errorf("row %d: site %d is of the other side", i, s)
					}
				}
				want := d.Sites[i].OldCounters().Calls
				if side == 1 {
					want = d.Sites[i].NewCounters().Calls
				}
				if n != want {
					t.Errorf("row %d, side %d: %d calls, want %d", i, side, n, want)
				}
			}
		}
	}
}
