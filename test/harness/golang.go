package harness

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// GoSettings let a go command below another home folder use what the one that runs the tests has built and fetched.
func GoSettings(t testing.TB) []string {
	t.Helper()
	settings := []string{"GOFLAGS=", "GOWORK=off"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatalf("go env %s: %v", name, err)
		}
		settings = append(settings, name+"="+strings.TrimSpace(string(value)))
	}
	return settings
}

// RunWithHome runs all tests of a package with one home folder, which is gone afterwards, and returns the exit status:
// what mallow keeps there is made once.
func RunWithHome(m *testing.M, home *string) int {
	var err error
	if *home, err = os.MkdirTemp("", "m"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(*home)
	return m.Run()
}
