package compare

import (
	"io"
	"math"

	"mallow/internal/compare"
	"mallow/internal/stat"
	"mallow/internal/term"
)

// Schema names the keys of a comparison and their meaning. What is not obvious
// of them:
//
//   - rows are the sides, the base first, whose ratio is 1; that of a side that
//     failed is null. ratio is by CPU time, to the base, by the rounds that both ran in; low and high bound it
//     over all looks, and are null where there were too few rounds. ratios has
//     wall, peak_rss and throughput in the same way.
//   - low and high of a figure bound its median with 95 %, and are null where
//     there were too few rounds for that.
//   - verdict of throughput is "faster" where there is more of it, that of
//     peak_rss "smaller" or "larger".
//   - runs are in the order of rounds; place is the place in the order of its
//     round.
//   - failed says why a side was not measured.
//   - malloc is what one run of the base allocates, other that of the other
//     command; cpu_share is the part of the CPU time that malloc and free take.
//   - removed: cpu_s_each is what one allocation that the side fewer does not
//     make bought; work_each how much more work was done in the same time.
//   - design.stopped is decided, rounds, time or interrupted; false_alarms is the
//     rate, over all looks and sides, at which equal sides show a difference.
const Schema = "mallow.compare/1"

type document struct {
	Schema  string   `json:"schema"`
	Command string   `json:"command"`
	Versus  *string  `json:"vs"`
	Rows    []row    `json:"rows"`
	Design  design   `json:"design"`
	Malloc  *malloc  `json:"malloc"`
	Other   *malloc  `json:"other"`
	Removed *removed `json:"removed"`
	Notes   []string `json:"notes"`
}

type row struct {
	Name        string      `json:"name"`
	Library     *string     `json:"library"`
	CPU         *figures    `json:"cpu_s"`
	Wall        *figures    `json:"wall_s"`
	User        *figures    `json:"user_s"`
	Sys         *figures    `json:"sys_s"`
	PeakRSS     *figures    `json:"peak_rss_bytes"`
	MinorFaults *figures    `json:"minor_faults"`
	MajorFaults *figures    `json:"major_faults"`
	Throughput  *throughput `json:"throughput"`
	Ratio       *ratio      `json:"ratio"`
	Ratios      *ratios     `json:"ratios"`
	Rounds      int         `json:"rounds"`
	Failed      *string     `json:"failed"`
	Runs        []run       `json:"runs"`
}

type figures struct {
	Median float64  `json:"median"`
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
}

type throughput struct {
	figures
	Unit *string `json:"unit"`
}

type ratio struct {
	CPU     float64      `json:"cpu"`
	Low     *float64     `json:"low"`
	High    *float64     `json:"high"`
	Verdict stat.Verdict `json:"verdict"`
}

type ratios struct {
	Wall       otherRatio  `json:"wall"`
	PeakRSS    otherRatio  `json:"peak_rss"`
	Throughput *otherRatio `json:"throughput"`
}

