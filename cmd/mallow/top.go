package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mallow/internal/launch"
	"mallow/internal/live"
	"mallow/internal/profile"
	"mallow/internal/report/json"
	"mallow/internal/report/text"
	"mallow/internal/running"
	"mallow/internal/term"
)

// topOptions are the flags of mallow top.
type topOptions struct {
	interval float64
	readings int
	top      int
	topSet   bool
	json     bool
	sort     text.LiveOrder
	colour   term.Colour
}

func newTopCommand() *cobra.Command {
	o := topOptions{interval: 1, top: 10, sort: text.ByCallRate, colour: term.Auto}
	c := &cobra.Command{
		Use:   "top [FLAGS] NAME.mallow|PID",
		Short: "Show what a running program allocates now",
		Long: `top reads the recording of a program that runs, again and again, and shows what
each site allocates per second and what lives now, of all processes of the
recording. On a terminal the figures change in place until q or ctrl-C is
pressed; elsewhere they follow one another. The first figures are averages since
recording began. It ends with the program, which notices nothing of it.

PID is a process that is being recorded.`,
		Example: `  mallow top server.4711.mallow
  mallow top --sort live 4711
  mallow top -n 2 --json 4711 | tail -n 1 | jq .totals`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("top takes one recording or process id: mallow top NAME.mallow|PID")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.topSet = c.Flags().Changed("top")
			return top(c.OutOrStdout(), args[0], o)
		},
	}
	f := c.Flags()
	f.Float64Var(&o.interval, "interval", o.interval, "seconds between two readings")
	f.IntVarP(&o.readings, "readings", "n", 0, "end after so many readings (default: with the program)")
	f.IntVar(&o.top, "top", o.top, "sites to show, 0 for all (a terminal shows what fits, JSON has all unless this is given)")
	f.Var(&o.sort, "sort", "what to sort sites by")
	f.BoolVar(&o.json, "json", false, `one line of JSON for each reading: schema "mallow.top/1"`)
	f.Var(&o.colour, "color", "when to write in colour")
	return c
}

const (
	shortestInterval = 0.05
	longestInterval  = 24 * 3600
)

func top(w io.Writer, what string, o topOptions) error {
	if !(o.interval >= shortestInterval && o.interval <= longestInterval) {
		return fmt.Errorf("--interval takes seconds, from %v to %v", shortestInterval, longestInterval)
	}
	if o.top < 0 || o.readings < 0 {
		return fmt.Errorf("--top and -n take a number from 0 up")
	}
	folder, err := recordingOf(what)
	if err != nil {
		return err
	}
	symbolizer, err := symbolizerFor(folder)
	if err != nil {
		return err
	}
	defer symbolizer.Close()
	watch := live.New(folder, profile.Options{Symbolizer: symbolizer})

	ctx, stop := launch.UntilEnded(context.Background())
	defer stop()
	show := o.writer(w)
	if !o.json {
		if screen := term.OpenScreen(w, os.Stdin); screen != nil {
			defer screen.Close()
			go stopAtQ(screen.Keys(), stop)
			show = o.painter(w, screen)
		}
	}
	err = watch.Follow(ctx, time.Duration(o.interval*float64(time.Second)), o.readings, show)
	if err != nil {
		return fmt.Errorf("%s", term.Safe(err.Error()))
	}
	return nil
}

// recordingOf takes a number for a process, unless a recording has that name.
func recordingOf(what string) (string, error) {
	pid, err := strconv.Atoi(what)
	if _, missing := os.Stat(what); err != nil || missing == nil {
		return what, nil
	}
	return running.Recording(pid)
}

func stopAtQ(keys <-chan byte, stop func()) {
	for key := range keys {
		if key == 'q' || key == 'Q' {
			stop()
		}
	}
}

// writer puts readings one below the other.
func (o topOptions) writer(w io.Writer) func(*live.View) error {
	first := true
	return func(v *live.View) error {
		o.sort.Sort(v.Sites)
		if o.json {
			sites := o.top
			if !o.topSet {
				sites = 0
			}
			return json.WriteLive(w, v, sites)
		}
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		return text.WriteLive(w, v, text.LiveOptions{Top: o.top, Sort: o.sort, Colour: o.colour.For(w), Width: term.Width(w)})
	}
}

// painter puts each reading in the place of the one before.
func (o topOptions) painter(w io.Writer, screen *term.Screen) func(*live.View) error {
	return func(v *live.View) error {
		o.sort.Sort(v.Sites)
		options := text.LiveOptions{Sort: o.sort, Colour: o.colour.For(w), Width: term.Width(w), Height: term.Height(w)}
		if o.topSet {
			options.Top = o.top
		}
		var page bytes.Buffer
		if err := text.WriteLive(&page, v, options); err != nil {
			return err
		}
		return screen.Show(page.Bytes())
	}
}
