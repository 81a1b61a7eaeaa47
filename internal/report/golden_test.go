package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/internal/report/csv"
	"mallow/internal/report/folded"
	reportjson "mallow/internal/report/json"
	"mallow/internal/report/memanalyze"
	"mallow/internal/report/metric"
	"mallow/internal/report/speedscope"
	"mallow/internal/report/text"
)

var update = flag.Bool("update", false, "write the expected reports anew")

const handmade = "../../format/testdata/handmade"

func load(t *testing.T, name string) *profile.Profile {
	t.Helper()
	rec, err := recording.Open(filepath.Join(handmade, name+".mallow"))
	if err != nil {
		t.Fatal(err)
	}
	rec.Path = name + ".mallow"
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo()})
}

// advice is what a rule might have to say.
var advice = func() advise.Result {
	share := 0.007
	of := func(name, file string, line int) advise.Place {
		return advise.Place{Frame: profile.Frame{Function: name, File: file, Line: line, Module: "/opt/demo/bin/demo"}}
	}
	return advise.Result{
		Advice: []advise.Advice{{
			Rule: "temporary", Title: "40,000 blocks of at most 16 bytes live until the next \x1b[2Jallocation",
			Remedy: "a fixed array of 16 bytes on the stack, malloc only above it",
			Sites:  []advise.Place{of("poll_set_grow(int)", "/src/net/poll.c", 88), of("b", "/src/b.c", 1), of("c", "", 0), of("d", "", 0)},
			Saves: advise.Saves{
				Allocations: 40000, Bytes: 640000, Share: 0.97, CPUShare: &share, Basis: "glibc's malloc at 21 ns a pair, measured on this machine",
			},
			Evidence: "40,000 of 40,000 calls were freed with nothing allocated in between",
		}, {Rule: "other", Title: "x", Remedy: "y"}},
		Stop: "stop here: nothing further is worth a per cent",
	}
}()

// restrict makes the profile anew.
func restrict(p *profile.Profile, f profile.Filter) *profile.Profile {
	return profile.New(p.Recordings, profile.Options{Symbolizer: profiletest.Demo(), Filter: f})
}

// TestReports holds every form of report against the expected files beside
// the handmade recordings.
func TestReports(t *testing.T) {
	forms := map[string]func(*bytes.Buffer, *profile.Profile) error{
		"txt": func(b *bytes.Buffer, p *profile.Profile) error {
			return text.Write(b, p, text.Options{Top: 10})
		},
		"all.txt": func(b *bytes.Buffer, p *profile.Profile) error {
			return text.Write(b, p, text.Options{Top: 2, Sort: analyze.ByBytes, All: true, Colour: true, Width: 100, Next: "mallow"})
		},
		"narrow.txt": func(b *bytes.Buffer, p *profile.Profile) error {
			return text.Write(b, p, text.Options{
				Top: 3, Sort: analyze.ByWaste, By: profile.ByType, Width: 80, Height: 20, Advice: &advice, Advised: 1, Evidence: true, Wrote: "a.mallow", Next: "mallow report",
			})
		},
		"tree": func(b *bytes.Buffer, p *profile.Profile) error {
			if err := text.WriteTree(b, p, text.Options{Top: 20, All: true}); err != nil {
				return err
			}
			return text.WriteCallers(b, p, text.Options{Top: 3, Sort: analyze.ByBytes, Colour: true, Width: 72})
		},
		"restricted.txt": func(b *bytes.Buffer, p *profile.Profile) error {
			most := uint64(100)
			r := restrict(p, profile.Filter{
				MaxSize: &most, Exclude: []*regexp.Regexp{regexp.MustCompile("wcs|\x1b")},
				Origins: []profile.Origin{profile.OriginProgram, profile.OriginLibraries},
			})
			return text.Write(b, r, text.Options{Top: 2, By: profile.ByModule})
		},
		"restricted.json": func(b *bytes.Buffer, p *profile.Profile) error {
			var line bytes.Buffer
			r := restrict(p, profile.Filter{Include: []*regexp.Regexp{regexp.MustCompile("collect|serve|url")}})
			if err := reportjson.Write(&line, r, reportjson.Options{Sites: r.Group(r.Sites, profile.ByFunction), By: profile.ByFunction, Stacks: 1}); err != nil {
				return err
			}
			return json.Indent(b, line.Bytes(), "", " ")
		},
		"json": func(b *bytes.Buffer, p *profile.Profile) error {
			var line bytes.Buffer
			if err := reportjson.Write(&line, p, reportjson.Options{Sites: p.Sites}); err != nil {
				return err
			}
			return json.Indent(b, line.Bytes(), "", " ")
		},
		"cpu": func(b *bytes.Buffer, p *profile.Profile) error {
			if p.CPU() == nil {
				return nil
			}
			return text.WriteCPU(b, p, text.Options{Top: 10, Next: "mallow"})
		},
		"folded": func(b *bytes.Buffer, p *profile.Profile) error {
			return folded.Write(b, p, p.Sites, metric.Bytes)
		},
		"csv": func(b *bytes.Buffer, p *profile.Profile) error { return csv.Write(b, p, p.Sites, 0) },
		"speedscope": func(b *bytes.Buffer, p *profile.Profile) error {
			var line bytes.Buffer
			if err := speedscope.Write(&line, p, p.Sites, "demo.mallow"); err != nil {
				return err
			}
			return json.Indent(b, line.Bytes(), "", " ")
		},
		"memanalyze": func(b *bytes.Buffer, p *profile.Profile) error {
			return memanalyze.Write(b, p, memanalyze.Today, false)
		},
		"memanalyze-2017": func(b *bytes.Buffer, p *profile.Profile) error {
			return memanalyze.Write(b, p, memanalyze.Of2017, true)
		},
	}
	for _, golden := range recordingtest.Goldens() {
		for form, write := range forms {
			t.Run(golden.Name+"."+form, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(&got, load(t, golden.Name)); err != nil {
					t.Fatal(err)
				}
				if got.Len() == 0 {
					return // no such form of this recording
				}
				compare(t, filepath.Join(handmade, "expected", golden.Name+"."+form), got.Bytes())
			})
		}
	}
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s:\n%s\nwant\n%s", path, got, want)
	}
}
