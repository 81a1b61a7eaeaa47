// Package live follows a recording while its program runs: what happened
// between two readings of it, and what there is now.
package live

import (
	"context"
	"path/filepath"
	"time"

	"mallow/internal/profile"
	"mallow/internal/recording"
)

// Figures of a site, a process or all of them. Live are the blocks of those
// processes that still run.
type Figures struct {
	Allocations uint64 // since recording began
	Bytes       uint64
	LiveBlocks  uint64
	LiveBytes   uint64
	// Per second, over View.Seconds.
	AllocationRate float64
	ByteRate       float64
}

func (f *Figures) add(o Figures) {
	f.Allocations += o.Allocations
	f.Bytes += o.Bytes
	f.LiveBlocks += o.LiveBlocks
	f.LiveBytes += o.LiveBytes
}

// rate sets the rates from an older reading. A recording that was damaged
// meanwhile may have gone backwards.
func (f *Figures) rate(old Figures, seconds float64) {
	if seconds > 0 {
		f.AllocationRate = float64(grown(f.Allocations, old.Allocations)) / seconds
		f.ByteRate = float64(grown(f.Bytes, old.Bytes)) / seconds
	}
}

func grown(now, before uint64) uint64 {
	if now < before {
		return 0
	}
	return now - before
}

// Site is a line of code with its figures.
type Site struct {
	profile.Frame
	Origin profile.Origin
	Figures
}

// Process is one that still runs.
type Process struct {
	Name    string
	PID     uint64
	Threads uint64 // recorded at the same time, at most
	Figures
}

// View is one reading of a recording.
type View struct {
	Path string
	Time time.Time
	// Seconds is the time that the rates are of; 0 when it is not known, and
	// neither are the rates then.
	Seconds float64
	// Since tells that the rates are averages since recording began: there was
	// no earlier reading.
	Since bool
	// Ended tells that no process of the recording runs any more.
	Ended     bool
	Gone      int       // processes that have ended
	Processes []Process // that run
	Total     Figures
	Sites     []Site
	// SampledMean is not 0 where figures are estimates: the bytes between two
	// samples.
	SampledMean uint64
	Warnings    []string // what the recording lacks
}

// Watch reads one recording again and again. Not for concurrent use.
type Watch struct {
	path    string
	options profile.Options

	summed   map[string]bool // names of the images whose figures are in past
	past     map[profile.Frame]*Site
	previous *View // nil before the first reading
	before   map[profile.Frame]Figures
	running  map[string]Figures // by the name of the image
}

// New watches the recording in the folder path.
func New(path string, o profile.Options) *Watch {
	return &Watch{
		path: path, options: o,
		summed: make(map[string]bool), past: make(map[profile.Frame]*Site),
	}
}

// Next reads the recording.
func (w *Watch) Next() (*View, error) {
	now := time.Now()
	rec, err := recording.Open(w.path)
	if err != nil {
		return nil, err
	}
	running, ended := w.split(rec.Images)
	w.remember(rec, ended)

	p := w.profile(rec, running)
	v := &View{Path: w.path, Time: now, Gone: len(rec.Images) - len(running)}
	if p.Quality.Incomplete {
		v.Warnings = p.Warnings()
	}
	v.Ended = len(running) == 0 && (rec.Meta != nil || w.previous != nil && len(w.previous.Processes) == 0)
	for _, im := range rec.Images {
		if im.Sampling != nil {
			v.SampledMean = max(v.SampledMean, im.Sampling.MeanBytes)
		}
	}
	var before Figures
	if w.previous == nil {
		v.Since, v.Seconds = true, duration(rec, len(running) > 0, now)
	} else {
		v.Seconds, before = now.Sub(w.previous.Time).Seconds(), w.previous.Total
	}
	w.addSites(v, p)
	w.addProcesses(v, p)
	v.Total.rate(before, v.Seconds)
	w.previous = v
	return v, nil
}

