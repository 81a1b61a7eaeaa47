package term

import (
	"os/exec"
	"testing"
)

func TestWord(t *testing.T) {
	for word, want := range map[string]string{
		"server.4711.mallow": "server.4711.mallow", "/usr/bin/c++": "/usr/bin/c++", "größe": "größe", "用户": "用户", "-o": "-o",
		"": "''", "two words": "'two words'", "$(touch x)": "'$(touch x)'", "it's": `'it'\''s'`, "a;b&c|d": "'a;b&c|d'", "~": "'~'", "`x`": "'`x`'",
		`q"`: `'q"'`, `back\slash`: `'back\slash'`, "a\x1b[31m": `$'a\033[31m'`, "\xff'": `$'\377\''`, "new\nline": `$'new\012line'`, "\u202ex": `$'\342\200\256x'`,
	} {
		if got := Word(word); got != want {
			t.Errorf("%q: %s, not %s", word, got, want)
		}
		out, err := exec.Command("bash", "-c", "printf %s "+Word(word)).Output()
		if word == "-o" {
			continue // which bash's printf does not take
		}
		if err != nil || string(out) != word {
			t.Errorf("%s is %q to bash, not %q; %v", Word(word), out, word, err)
		}
	}
}
