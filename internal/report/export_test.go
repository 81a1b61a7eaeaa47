package report_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	pprof "github.com/google/pprof/profile"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/report/csv"
	"mallow/internal/report/folded"
	reportjson "mallow/internal/report/json"
	"mallow/internal/report/metric"
	reportpprof "mallow/internal/report/pprof"
	"mallow/internal/report/speedscope"
)

// hostileNames are functions and files that try to be something else.
var hostileNames = []string{
	"=HYPERLINK(\"http://nowhere\";\"click\")", "+1+1", "-2+3", "@SUM(A1:A9)", "\t=1+1", "\r=1+1", " =1+1", "＝1+1", "\u00a0=1",
	"<script>alert(1)</script>", "\x1b[2J\x1b]0;title\x07", "a\nb 12", "a;b;c", "\u202egnirts", "quo\"te,comma", "\xff\xfe", "\x00",
	"\u2028line", "", "operator new[](unsigned long)",
}

func hostile(t *testing.T) *profile.Profile {
	t.Helper()
	im := recordingtest.NewImage(1, "\x1b[31mhostile")
	im.Flags = recording.FlagSymbolic
	process := recordingtest.NewProcess(im)
	thread := process.Thread()
	for i, name := range hostileNames {
		stack := im.Stack(recording.Malloc, im.Symbolic("main", "main.c", "hostile", 1), im.Symbolic(name, name, name, uint32(i)))
		for range i + 1 {
			thread.Alloc(stack, 10)
		}
	}
	b := process.Finish().Bytes()
	read, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return profile.New([]*recording.Recording{{Images: []*recording.Image{read}}}, profile.Options{Symbolizer: profiletest.Demo()})
}

func checkVisible(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\n' && r != '\r' {
			t.Fatalf("%q is in %q", r, text)
		}
	}
}

func TestHostileCSV(t *testing.T) {
	p := hostile(t)
	var b bytes.Buffer
	if err := csv.Write(&b, p, p.Sites, 0); err != nil {
		t.Fatal(err)
	}
	checkVisible(t, b.String())
	if strings.Count(b.String(), "\n") != strings.Count(b.String(), "\r\n") || strings.Count(b.String(), "\r") != len(p.Sites)+1 {
		t.Error("lines do not end in CR LF, or names have line ends")
	}
	rows, err := stdcsv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != len(p.Sites)+1 {
		t.Fatalf("%d rows of %d sites: %v", len(rows), len(p.Sites), err)
	}
	formula := regexp.MustCompile(`^[ \x{a0}\x{3000}]*[=+@\-＝＋－＠]`)
	for _, row := range rows[1:] {
		for _, cell := range row {
			if formula.MatchString(cell) {
				t.Errorf("a formula: %q", cell)
			}
		}
	}
}

func TestHostileFolded(t *testing.T) {
	p := hostile(t)
	line := regexp.MustCompile(`^main;[^;]+ (\d+)$`)
	for _, m := range metric.All {
		var b bytes.Buffer
		if err := folded.Write(&b, p, p.Sites, m); err != nil {
			t.Fatal(err)
		}
		checkVisible(t, b.String())
		var sum, want uint64
		for _, s := range p.Sites {
			want += m.Of(&s.Counters)
		}
		for text := range strings.Lines(b.String()) {
			found := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
			if found == nil {
				t.Fatalf("%s: %q", m, text)
			}
			n, _ := strconv.ParseUint(found[1], 10, 64)
			sum += n
		}
		if sum != want {
			t.Errorf("%s: %d of %d", m, sum, want)
		}
	}
}

// speedscopeFile is the published form of the file, as far as sampled profiles need it.
type speedscopeFile struct {
	Schema             string `json:"$schema"`
	Exporter, Name     string
	ActiveProfileIndex int
	Profiles           []struct {
		Type, Name, Unit     string
		StartValue, EndValue uint64
		Samples              [][]int
		Weights              []uint64
	}
	Shared struct {
		Frames []struct {
			Name, File string
			Line       int
		}
	}
}

