package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/profile"
	"mallow/internal/term"
)

// historyAddOptions are the flags of mallow history add.
type historyAddOptions struct {
	benchmark, build string
}

func newHistoryAddCommand(place *historyPlace) *cobra.Command {
	var o historyAddOptions
	c := &cobra.Command{
		Use:   "add [FLAGS] NAME.mallow...",
		Short: "Add what recordings counted as points of a benchmark",
		Long: `add takes recordings into the history, as points of the commit that is checked
out where it runs. mallow record --benchmark NAME does so at once.`,
		Example: `  mallow history add --benchmark parse parse.4711.mallow`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no recording given: mallow history add --benchmark NAME NAME.mallow")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.benchmark == "" {
				return errors.New("--benchmark NAME says which benchmark the recordings are of")
			}
			store, err := place.open()
			if err != nil {
				return safely(err)
			}
			defer store.Close()
			for _, path := range args {
				if err := o.add(store, path, c.ErrOrStderr()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	o.addTo(c)
	return c
}

func (o *historyAddOptions) addTo(c *cobra.Command) {
	c.Flags().StringVar(&o.benchmark, "benchmark", "", "make it a point of benchmark `NAME` in the history of the repository")
	c.Flags().StringVar(&o.build, "build", "", "what tells this build from others of the benchmark, such as debug")
}

// check makes sure, before a program starts, that there is a place for its
// point.
func (o *historyAddOptions) check() error {
	if o.benchmark == "" {
		if o.build != "" {
			return errors.New("--build tells builds of a benchmark apart: it needs --benchmark NAME")
		}
		return nil
	}
	_, err := history.Location(".")
	return safely(err)
}

// keep adds the recording that was made. That it could not is said, and does
// not change how mallow ends: that is the program's own.
func (o *historyAddOptions) keep(folder string, stderr io.Writer) {
	if o.benchmark == "" || folder == "" {
		return
	}
	store, err := new(historyPlace).open()
	if err == nil {
		err = o.add(store, folder, stderr)
		store.Close()
	}
	if err != nil {
		fmt.Fprintf(stderr, "mallow: %s is not in the history: %v\n", term.Safe(folder), err)
	}
}

// add keeps a run that was recorded.
func (o *historyAddOptions) add(store *history.SQLite, folder string, stderr io.Writer) error {
	recordings, err := new(filterFlags).open([]string{folder})
	if err != nil {
		return err
	}
	symbolizer, err := newSymbolizer(recordings...)
	if err != nil {
		return err
	}
	defer symbolizer.Close()
	p := profile.New(recordings, profile.Options{Symbolizer: symbolizer})
	meta := recordings[0].Meta
	// The level of a series is that of whole runs.
	if meta != nil && meta.Joined {
		return fmt.Errorf("%s is no point: it is of a part of a run, for recording began while the program ran", term.Safe(folder))
	}
	if p.Running > 0 {
		return fmt.Errorf("%s is no point yet: %s", term.Safe(folder), figure.Counted(p.Running, "process still runs", "processes still run"))
	}
	point, err := history.Recorded(p, ".")
	if err != nil {
		return safely(err)
	}
	point.Key = history.Key{Benchmark: o.benchmark, Platform: history.Platform("libmallow"), Build: o.build}
	if meta != nil && meta.Imported != nil { // nobody knows its machine and malloc
		point.Platform = "imported from " + meta.Imported.Format
	}
	if point.Time.IsZero() {
		point.Time = time.Now()
	}
	if err := store.Add(point); err != nil {
		return safely(err)
	}
	at := "no commit"
	if point.Commit != "" {
		at = point.Commit[:min(10, len(point.Commit))]
	}
	if point.Dirty {
		at += " with changes"
	}
	_, err = fmt.Fprintf(stderr, "mallow: %s at %s is a point of %s\n", term.Safe(o.benchmark), at, term.Safe(store.Path()))
	return err
}
