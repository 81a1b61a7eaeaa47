package ci

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mallow/internal/gate"
)

// OpenMetrics writes what was measured, a line for each metric of each
// benchmark, as GitLab's metrics report and Prometheus read it.
func OpenMetrics(w io.Writer, r *gate.Result) error {
	type sample struct {
		name, benchmark string
		value           float64
	}
	var samples []sample
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Now == nil || math.IsNaN(*c.Now) || c.Metric == "" {
			continue
		}
		// A metric that is compared with several references was measured once.
		s := sample{metricName(c.Metric, c.Unit), short(c.Benchmark), *c.Now}
		if !slices.ContainsFunc(samples, func(o sample) bool { return o.name == s.name && o.benchmark == s.benchmark }) {
			samples = append(samples, s)
		}
	}
	slices.SortStableFunc(samples, func(a, b sample) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.benchmark, b.benchmark))
	})
	var b strings.Builder
	for i, s := range samples {
		if i == 0 || samples[i-1].name != s.name {
			fmt.Fprintf(&b, "# TYPE %s gauge\n", s.name)
		}
		label := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s.benchmark)
		fmt.Fprintf(&b, "%s{benchmark=\"%s\"} %s\n", s.name, label, strconv.FormatFloat(s.value, 'f', -1, 64))
	}
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// metricName is "mallow_peak_bytes", with what it is divided by at its end:
// "mallow_allocations_per_request".
func metricName(metric, unit string) string {
	of, per, divided := strings.Cut(unit, "/")
	name := "mallow_" + plainName(metric)
	if of == "s" {
		of = "seconds"
	}
	if of = plainName(of); of != "" && !strings.HasSuffix(name, "_"+of) {
		name += "_" + of
	}
	if divided {
		name += "_per_" + plainName(per)
	}
	return name
}

func plainName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && isWordCharacter(byte(r)) {
			return r
		}
		return '_'
	}, short(s)), "_")
}
