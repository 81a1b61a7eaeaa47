package text

import (
	"strings"
	"testing"

	"mallow/internal/diff"
	"mallow/internal/profile"
)

// Figures of any size are written whole, in columns that are aligned.
func TestManyCalls(t *testing.T) {
	p := &profile.Profile{Totals: profile.Totals{Allocations: 4_400_000_000}}
	for name, sampling := range map[string]*profile.Sampling{"counted": nil, "estimated": {}} {
		p.Sampling = sampling
		r := newReport(p, Options{})
		title := r.row(tableCells("at peak"))
		row := r.row(r.aboutAll(cells{count(4_400_000_000), "100 %", "176 GB", "40 B", "-", "100 %"}))
		if !strings.HasPrefix(strings.TrimPrefix(row, "~"), "4,400,000,000 ") || len(title) != len(row) {
			t.Errorf("%s:\n%s|\n%s|", name, title, row)
		}
		if row, blank := r.treeRow(4_400_000_000, 4_400_000_000), r.blankRow(); len(row) != len(blank) {
			t.Errorf("%s:\n%s|\n%s|", name, row, blank)
		}
	}
	p.Sampling = &profile.Sampling{}
	d := diffReport{diff: &diff.Diff{Old: p, New: &profile.Profile{}}}
	title := d.diffRow("old calls", "new calls", "change", "bytes")
	if row := d.diffRow("~4,400,000,000", "0", "-4,400,000,000", "-176 GB"); len(title) != len(row) {
		t.Errorf("\n%s|\n%s|", title, row)
	}
}
