package ci

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"mallow/internal/gate"
	"mallow/internal/term"
)

// The parts of Code Climate's format that GitLab reads.
type (
	qualityIssue struct {
		Description string          `json:"description"`
		Check       string          `json:"check_name"`
		Fingerprint string          `json:"fingerprint"`
		Severity    string          `json:"severity"`
		Location    qualityLocation `json:"location"`
	}
	qualityLocation struct {
		Path  string       `json:"path"`
		Lines qualityLines `json:"lines"`
	}
	qualityLines struct {
		Begin int `json:"begin"`
	}
)

// CodeQuality writes what fails the gate as GitLab's code quality report: one
// issue for each line, known again by what it is about and not by its number.
// What has no line in the source tree is told of the file budget.
func CodeQuality(w io.Writer, r *gate.Result, o Options, budget string) error {
	issues := []qualityIssue{} // none is a list, too
	seen := make(map[string]bool)
	add := func(c *gate.Check, path string, line int, description, function string) {
		sum := sha256.Sum256([]byte(strings.Join([]string{c.Benchmark, c.Metric, path, function}, "\x00")))
		fingerprint := hex.EncodeToString(sum[:])
		if seen[fingerprint] {
			return
		}
		seen[fingerprint] = true
		severity := "major"
		if c.Verdict == gate.Failed {
			severity = "critical"
		}
		check := "mallow/" + short(c.Metric)
		issues = append(issues, qualityIssue{
			Description: "mallow gate: " + strings.Join(strings.Fields(description), " "), Check: check, Fingerprint: fingerprint,
			Severity: severity, Location: qualityLocation{Path: term.Safe(path), Lines: qualityLines{Begin: line}},
		})
	}
	for _, c := range sorted(r) {
		if !o.bad(c) {
			continue
		}
		placed := false
		for i := range c.Sites {
			s := &c.Sites[i]
			if file, line := o.line(s); file != "" {
				placed = true
				add(c, file, line, title(c)+": "+o.guilt(s), s.Function)
			}
		}
		if !placed {
			add(c, budget, 1, explained(c), "")
		}
	}
	return term.WriteJSON(w, issues, "  ")
}
