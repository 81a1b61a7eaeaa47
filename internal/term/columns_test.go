package term

import "testing"

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "main": 4, "größe": 5, "gro\u0308ße": 5, "分配": 4, "/home/用户/main.c:3": 19, "ﾒﾓﾘ": 3, "メモリ": 6, "할당": 4, "Ａ": 2, "🦄": 2, "a\u200bb": 2, "→ …": 3, "λ": 1,
	} {
		if got := Columns(text); got != want {
			t.Errorf("%q takes %d columns, not %d", text, got, want)
		}
	}
}