type otherRatio struct {
	Value   float64  `json:"value"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Verdict string   `json:"verdict"`
}

type run struct {
	Round       int      `json:"round"`
	Place       int      `json:"place"`
	CPU         float64  `json:"cpu_s"`
	Wall        float64  `json:"wall_s"`
	User        float64  `json:"user_s"`
	Sys         float64  `json:"sys_s"`
	PeakRSS     uint64   `json:"peak_rss_bytes"`
	MinorFaults uint64   `json:"minor_faults"`
	MajorFaults uint64   `json:"major_faults"`
	Throughput  *float64 `json:"throughput"`
}

type design struct {
	Rounds      int     `json:"rounds"`
	RoundLimit  int     `json:"round_limit"`
	TimeLimit   float64 `json:"time_limit_s"`
	Warmups     int     `json:"warmups"`
	Seed        uint64  `json:"seed"`
	Looks       []int   `json:"looks"`
	FalseAlarms float64 `json:"false_alarms"`
	Stopped     string  `json:"stopped"`
}

type malloc struct {
	Allocations uint64   `json:"allocations"`
	Bytes       uint64   `json:"bytes"`
	Each        *float64 `json:"cpu_s_each"`
	Share       *float64 `json:"cpu_share"`
	Basis       *string  `json:"cpu_share_basis"`
}

type removed struct {
	Fewer       string   `json:"fewer"`
	Allocations uint64   `json:"allocations"`
	Each        float64  `json:"cpu_s_each"`
	Low         *float64 `json:"low"`
	High        *float64 `json:"high"`
	Shown       bool     `json:"shown"`
	Work        *work    `json:"work_each"`
}

type work struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Unit  *string  `json:"unit"`
	Shown bool     `json:"shown"`
}

// WriteJSON writes the whole result, with every run.
func WriteJSON(w io.Writer, r *compare.Result) error {
	return term.WriteJSON(w, newDocument(r), "  ")
}

func newDocument(r *compare.Result) *document {
	d := &document{
		Schema: Schema, Command: r.Command, Versus: unlessEmpty(r.Versus), Rows: []row{}, Notes: r.Notes,
		Malloc: newMalloc(r.Malloc), Other: newMalloc(r.Other), Removed: newRemoved(r.Removed),
		Design: design{
			Rounds: r.Rounds, RoundLimit: r.Options.Rounds, TimeLimit: r.Options.Limit.Seconds(), Warmups: r.Options.Warmups,
			Seed: r.Options.Seed, Looks: r.Plan.Looks, FalseAlarms: stat.FalseAlarms, Stopped: string(r.Stopped),
		},
	}
	if d.Notes == nil {
		d.Notes = []string{}
	}
	if d.Design.Looks == nil {
		d.Design.Looks = []int{}
	}
	for _, one := range r.Rows {
		d.Rows = append(d.Rows, newRow(one, r))
	}
	return d
}

func newRow(of *compare.Row, r *compare.Result) row {
	one := row{
		Name: of.Name, Library: unlessEmpty(of.Library), Failed: unlessEmpty(of.Failed), Rounds: len(of.Runs), Runs: []run{},
		CPU: newFigure(of, compare.CPU), Wall: newFigure(of, compare.Wall), User: newFigure(of, compare.User), Sys: newFigure(of, compare.Sys),
		PeakRSS: newFigure(of, compare.PeakRSS), MinorFaults: newFigure(of, compare.MinorFaults), MajorFaults: newFigure(of, compare.MajorFaults),
	}
	if hasThroughput(r) && len(of.Runs) > 0 {
		one.Throughput = &throughput{*newFigure(of, compare.Throughput), unlessEmpty(unitOf(r))}
	}
	if of.Ratios != nil {
		cpu := of.Ratios.CPU
		one.Ratio = &ratio{cpu.Value, known(cpu.Low), known(cpu.High), cpu.Verdict()}
		one.Ratios = &ratios{
			Wall:    newRatio(of.Ratios.Wall, string(stat.Faster), string(stat.Slower)),
			PeakRSS: newRatio(of.Ratios.PeakRSS, "smaller", "larger"),
		}
		if of.Ratios.Throughput != nil {
			throughput := newRatio(*of.Ratios.Throughput, string(stat.Slower), string(stat.Faster))
			one.Ratios.Throughput = &throughput
		}
	}
	if of == r.Base() {
		itself := 1.0
		one.Ratio = &ratio{itself, &itself, &itself, stat.NoDifference}
	}
	for i := range of.Runs {
		m := &of.Runs[i]
		one.Runs = append(one.Runs, run{
			m.Round, m.Place, compare.CPU(m), compare.Wall(m), compare.User(m), compare.Sys(m),
			m.PeakRSS, m.MinorFaults, m.MajorFaults, unlessZero(m.Throughput),
		})
	}
	return one
}

func newRatio(of stat.Ratio, less, more string) otherRatio {
	return otherRatio{of.Value, known(of.Low), known(of.High), inWords(of, less, more)}
}

// inWords says what a ratio shows.
func inWords(of stat.Ratio, less, more string) string {
	switch of.Verdict() {
	case stat.Faster:
		return less
	case stat.Slower:
		return more
	}
	return string(stat.NoDifference)
}

// known is nil for a bound that too few rounds leave open.
func known(bound float64) *float64 {
	if bound == 0 || math.IsInf(bound, 0) || math.IsNaN(bound) {
		return nil
	}
	return &bound
}

func newFigure(row *compare.Row, of func(*compare.Measure) float64) *figures {
	if len(row.Runs) == 0 {
		return nil
	}
	s := stat.Summarize(row.Series(of))
	return &figures{s.Median, s.Min, s.Max, finite(s.Low), finite(s.High)}
}

func newMalloc(m *compare.Malloc) *malloc {
	if m == nil {
		return nil
	}
	return &malloc{m.Allocations, m.Bytes, unlessZero(m.Each / 1e9), m.Share, unlessEmpty(m.Basis)}
}

func newRemoved(r *compare.Removed) *removed {
	if r == nil {
		return nil
	}
	one := &removed{Fewer: r.Fewer, Allocations: r.Allocations, Each: r.Each / 1e9, Low: finite(r.Low / 1e9), High: finite(r.High / 1e9), Shown: r.Shown}
	if r.Work != 0 {
		one.Work = &work{r.Work, finite(r.WorkLow), finite(r.WorkHigh), unlessEmpty(r.Unit), r.WorkShown}
	}
	return one
}

func finite(value float64) *float64 {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil
	}
	return &value
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func unlessZero(value float64) *float64 {
	if value == 0 {
		return nil
	}
	return &value
}

func hasThroughput(r *compare.Result) bool { return r.Options.Work != nil || r.Options.Metric != nil }

// unitOf is what throughput counts, "" where nobody said.
func unitOf(r *compare.Result) string {
	if r.Options.Work != nil {
		return r.Options.Work.Unit
	}
	return ""
}
