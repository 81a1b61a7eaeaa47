package main

import (
	"os"
	"path/filepath"
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
