package text

import "testing"

// What a line is cut to are columns: some characters take two.
func TestCutWide(t *testing.T) {
	for _, test := range []struct {
		line  string
		width int
		want  string
	}{
		{"main.c:3", 8, "main.c:3"}, {"main.c:3", 7, "main.c…"}, {"", 5, ""},
		{"用户/main.c", 11, "用户/main.c"}, {"用户/main.c", 10, "用户/main…"}, {"用户/main.c", 4, "用…"}, {"用户/main.c", 3, "用…"}, {"用户", 1, "…"},
		{escape + "1m用户" + reset + " x", 6, escape + "1m用户" + reset + " x"},
		{escape + "1m用户" + reset + " x", 4, escape + "1m用…" + reset},
	} {
		if got := (style{}).cut(test.line, test.width); got != test.want {
			t.Errorf("%q cut to %d columns: %q, not %q", test.line, test.width, got, test.want)
		}
	}
}
