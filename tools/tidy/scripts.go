package main

import (
	"bytes"
	"os/exec"
	"strings"
)

// checkScripts runs shellcheck on scripts for sh and bash where it is
// installed; `make test` installs it.
func checkScripts(t *tree) []complaint {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		return nil
	}
	var wrong []complaint
	for _, f := range t.files {
		if f.isData() || !isShellScript(f.content) {
			continue
		}
		c := exec.Command("shellcheck", "--format=gcc", "--severity=warning", f.path)
		c.Dir = t.root
		if output, err := c.Output(); err != nil {
			wrong = append(wrong, complaint{f.path, 0, strings.TrimSpace(string(output))})
		}
	}
	return wrong
}

func isShellScript(content []byte) bool {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	line, isScript := bytes.CutPrefix(line, []byte("#!"))
	return isScript && (bytes.HasSuffix(line, []byte("/sh")) || bytes.HasSuffix(line, []byte("bash")))
}