// split tells which images still grow, and which have ended since the reading
// before.
func (w *Watch) split(images []*recording.Image) (running, ended []*recording.Image) {
	for _, im := range images {
		grows := im.Running || im.Flags&recording.FlagPacked == 0 && recording.InUse(filepath.Join(w.path, im.Name))
		switch {
		case grows:
			running = append(running, im)
		case !w.summed[im.Name]:
			ended = append(ended, im)
		}
	}
	return running, ended
}

// remember adds up what ended processes have left. Their images never change
// again, so that each is looked at once.
func (w *Watch) remember(rec *recording.Recording, ended []*recording.Image) {
	if len(ended) == 0 {
		return
	}
	for _, site := range w.profile(rec, ended).Sites {
		known := w.past[site.Frame]
		if known == nil {
			known = &Site{Frame: site.Frame, Origin: site.Origin}
			w.past[site.Frame] = known
		}
		known.add(Figures{Allocations: site.Counters.Calls, Bytes: site.Counters.Bytes})
	}
	for _, im := range ended {
		w.summed[im.Name] = true
	}
}

func (w *Watch) profile(rec *recording.Recording, images []*recording.Image) *profile.Profile {
	part := *rec
	part.Images = images
	return profile.New([]*recording.Recording{&part}, w.options)
}

func (w *Watch) addSites(v *View, p *profile.Profile) {
	after := make(map[profile.Frame]Figures, len(p.Sites))
	add := func(s Site) {
		after[s.Frame] = s.Figures
		s.rate(w.before[s.Frame], v.Seconds)
		v.Sites = append(v.Sites, s)
		v.Total.add(s.Figures)
	}
	for _, site := range p.Sites {
		c := &site.Counters
		s := Site{Frame: site.Frame, Origin: site.Origin, Figures: Figures{
			Allocations: c.Calls, Bytes: c.Bytes, LiveBlocks: uint64(c.LiveBlocks()), LiveBytes: uint64(c.LiveBytes()),
		}}
		if past := w.past[site.Frame]; past != nil {
			s.add(past.Figures)
		}
		add(s)
	}
	for frame, past := range w.past {
		if _, done := after[frame]; !done {
			add(*past)
		}
	}
	w.before = after
}

func (w *Watch) addProcesses(v *View, p *profile.Profile) {
	after := make(map[string]Figures, len(p.Processes))
	for _, process := range p.Processes {
		t := &process.Totals
		figures := Figures{Allocations: t.Allocations, Bytes: t.Bytes, LiveBlocks: t.LiveBlocks, LiveBytes: t.LiveBytes}
		after[process.Image.Name] = figures
		figures.rate(w.running[process.Image.Name], v.Seconds)
		v.Processes = append(v.Processes, Process{
			Name: process.Name(), PID: process.Image.PID, Threads: process.Threads, Figures: figures,
		})
	}
	w.running = after
}

// duration returns for how many seconds a recording has gone on, or went on;
// 0 when it does not say so credibly.
func duration(rec *recording.Recording, running bool, now time.Time) float64 {
	var start, last uint64
	for _, im := range rec.Images {
		if start == 0 || im.StartRealtime < start {
			start = im.StartRealtime
		}
		last = max(last, im.LastRealtime)
	}
	end := now
	switch {
	case running:
	case rec.Meta != nil && rec.Meta.Ended.After(rec.Meta.Started):
		return rec.Meta.Ended.Sub(rec.Meta.Started).Seconds()
	default:
		end = time.Unix(0, int64(last))
	}
	seconds := end.Sub(time.Unix(0, int64(start))).Seconds()
	const century = 100 * 365 * 24 * 3600
	if start == 0 || seconds <= 0 || seconds > century {
		return 0
	}
	return seconds
}

// Follow reads the recording at once and then at every interval, and hands
// each reading to show: `most` times (0: without end), or until the program
// has ended, ctx is done or show fails.
func (w *Watch) Follow(ctx context.Context, interval time.Duration, most int, show func(*View) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for readings := 1; ; readings++ {
		v, err := w.Next()
		if err != nil {
			return err
		}
		if err := show(v); err != nil {
			return err
		}
		if v.Ended || readings == most {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
