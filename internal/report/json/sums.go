package json

import (
	"bytes"
	"encoding/json"
	"io"

	"mallow/internal/profile"
	"mallow/internal/term"
)

// unknownOfSums are the keys that nobody knows of a recording that was made
// from a profile.
var unknownOfSums = []string{"peak_bytes", "peak_blocks", "temporary", "short_lived", "foreign", "threads"}

// unknownOfSamples are those of a sampled recording.
var unknownOfSamples = []string{"peak_bytes", "peak_blocks", "peak_error_bytes"}

// unknownOf are the keys that nobody knows of a profile.
func unknownOf(p *profile.Profile) (unknown []string) {
	switch {
	case p.SumsOnly:
		unknown = append(unknown, unknownOfSums...)
	case p.Sampling != nil:
		unknown = append(unknown, unknownOfSamples...)
	}
	if p.FailedUnknown {
		unknown = append(unknown, "failed")
	}
	if p.WasteUnknown {
		unknown = append(unknown, "waste")
	}
	return unknown
}

// encode writes a report with null for keys that are unknown.
func encode(w io.Writer, r report, unknown []string) error {
	if len(unknown) == 0 {
		return term.WriteJSON(w, r, "")
	}
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
	forget(keys, unknown)
	return term.WriteJSON(w, keys, "")
}

// forget goes no deeper than reports do.
func forget(v any, unknown []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range unknown {
			if _, has := v[key]; has {
				v[key] = nil
			}
		}
		for _, inner := range v {
			forget(inner, unknown)
		}
	case []any:
		for _, inner := range v {
			forget(inner, unknown)
		}
	}
}
