package trend

import (
	"io"
	"math"
	"time"

	"mallow/internal/history"
	"mallow/internal/term"
)

type document struct {
	Schema string       `json:"schema"`
	Series []seriesKeys `json:"series"`
	Notes  []string     `json:"notes"`
}

type seriesKeys struct {
	Benchmark string      `json:"benchmark"`
	Platform  string      `json:"platform"`
	Build     string      `json:"build"`
	Metric    string      `json:"metric"`
	Unit      string      `json:"unit"`
	Class     *string     `json:"class"`
	Points    []pointKeys `json:"points"`
	Steps     []stepKeys  `json:"steps"`
}

type pointKeys struct {
	Commit     *string    `json:"commit"`
	CommitTime *time.Time `json:"commit_time"`
	Time       *time.Time `json:"time"`
	Dirty      bool       `json:"dirty"`
	Value      float64    `json:"value"`
	Profile    *string    `json:"profile"`
}

type stepKeys struct {
	Commit     *string   `json:"commit"`
	LastCommit *string   `json:"last_commit"` // of the old level
	Before     levelKeys `json:"before"`
	After      levelKeys `json:"after"`
	Ratio      *float64  `json:"ratio"` // of the means; null from nothing
	P          float64   `json:"p"`
}

type levelKeys struct {
	N         int     `json:"points"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// WriteJSON writes everything, of schema "mallow.history/1".
func WriteJSON(w io.Writer, series []*history.Series, notes []string) error {
	d := document{Schema: "mallow.history/1", Series: make([]seriesKeys, 0, len(series)), Notes: append([]string{}, notes...)}
	for _, s := range series {
		keys := seriesKeys{
			Benchmark: s.Benchmark, Platform: s.Platform, Build: s.Build, Metric: s.Metric, Unit: s.Unit, Class: known(s.Class()),
			Points: make([]pointKeys, 0, len(s.Points)), Steps: make([]stepKeys, 0, len(s.Steps)),
		}
		for _, p := range s.Points {
			keys.Points = append(keys.Points, pointKeys{
				Commit: known(p.Commit), CommitTime: knownTime(p.CommitTime), Time: knownTime(p.Time), Dirty: p.Dirty,
				Value: s.Value(p), Profile: known(p.ProfileID),
			})
		}
		for _, st := range s.Steps {
			k := stepKeys{
				Commit: known(st.At.Commit), LastCommit: known(st.Last.Commit), P: st.P,
				Before: levelKeys(st.Before), After: levelKeys(st.After),
			}
			if ratio := st.After.Mean / st.Before.Mean; !math.IsInf(ratio, 0) && !math.IsNaN(ratio) {
				k.Ratio = &ratio
			}
			keys.Steps = append(keys.Steps, k)
		}
		d.Series = append(d.Series, keys)
	}
	return term.WriteJSON(w, &d, " ")
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func knownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
