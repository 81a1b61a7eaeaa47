package html

import (
	"encoding/binary"
	"encoding/json"
)

// container holds the data of a page: the length of the head as four bytes,
// the lesser first, the head as JSON, then the columns that it lists. A column
// is a row of LEB128 numbers, of which the browser makes an array at once, in
// a fraction of the room and time that JSON would take.
type container struct {
	columns map[string]column
	body    []byte
}

// column is where the numbers stand in the body, how many they are and what
// form they have.
type column struct {
	At     int  `json:"at"`
	Length int  `json:"n"`
	Form   form `json:"form"`
}

type form int

const (
	plain  form = iota // never less than 0
	signed             // zigzag
	delta              // zigzag, to the number before
)

// exact is the greatest number that JavaScript tells from its neighbours.
const exact = 1<<53 - 1

func newContainer() *container { return &container{columns: make(map[string]column)} }

// add writes a column of n numbers. Those beyond exact, which only a damaged
// recording has, become it.
func (c *container) add(name string, f form, n int, value func(i int) int64) {
	c.columns[name] = column{len(c.body), n, f}
	var last int64
	for i := range n {
		v := max(-exact, min(value(i), exact))
		switch f {
		case plain:
			c.body = binary.AppendUvarint(c.body, uint64(max(0, v)))
		case signed:
			c.body = binary.AppendVarint(c.body, v)
		case delta:
			c.body = binary.AppendVarint(c.body, v-last)
			last = v
		}
	}
}

func (c *container) addUnsigned(name string, n int, value func(i int) uint64) {
	c.add(name, plain, n, func(i int) int64 { return int64(min(value(i), exact)) })
}

// bytes returns the container with its head, which must list the columns.
func (c *container) bytes(head any) ([]byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	all := make([]byte, 4, 4+len(text)+len(c.body))
	binary.LittleEndian.PutUint32(all, uint32(len(text)))
	return append(append(all, text...), c.body...), nil
}

// stringTable keeps every string once. What could mislead the eye is written
// as escapes, see clean.
type stringTable struct {
	all []string
	at  map[string]int
}

func newStringTable() *stringTable {
	return &stringTable{all: []string{""}, at: map[string]int{"": 0}}
}

func (t *stringTable) index(s string) int {
	i, known := t.at[s]
	if !known {
		i = len(t.all)
		t.all = append(t.all, clean(s))
		t.at[s] = i
	}
	return i
}

func (t *stringTable) bytes() (sum int) {
	for _, s := range t.all {
		sum += len(s)
	}
	return sum
}

func (t *stringTable) shorten(most int) {
	for i, s := range t.all {
		t.all[i] = shortened(s, most)
	}
}
