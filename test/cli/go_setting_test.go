package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// goSetting asks go for one of its settings: scripts run without a home folder, from which go would guess it.
func goSetting(t *testing.T, name string) string {
	t.Helper()
	output, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(output))
}
