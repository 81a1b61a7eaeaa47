package main

import (
	"bytes"
	"go/format"
	"os/exec"
	"strings"
)

func checkGoFormat(t *tree) []complaint {
	var wrong []complaint
	for _, f := range t.with(".go") {
		if f.isData() {
			continue
		}
		formatted, err := format.Source(f.content)
		if err != nil {
			wrong = append(wrong, complaint{f.path, 0, err.Error()})
		} else if !bytes.Equal(formatted, f.content) {
			wrong = append(wrong, complaint{f.path, 0, "not as gofmt writes it: gofmt -w " + f.path})
		}
	}
	return wrong
}

func checkGoVet(t *tree) []complaint {
	c := exec.Command("go", "vet", "-buildvcs=false", "-trimpath", "-tags=netgo,osusergo", "./...")
	c.Dir = t.root
	if output, err := c.CombinedOutput(); err != nil {
		return []complaint{{"go vet", 0, strings.TrimSpace(string(output))}}
	}
	return nil
}

// cxxFormatter is the version whose output is the norm: others differ.
const cxxFormatter = "clang-format-14"

func checkCxxFormat(t *tree) []complaint {
	if _, err := exec.LookPath(cxxFormatter); err != nil {
		if exec.Command("apt-cache", "show", cxxFormatter).Run() != nil {
			t.unchecked = append(t.unchecked, "the format of C++: apt-get knows no package "+cxxFormatter+" here, and other versions format otherwise")
			return nil
		}
		return []complaint{{".clang-format", 0, "cannot be checked: install the package " + cxxFormatter}}
	}
	var wrong []complaint
	for _, f := range t.with(".cc", ".h", ".c") {
		if f.isData() {
			continue
		}
		c := exec.Command(cxxFormatter, "--style=file", "--assume-filename="+f.path)
		c.Dir = t.root
		c.Stdin = bytes.NewReader(f.content)
		formatted, err := c.Output()
		if err != nil {
			wrong = append(wrong, complaint{f.path, 0, err.Error()})
		} else if line := firstDifference(formatted, f.content); line > 0 {
			wrong = append(wrong, complaint{f.path, line, "not as " + cxxFormatter + " writes it: " + cxxFormatter + " -i " + f.path})
		}
	}
	return wrong
}

// firstDifference returns the number of the first line in which two texts
// differ, 0 when they are equal.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	line := 1
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			line++
		}
	}
	return line
}
