// Package table has rows.
package table

// Table is a list of rows.
type Table struct{ rows []string }

// New makes a table.
func New(rows ...string) *Table { return &Table{rows} }

// Sizes are the lengths of the rows.
func (t *Table) Sizes() []int {
	var sizes []int
	for _, row := range t.rows {
		sizes = append(sizes, len(row))
	}
	return sizes
}
