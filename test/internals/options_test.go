package internals

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mallow/test/harness"
)

var (
	optionRow  = regexp.MustCompile("(?m)^MALLOW_OPTION\\((\\w+), (\\w+), \\{(.*?)\\}, \"(.*)\"\\)$")
	defaultOf  = regexp.MustCompile(`\(default (\w+)\)$`)
	multiplier = map[byte]int64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
)

// TestOptionsOnTheirPage: the manual has the table of options.def, word by word, and the default that an option's text
// names is the one that it has.
func TestOptionsOnTheirPage(t *testing.T) {
	read := func(parts ...string) string {
		content, err := os.ReadFile(filepath.Join(append([]string{harness.Root()}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	table, page := read("libmallow", "api", "options.def"), read("docs", "manual", "malloc.md")
	known := readConstants(t)
	options := optionRow.FindAllStringSubmatch(table, -1)
	if len(options) != strings.Count(table, "\nMALLOW_OPTION(") {
		t.Fatalf("%d options read from options.def", len(options))
	}
	for _, option := range options {
		kind, name, value, help := option[1], option[2], option[3], option[4]
		inWords := "none"
		if m := defaultOf.FindStringSubmatch(help); m != nil {
			inWords = m[1]
			number, err := known.eval(value, "")
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if number != quantity(t, inWords, known) {
				t.Errorf("options.def calls %s the default of %s, which is %d", inWords, name, number)
			}
		}
		unit := map[string]string{"Path": "folder", "Bytes": "bytes", "Milliseconds": "milliseconds", "Hertz": "per second", "Text": "lines"}[kind]
		if row := "| `" + name + "` | " + unit + " | " + inWords + " | " + help + " |\n"; !strings.Contains(page, row) {
			t.Errorf("docs/manual/malloc.md does not have this row of options.def:\n%s", row)
		}
	}
}

// quantity is a number with K, M or G.
func quantity(t *testing.T, text string, known constants) int64 {
	t.Helper()
	scale := int64(1)
	if m, ok := multiplier[text[len(text)-1]]; ok {
		scale, text = m, text[:len(text)-1]
	}
	number, err := known.eval(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return number * scale
}
