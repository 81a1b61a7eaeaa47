// Package compare measures what another malloc, or another command, brings: it
// runs the sides in rounds, each round in an order that chance decides, until
// the difference shows or a limit is reached.
package compare

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"mallow/internal/measure"
	"mallow/internal/profile"
	"mallow/internal/stat"
)

// Options of a comparison.
type Options struct {
	// Args are the command. Versus is another one, as one string; "" compares
	// mallocs under Args.
	Args   []string
	Versus string
	// Allocators are put under the command, in this order, after the malloc
	// that it has without any.
	Allocators []Allocator
	Stdin      string // a file for each run; "" for none

	Rounds  int           // at most
	Limit   time.Duration // of all rounds together
	Timeout time.Duration // of each run
	Warmups int           // runs of each side that are not measured
	Seed    uint64        // of the order

	IgnoreOutput bool
	Work         *Work          // what each run does
	Metric       *regexp.Regexp // finds what it says that it does

	// Record runs a command recorded into a new folder; nil for no recordings.
	Record func(ctx context.Context, c measure.Command, folder string) error
	// Recordings are given ones: of the command, and of Versus.
	Recordings []string
	Profile    func(recording string) (*profile.Profile, error)

	Progress func(text string) // may be nil
}

// Result is what a comparison found.
type Result struct {
	Command, Versus string        // Versus is "" when mallocs were compared
	Rows            []*Row        // the base first
	Rounds          int           // that were run
	Elapsed         time.Duration // of all of them
	Plan            stat.Plan
	Options         Options
	Stopped         Stop
	Malloc          *Malloc  // of the base; nil where nothing is known of it
	Other           *Malloc  // of Versus
	Removed         *Removed // nil where the two sides allocate alike
	Notes           []string
}

// Stop is why there were no more rounds.
type Stop string

const (
	Decided   Stop = "decided"     // every difference is shown
	MostRuns  Stop = "rounds"      // the limit of rounds
	TimeIsUp  Stop = "time"        // the limit of time
	Cancelled Stop = "interrupted" // by the user
)

// Row is one side with its figures.
type Row struct {
	Name    string
	Library string    // of its malloc, where it was preloaded
	Runs    []Measure // by rounds
	// Failed says why it was not measured, "" when it was.
	Failed string
	// Ratios to the base; nil for the base itself and for what failed.
	Ratios *Ratios
}

// Measure is one run.
type Measure struct {
	measure.Run
	Round      int
	Place      int     // in the order of its round
	Throughput float64 // per second; 0 unknown
}

// Ratios are of a side to the base, by the rounds that both ran in.
type Ratios struct {
	CPU, Wall, PeakRSS stat.Ratio
	Throughput         *stat.Ratio
}

// Run compares. The error says in one sentence why there is no result.
func Run(ctx context.Context, o Options) (*Result, error) {
	s, err := newSession(o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for _, step := range []func(context.Context) error{s.rehearse, s.record, s.warmUp, s.measure} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s.conclude(), nil
}

// Base is the side that the others are compared with.
func (r *Result) Base() *Row { return r.Rows[0] }

// Series are the values of a figure of the row, by rounds.
func (row *Row) Series(of func(*Measure) float64) []float64 {
	values := make([]float64, len(row.Runs))
	for i := range row.Runs {
		values[i] = of(&row.Runs[i])
	}
	return values
}

// Figures of a run, in seconds, bytes and numbers.
func CPU(m *Measure) float64         { return m.CPU.Seconds() }
func Wall(m *Measure) float64        { return m.Wall.Seconds() }
func User(m *Measure) float64        { return m.User.Seconds() }
func Sys(m *Measure) float64         { return m.Sys.Seconds() }
func PeakRSS(m *Measure) float64     { return float64(m.PeakRSS) }
func MinorFaults(m *Measure) float64 { return float64(m.MinorFaults) }
func MajorFaults(m *Measure) float64 { return float64(m.MajorFaults) }
func Throughput(m *Measure) float64  { return m.Throughput }

func (s *session) progress(format string, arguments ...any) {
	if s.o.Progress != nil {
		s.o.Progress(fmt.Sprintf(format, arguments...))
	}
}
