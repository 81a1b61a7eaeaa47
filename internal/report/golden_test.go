package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

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
		"csv": func(b *bytes.Buffer, p *profile.Profile) error { return csv.Write(b, p, p.Sites) },
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
