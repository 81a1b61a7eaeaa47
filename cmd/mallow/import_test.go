package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("memdump", []byte("MEM a.c:1 malloc(10) = 0x1\nMEM a.c:2 free(0x1)\n"), 0o600)
	code, stdout, stderr := mallow("import", "memdump")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "curl memory log: 1 allocation, 0 never freed\nwrote memdump.mallow") {
		t.Fatal(code, stdout, stderr)
	}
	for _, form := range []string{"text", "json", "pprof", "speedscope", "folded", "csv", "memanalyze", "memanalyze-2017"} {
		if code, stdout, stderr := mallow("report", "--format", form, "memdump.mallow"); code != 0 || stdout == "" || stderr != "" {
			t.Errorf("--format %s: %d, %q, %s", form, code, stdout, stderr)
		}
	}
	if code, _, stderr := mallow("import", "memdump"); code != 1 || !strings.Contains(stderr, "is there already") {
		t.Error(code, stderr)
	}
	if code, stdout, stderr := mallow("diff", "memdump.mallow", "memdump.mallow"); code != 0 {
		t.Error(code, stdout, stderr)
	}
}

// What a profile does not tell is not 0.
func TestWhatAProfileDoesNotTell(t *testing.T) {
	recording, _ := filepath.Abs(handmade + "single-thread.mallow")
	t.Chdir(t.TempDir())
	_, profile, _ := mallow("report", "--format", "pprof", recording)
	os.WriteFile("profile", []byte(profile), 0o600)
	if code, _, stderr := mallow("import", "profile"); code != 0 {
		t.Fatal(stderr)
	}
	os.WriteFile("copy", []byte(profile), 0o600)
	if code, _, stderr := mallow("import", "copy"); code != 0 {
		t.Fatal(stderr)
	}
	if _, stdout, _ := mallow("report", "--format", "speedscope", "copy.mallow"); !strings.Contains(stdout, `"bytes in use"`) || strings.Contains(stdout, "never freed") {
		t.Error(stdout)
	}
	for _, sides := range [][]string{{recording, "profile"}, {"profile", recording}, {"profile", "profile"}} {
		code, stdout, stderr := mallow(append([]string{"diff"}, sides...)...)
		if code != 0 || !strings.Contains(stdout, "mallow: 1,072 allocations, as before") || !strings.Contains(stdout, "in use") {
			t.Errorf("%s: %d, %s %s", sides, code, stdout, stderr)
		}
		for _, unknown := range []string{"temporary", "peak,", "peaks", "free(NULL)", "never freed", "failed"} {
			if strings.Contains(stdout, unknown) {
				t.Errorf("%s: %q in %s", sides, unknown, stdout)
			}
		}
		if told := strings.Contains(stdout, "frees"); told != (sides[0] == sides[1]) {
			t.Errorf("%s: frees are told: %v, %s", sides, told, stdout)
		}
		_, stdout, _ = mallow(append([]string{"diff", "--json"}, sides...)...)
		var keys struct {
			Totals struct {
				Temporary, Failed struct{ Old, New *uint64 }
			}
			Sites []struct {
				Old, New *struct {
					ShortLived *uint64 `json:"short_lived"`
					Failed     *uint64 `json:"failed"`
				}
			}
		}
		if err := json.Unmarshal([]byte(stdout), &keys); err != nil {
			t.Fatal(err)
		}
		old, new := keys.Totals.Temporary.Old, keys.Totals.Temporary.New
		if (old == nil) != (sides[0] == "profile") || (new == nil) != (sides[1] == "profile") {
			t.Errorf("%s: temporary blocks: %v, %v", sides, old, new)
		}
		old, new = keys.Totals.Failed.Old, keys.Totals.Failed.New
		if (old == nil) != (sides[0] == "profile") || (new == nil) != (sides[1] == "profile") {
			t.Errorf("%s: failed calls: %v, %v", sides, old, new)
		}
		for _, site := range keys.Sites {
			if site.New != nil && (site.New.ShortLived == nil) != (sides[1] == "profile") {
				t.Errorf("%s: short-lived blocks of a site: %v", sides, site.New.ShortLived)
			}
			if site.New != nil && (site.New.Failed == nil) != (sides[1] == "profile") {
				t.Errorf("%s: failed calls of a site: %v", sides, site.New.Failed)
			}
		}
		if code, _, stderr := mallow(append([]string{"diff", "--sort", "temporary"}, sides...)...); code != 1 || !strings.Contains(stderr, "of an imported profile") {
			t.Errorf("%s by temporary blocks: %d, %s", sides, code, stderr)
		}
	}
	for _, args := range []string{"--sort temporary", "--format folded --metric temporary"} {
		code, stdout, stderr := mallow(append([]string{"report", "profile.mallow"}, strings.Fields(args)...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "of an imported profile") {
			t.Errorf("report %s: %d, %s %s", args, code, stdout, stderr)
		}
	}
	if _, stdout, _ := mallow("report", "--format", "speedscope", "profile.mallow"); strings.Contains(stdout, "temporary") || !strings.Contains(stdout, "bytes allocated") {
		t.Error("speedscope is told of temporary blocks")
	}
}

// How large blocks were made no other tool tells, and which calls failed only curl's log.
func TestWhatOtherToolsDoNotTell(t *testing.T) {
	const testdata = "../../internal/importer/testdata/"
	recording, _ := filepath.Abs(handmade + "single-thread.mallow")
	heaptrack, _ := os.ReadFile(testdata + "program.heaptrack")
	t.Chdir(t.TempDir())
	_, profile, _ := mallow("report", "--format", "pprof", recording)
	os.WriteFile("profile", []byte(profile), 0o600)
	os.WriteFile("heaptrack", heaptrack, 0o600)
	os.WriteFile("memdump", []byte("MEM a.c:1 malloc(10) = 0x1\n"), 0o600)
	for name, failedKnown := range map[string]bool{"profile": false, "heaptrack": false, "memdump": true} {
		if code, _, stderr := mallow("import", name); code != 0 {
			t.Fatal(stderr)
		}
		_, stdout, _ := mallow("report", "--json", name+".mallow")
		type figures struct{ Waste, Failed *uint64 }
		var keys struct {
			Totals figures
			Sites  []figures
		}
		if err := json.Unmarshal([]byte(stdout), &keys); err != nil {
			t.Fatal(name, err)
		}
		if (keys.Totals.Failed != nil) != failedKnown {
			t.Errorf("%s: failed calls: %v", name, keys.Totals.Failed)
		}
		for _, site := range keys.Sites {
			if site.Waste != nil || (site.Failed != nil) != failedKnown {
				t.Errorf("%s: a site wastes %v, and %v calls failed", name, site.Waste, site.Failed)
			}
		}
		_, stdout, _ = mallow("report", "--format", "csv", name+".mallow")
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatal(name, err)
		}
		for column, known := range map[string]bool{"usable_bytes": false, "failed": failedKnown} {
			if cell := rows[1][slices.Index(rows[0], column)]; (cell != "") != known {
				t.Errorf("%s: %s in the table: %q", name, column, cell)
			}
		}
		code, stdout, stderr := mallow("report", "--sort", "waste", name+".mallow")
		if code != 1 || stdout != "" || !strings.Contains(stderr, "does not tell") {
			t.Errorf("%s by waste: %d, %s %s", name, code, stdout, stderr)
		}
		if _, stdout, _ := mallow("report", name+".mallow"); strings.Contains(stdout, "waste") {
			t.Errorf("%s: its report proposes to sort by waste: %s", name, stdout)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	os.WriteFile("\x1b[2J", []byte("nothing\x1b[2J\n"), 0o600)
	os.WriteFile("memdump", []byte("MEM a.c:1 malloc(10) = 0x1\n"), 0o600)
	os.Mkdir("folder", 0o700)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "import takes one file"},
		{[]string{"a", "b"}, "import takes one file"},
		{[]string{"nowhere"}, "nowhere: no such file"},
		{[]string{"folder"}, "folder is a folder"},
		{[]string{"\x1b[2J"}, `\x1b[2J: line 1: expected a record of curl's memory log`},
		{[]string{"-o", "nowhere/x.mallow", "memdump"}, "cannot make the recording nowhere/x.mallow"},
	} {
		code, stdout, stderr := mallow(append([]string{"import"}, test.args...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, test.want) || strings.Contains(stderr, "\x1b") {
			t.Errorf("import %q: %d, %q %q lacks %s", test.args, code, stdout, stderr, test.want)
		}
	}
	if left, _ := filepath.Glob("*.mallow"); len(left) > 0 {
		t.Errorf("left %q behind", left)
	}
}
