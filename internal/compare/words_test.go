package compare

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for command, want := range map[string][]string{
		"prog a  b":             {"prog", "a", "b"},
		" prog\ta ":             {"prog", "a"},
		`prog 'a b' "c d" e\ f`: {"prog", "a b", "c d", "e f"},
		`prog "" '' a''b`:       {"prog", "", "", "ab"},
		`prog "a\"b\\c\d"`:      {"prog", `a"b\c\d`},
		`prog --x=1 'a$b'`:      {"prog", "--x=1", "a$b"},
		"":                      nil,
	} {
		words, ok, err := splitWords(command)
		if err != nil || !ok || !slices.Equal(words, want) {
			t.Errorf("%s: %q, %v, %v", command, words, ok, err)
		}
		if shell, err := exec.Command("sh", "-c", "for w in "+command+"; do printf '%s\\n' \"$w\"; done").Output(); err == nil && command != "" {
			if said := strings.Join(want, "\n") + "\n"; string(shell) != said {
				t.Errorf("%s: the shell makes %q of it", command, shell)
			}
		}
	}
	for _, command := range []string{"a | b", "a > b", "a $b", `a "$b"`, "a; b", "A=1 b", "a *", "a\nb", `a \`} {
		if words, ok, err := splitWords(command); ok || err != nil {
			t.Errorf("%s: %q, %v", command, words, err)
		}
	}
	for _, command := range []string{"a 'b", `a "b`} {
		if _, _, err := splitWords(command); err == nil {
			t.Errorf("%s is taken", command)
		}
	}
}
