package term

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"Table::insert(char const*)": "Table::insert(char const*)",
		"grüße 表":                    "grüße 表",
		"\x1b[31mred\x1b[0m":         `\x1b[31mred\x1b[0m`,
		"a\nb\tc\rd\x7f":             `a\x0ab\x09c\x0dd\x7f`,
		"\x9b31m":                    `\x9b31m`,
		"\u009b31m":                  `\u{9b}31m`,
		"safe\u202egpj.exe":          `safe\u{202e}gpj.exe`,
		"\u2066x\u2069\u200f":        `\u{2066}x\u{2069}\u{200f}`,
		"half \xe2\x82":              `half \xe2\x82`,
	} {
		if got := Safe(in); got != want {
			t.Errorf("Safe(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("\x1b]0;title\x07")
	f.Add("\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		safe := Safe(s)
		if !utf8.ValidString(safe) || strings.ContainsFunc(safe, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Safe(%q) = %q", s, safe)
		}
	})
}

func TestColour(t *testing.T) {
	var c Colour
	for _, s := range []string{"auto", "always", "never"} {
		if err := c.Set(s); err != nil || c.String() != s {
			t.Errorf("%s: %v", s, err)
		}
	}
	if err := c.Set("blue"); err == nil {
		t.Error("blue is taken")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("CLICOLOR_FORCE", "")
	var file bytes.Buffer
	if !Always.For(&file) || Never.For(&file) || Auto.For(&file) {
		t.Error("what is no terminal has colour only when always")
	}
	t.Setenv("CLICOLOR_FORCE", "1")
	if !Auto.For(&file) {
		t.Error("CLICOLOR_FORCE does not force")
	}
	t.Setenv("NO_COLOR", "1")
	if Auto.For(&file) {
		t.Error("NO_COLOR is not heard")
	}
	if Width(&file) != 0 {
		t.Error("what is no terminal has no width")
	}
}

func TestJSON(t *testing.T) {
	type value struct{ Name string }
	for in, want := range map[string]string{
		"":                            `{"Name":""}`,
		"std::vector<int>&":           `{"Name":"std::vector<int>&"}`,
		"grüße 表":                     `{"Name":"grüße 表"}`,
		"\x1b[31m\n\x7f":              `{"Name":"\u001b[31m\n\u007f"}`,
		"\u009b31m":                   `{"Name":"\u009b31m"}`,
		"safe\u202egpj.exe":           `{"Name":"safe\u202egpj.exe"}`,
		"\u2066x\u2069\u200f\u2028":   `{"Name":"\u2066x\u2069\u200f\u2028"}`,
		"a tag \U000e0041 that hides": `{"Name":"a tag \udb40\udc41 that hides"}`,
		"half \xe2\x82":               `{"Name":"half \ufffd\ufffd"}`,
	} {
		text, err := JSON(value{in}, "")
		if err != nil || string(text) != want+"\n" {
			t.Errorf("JSON(%q) = %s, %v, want %s", in, text, err, want)
		}
	}
	if _, err := JSON(func() {}, ""); err == nil {
		t.Error("a function was written")
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("\u202e\x7f\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		text, err := JSON(s, "")
		if err != nil || bytes.ContainsFunc(bytes.TrimSuffix(text, []byte("\n")), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("JSON(%q) = %q, %v", s, text, err)
		}
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("%q came back as %q: %v", s, back, err)
		}
	})
}
