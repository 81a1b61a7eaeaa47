package main

import (
	"strings"
	"testing"
)

// complains runs a check on one file and returns what it says, "" for nothing.
func complains(check func(*tree) []complaint, path, content string) string {
	var said []string
	for _, c := range check(&tree{root: ".", files: []file{{path, []byte(content)}}}) {
		said = append(said, c.String())
	}
	return strings.Join(said, "\n")
}

func TestChecks(t *testing.T) {
	for name, test := range map[string]struct {
		check         func(*tree) []complaint
		path, content string
		want          string // a part of the complaint, "" for none
	}{
		"upwards":       {checkCxxLayers, "libmallow/heap/span.cc", "#include \"record/recorder.h\"\n", "span.cc:1: heap includes record, which is above it: the heap does not know that anyone records"},
		"downwards":     {checkCxxLayers, "libmallow/record/recorder.cc", "#include \"heap/heap.h\"\n#include \"base/list.h\"\n", ""},
		"same":          {checkCxxLayers, "libmallow/heap/span.cc", "#include \"heap/span.h\"\n#include <string.h>\n", ""},
		"new layer":     {checkCxxLayers, "libmallow/extra/x.cc", "", "in no layer"},
		"elsewhere":     {checkCxxLayers, "test/x.cc", "#include \"api/call.h\"\n", ""},
		"#if":           {checkConditionals, "libmallow/heap/span.cc", "#if defined(X)\n#endif\n", "span.cc:1: conditional compilation outside base/config.h"},
		"#if in config": {checkConditionals, "libmallow/base/config.h", "#if defined(X)\n#endif\n", ""},
		"guard":         {checkConditionals, "libmallow/heap/span.h", "#ifndef MALLOW_HEAP_SPAN_H_\n", ""},
		"go left":       {checkGoLayers, "internal/profile/x.go", "package profile\nimport \"mallow/internal/recording\"\n", ""},
		"go right":      {checkGoLayers, "internal/recording/x.go", "package recording\nimport \"mallow/internal/profile\"\n", "x.go:2: recording imports profile, which is not below it: the reader of the format"},
		"go unknown":    {checkGoLayers, "internal/extra/x.go", "package extra\n", "internal/extra is in no layer"},
		"mark":          {checkWords, "a.go", "// TO" + "DO: more\n", "a.go:1: \"TO" + "DO\": an unfinished mark"},
		"word":          {checkWords, "a.md", "what to do, and a hacker's work/life\n", ""},
		"path":          {checkWords, "a.md", "see /ro" + "ot/x\n", "a path of one machine"},
		"no end":        {checkFiles, "a.go", "package a", "the last line has no end"},
		"CR LF":         {checkFiles, "a.go", "package a\r\n", "lines end with CR LF"},
		"blanks":        {checkFiles, "a.go", "package a \n", "a.go:1: blanks at the end of the line"},
		"data":          {checkFiles, "x/testdata/a", "as it is \r\n", ""},
		"large":         {checkFiles, "a.bin", strings.Repeat("x\n", 1<<20), "2097152 bytes"},
		"link":          {checkLinks, "docs/a.md", "# What is it?\n[a](a.md#what-is-it) [b](https://b.org) `x`\n    [c](c.md)\n", ""},
		"dead link":     {checkLinks, "docs/a.md", "see\n[b](../b.md)\n", "docs/a.md:2: a link to b.md, which is not there"},
		"dead heading":  {checkLinks, "docs/a.md", "[b](#b)\n", "a.md:1: a link to the heading #b of docs/a.md"},
		"go format":     {checkGoFormat, "a.go", "package   a\n", "not as gofmt writes it"},
		"versions":      {checkVersions, "CMakeLists.txt", "project(mallow VERSION 9.9.9 LANGUAGES C)\n", "version \"9.9.9\""},
	} {
		t.Run(name, func(t *testing.T) {
			got := complains(test.check, test.path, test.content)
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
}