func TestSpeedscopeForm(t *testing.T) {
	profiles := map[string]*profile.Profile{"hostile": hostile(t)}
	for _, golden := range recordingtest.Goldens() {
		profiles[golden.Name] = load(t, golden.Name)
	}
	for name, p := range profiles {
		var b bytes.Buffer
		if err := speedscope.Write(&b, p, p.Sites, "\x1b[2J"); err != nil {
			t.Fatal(err)
		}
		checkVisible(t, b.String())
		decoder := json.NewDecoder(&b)
		decoder.DisallowUnknownFields()
		var file speedscopeFile
		if err := decoder.Decode(&file); err != nil {
			t.Fatal(err)
		}
		if file.Schema != "https://www.speedscope.app/file-format-schema.json" || len(file.Profiles) != len(metric.All) {
			t.Fatalf("%+v", file)
		}
		for i, m := range metric.All {
			of := file.Profiles[i]
			var sum, want uint64
			for _, s := range p.Sites {
				want += m.Of(&s.Counters)
			}
			for k, sample := range of.Samples {
				sum += of.Weights[k]
				for _, frame := range sample {
					if frame < 0 || frame >= len(file.Shared.Frames) || file.Shared.Frames[frame].Name == "" {
						t.Fatalf("%s: frame %d of %d", name, frame, len(file.Shared.Frames))
					}
				}
			}
			if of.Type != "sampled" || len(of.Samples) != len(of.Weights) || sum != of.EndValue || sum < want ||
				m.IsBytes() != (of.Unit == "bytes") || !m.IsBytes() && of.Unit != "none" {
				t.Errorf("%s: %s in %s: %d samples with %d weights of %d, not %d", name, of.Name, of.Unit, len(of.Samples), len(of.Weights), sum, want)
			}
		}
	}
}

func TestHostilePprof(t *testing.T) {
	p := hostile(t)
	var b bytes.Buffer
	if err := reportpprof.Write(&b, p, p.Sites); err != nil {
		t.Fatal(err)
	}
	read, err := pprof.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range read.Function {
		checkVisible(t, f.Name+f.SystemName+f.Filename)
	}
	for _, m := range read.Mapping {
		checkVisible(t, m.File)
	}
}

// FuzzExports writes what hostile recordings claim in every form.
func FuzzExports(f *testing.F) {
	for _, golden := range recordingtest.Goldens() {
		f.Add(golden.Images[0].Bytes())
	}
	f.Fuzz(func(t *testing.T, image []byte) {
		im, err := recording.ReadImage("image", bytes.NewReader(image), int64(len(image)))
		if err != nil {
			return
		}
		p := profile.New([]*recording.Recording{{Images: []*recording.Image{im}}}, profile.Options{Symbolizer: profiletest.Demo()})
		var b bytes.Buffer
		if err := reportpprof.Write(&b, p, p.Sites); err != nil {
			t.Fatal(err)
		}
		if _, err := pprof.Parse(&b); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		if err := csv.Write(&b, p, p.Sites, 0); err != nil {
			t.Fatal(err)
		}
		if rows, err := stdcsv.NewReader(&b).ReadAll(); err != nil || len(rows) != len(p.Sites)+1 {
			t.Fatalf("%d rows: %v", len(rows), err)
		}
		b.Reset()
		if err := speedscope.Write(&b, p, p.Sites, "fuzz"); err != nil {
			t.Fatal(err)
		}
		var file speedscopeFile
		if err := json.Unmarshal(b.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		if err := folded.Write(&b, p, p.Sites, metric.Live); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHostileJSON(t *testing.T) {
	p := hostile(t)
	var b bytes.Buffer
	if err := reportjson.Write(&b, p, reportjson.Options{Sites: p.Sites}); err != nil {
		t.Fatal(err)
	}
	checkVisible(t, b.String())
	for _, name := range []string{`\u202egnirts`, `\u2028line`, `\u001b[2J`} {
		if !strings.Contains(b.String(), name) {
			t.Errorf("%s is lost", name)
		}
	}
}
