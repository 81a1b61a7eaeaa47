// Package cli tests the built command line as a user meets it: exit codes, sentences, and how little a program
// notices of it.
package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mallow/test/harness"
)

// TestScripts runs testdata/*.txtar. In them `mallow` is the built command.
func TestScripts(t *testing.T) {
	command := harness.CLI(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
				env.Setenv(name, goSetting(t, name))
			}
			env.Setenv("GOFLAGS", "-buildvcs=false")
			env.Setenv("GO111MODULE", "off")
			env.Setenv("PATH", filepath.Dir(command)+":"+os.Getenv("PATH"))
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition == "root" {
				return os.Getuid() == 0, nil
			}
			return false, nil
		},
	})
}
