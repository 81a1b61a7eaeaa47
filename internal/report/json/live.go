package json

import (
	"io"
	"time"

	"mallow/internal/live"
	"mallow/internal/term"
)

// LiveSchema names the keys of a reading of a recording whose program runs:
// one line of JSON each. seconds is the time that the rates are of; with
// since_start they are averages since recording began. Where it is null, so
// are the rates. live_blocks and live_bytes are those of running processes.
const LiveSchema = "mallow.top/1"

type liveView struct {
	Schema     string        `json:"schema"`
	Recording  string        `json:"recording"`
	Time       string        `json:"time"`
	Seconds    *float64      `json:"seconds"`
	SinceStart bool          `json:"since_start"`
	Ended      bool          `json:"ended"`
	Gone       int           `json:"processes_ended"`
	Sampled    *uint64       `json:"sampling_mean_bytes"` // null: everything was counted
	Totals     liveFigures   `json:"totals"`
	Processes  []liveProcess `json:"processes"`
	Sites      []liveSite    `json:"sites"`
	Warnings   []string      `json:"warnings"`
}

type liveFigures struct {
	Allocations          uint64   `json:"allocations"`
	Bytes                uint64   `json:"bytes"`
	LiveBlocks           uint64   `json:"live_blocks"`
	LiveBytes            uint64   `json:"live_bytes"`
	AllocationsPerSecond *float64 `json:"allocations_per_second"`
	BytesPerSecond       *float64 `json:"bytes_per_second"`
}

type liveProcess struct {
	PID     uint64 `json:"pid"`
	Name    string `json:"name"`
	Threads uint64 `json:"threads"`
	liveFigures
}

type liveSite struct {
	frame
	Origin string `json:"origin"`
	liveFigures
}

// WriteLive prints one reading with at most top of its sites (0: all).
func WriteLive(w io.Writer, v *live.View, top int) error {
	r := liveView{
		Schema: LiveSchema, Recording: v.Path, Time: v.Time.Format(time.RFC3339Nano), SinceStart: v.Since,
		Ended: v.Ended, Gone: v.Gone, Totals: liveKeys(v, &v.Total),
		Processes: make([]liveProcess, len(v.Processes)), Sites: []liveSite{}, Warnings: append([]string{}, v.Warnings...),
	}
	if v.Seconds > 0 {
		r.Seconds = &v.Seconds
	}
	if v.SampledMean > 0 {
		r.Sampled = &v.SampledMean
	}
	for i := range v.Processes {
		p := &v.Processes[i]
		r.Processes[i] = liveProcess{p.PID, p.Name, p.Threads, liveKeys(v, &p.Figures)}
	}
	for i := range v.Sites {
		if i == top && top > 0 {
			break
		}
		s := &v.Sites[i]
		r.Sites = append(r.Sites, liveSite{frameKeys(&s.Frame), s.Origin.String(), liveKeys(v, &s.Figures)})
	}
	return term.WriteJSON(w, r, "")
}

func liveKeys(v *live.View, f *live.Figures) liveFigures {
	keys := liveFigures{Allocations: f.Allocations, Bytes: f.Bytes, LiveBlocks: f.LiveBlocks, LiveBytes: f.LiveBytes}
	if v.Seconds > 0 {
		keys.AllocationsPerSecond, keys.BytesPerSecond = &f.AllocationRate, &f.ByteRate
	}
	return keys
}
