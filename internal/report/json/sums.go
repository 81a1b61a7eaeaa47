package json

import (
	"bytes"
	"encoding/json"
	"io"

	"mallow/internal/term"
)

// unknownOfSums are the keys that nobody knows of a recording that was made
// from a profile.
var unknownOfSums = []string{"peak_bytes", "peak_blocks", "temporary", "short_lived", "foreign", "threads"}

// encodeSums writes a report with null for those.
func encodeSums(w io.Writer, r report) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var keys map[string]any
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber() // no figure loses a digit
	if err := decoder.Decode(&keys); err != nil {
		return err
	}
	forget(keys)
	return term.WriteJSON(w, keys, "")
}

// forget goes no deeper than reports do.
func forget(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range unknownOfSums {
			if _, has := v[key]; has {
				v[key] = nil
			}
		}
		for _, inner := range v {
			forget(inner)
		}
	case []any:
		for _, inner := range v {
			forget(inner)
		}
	}
}
