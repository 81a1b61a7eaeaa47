package harness

import (
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
