package cli

import (
	"path/filepath"
	"testing"

	"mallow/test/harness"
)

// bashCompletes loads the script into a bash without the package bash-completion, as a Tab would, and prints what is
// offered for the line $1.
const bashCompletes = `source <(mallow completion bash) || exit
COMP_LINE=$1 COMP_POINT=${#1}
compopt() { :; } # which bash allows only in a completion that it runs itself
__start_mallow && printf '%s\n' "${COMPREPLY[@]%% *}"`

func TestBashCompletesAlone(t *testing.T) {
	path := "PATH=" + filepath.Dir(harness.CLI(t)) + ":/usr/bin:/bin"
	for line, want := range map[string]string{
		"mallow rep":                             "report\n",
		"mallow re":                              "record\nreport\n",
		"mallow report --sort ca":                "calls\n",
		"mallow report --sort=ca":                "calls\n",
		"mallow report --color ":                 "auto\nalways\nnever\n",
		`mallow report --module "a b" --orig`:    "--origin\n",
		"mallow report 'a  b.mallow' --phase st": "start-up\nsteady\n",
	} {
		result := harness.Run(t, harness.Command{
			Arguments: []string{"/bin/bash", "--norc", "-c", bashCompletes, "bash", line},
			Settings:  []string{path},
		})
		if result.Output != want || result.Errors != "" {
			t.Errorf("%s: %q, not %q\n%s", line, result.Output, want, result.Errors)
		}
	}
}
