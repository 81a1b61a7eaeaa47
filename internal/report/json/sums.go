package json

import (
	"io"
	"regexp"
	"strings"

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

// encode writes a report with null for keys that are unknown. The order of keys
// is the same for every report. A quotation mark stands in no text of JSON as it is,
// so that nothing but a key looks like one.
func encode(w io.Writer, r report, unknown []string) error {
	text, err := term.JSON(r, "")
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		figures := regexp.MustCompile(`"(` + strings.Join(unknown, "|") + `)":[0-9]+`)
		text = figures.ReplaceAll(text, []byte(`"$1":null`))
	}
	_, err = w.Write(text)
	return err
}
