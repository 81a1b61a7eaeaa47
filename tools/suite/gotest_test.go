package main

import (
	"slices"
	"strings"
	"testing"
)

func TestReadEvents(t *testing.T) {
	const stream = `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"all is well\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestB/one/two"}
{"Action":"output","Package":"p","Test":"TestB/one/two","Output":"it is 3, not 4\n"}
{"Action":"fail","Package":"p","Test":"TestB/one/two"}
{"Action":"run","Package":"p","Test":"TestB/three"}
{"Action":"pass","Package":"p","Test":"TestB/three"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:3: needs root\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
{"Action":"build-output","ImportPath":"q","Output":"q.go:1: undefined: x\n"}
{"Action":"build-fail","ImportPath":"q"}
{"Action":"output","Package":"q","Output":"FAIL q [build failed]\n"}
{"Action":"fail","Package":"q"}
{"Action":"pass","Package":"r"}
`
	c, err := readEvents(strings.NewReader(strings.TrimSpace(stream)))
	if err != nil || c.passed != 2 || c.failed != 2 || c.skipped != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if want := []failure{{"p TestB/one/two", "it is 3, not 4\n"}, {"q", "q.go:1: undefined: x\nFAIL q [build failed]\n"}}; !slices.Equal(c.failures, want) {
		t.Errorf("%+v", c.failures)
	}
	if want := []string{"p TestC: c_test.go:3: needs root"}; !slices.Equal(c.skips, want) {
		t.Errorf("%q", c.skips)
	}
}

func TestLastLines(t *testing.T) {
	for n, want := range map[int]string{1: "c\n", 2: "b\nc\n", 3: "a\nb\nc\n", 9: "a\nb\nc\n"} {
		if got := lastLines("a\nb\nc\n", n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
