// Package memanalyze prints the counts that curl's memanalyze -v prints of a
// memory log, byte for byte, so that scripts around it keep working.
package memanalyze

import (
	"fmt"
	"io"

	"mallow/internal/profile"
)

// Dialect is the version of curl whose block is printed.
type Dialect int

const (
	Today  Dialect = iota // of curl 8.21
	Of2017                // of curl 7.53.1
)

// counts are the figures that the block knows. It has no line for operator
// new and for aligned blocks: they count as mallocs.
type counts struct {
	mallocs, reallocs, callocs, strdups, wcsdups uint64
	frees, allocations, peak, bytes              uint64
}

// Write prints the block for the program and its libraries; with all set,
// also for what libc allocated on its own account.
func Write(w io.Writer, p *profile.Profile, d Dialect, all bool) error {
	var err error
	if d == Of2017 {
		err = count(p, all).write2017(w)
	} else {
		err = count(p, all).writeToday(w)
	}
	return err
}

func count(p *profile.Profile, all bool) counts {
	t := p.Totals
	c := counts{
		mallocs: t.Mallocs + t.Aligned + t.News, reallocs: t.Reallocs, callocs: t.Callocs,
		strdups: t.Strdups, wcsdups: t.Wcsdups,
		allocations: t.Allocations, bytes: t.Bytes, frees: *t.Frees, peak: t.PeakBytes,
	}
	if !all {
		libc := p.Origins[profile.OriginLibc]
		c.mallocs -= libc.Mallocs + libc.Aligned + libc.News
		c.reallocs -= libc.Reallocs
		c.callocs -= libc.Callocs
		c.strdups -= libc.Strdups
		c.wcsdups -= libc.Wcsdups
		c.allocations -= libc.Allocations
		c.bytes -= libc.Bytes
		c.frees, c.peak = p.Program.Frees, p.Program.PeakBytes
	}
	return c
}

func (c counts) writeToday(w io.Writer) error {
	_, err := fmt.Fprintf(w, `Mallocs: %d
Reallocs: %d
Callocs: %d
Strdups: %d
Wcsdups: %d
Frees: %d
Sockets: 0
Allocations: %d
Operations: %d
Maximum allocated: %d
Total allocated: %d
`, c.mallocs, c.reallocs, c.callocs, c.strdups, c.wcsdups, c.frees, c.allocations, c.allocations, c.peak, c.bytes)
	return err
}

func (c counts) write2017(w io.Writer) error {
	_, err := fmt.Fprintf(w, `Mallocs: %d
Reallocs: %d
Callocs: %d
Strdups:  %d
Wcsdups:  %d
Frees: %s
Allocations: %d
Maximum allocated: %s
`, c.mallocs, c.reallocs, c.callocs, c.strdups, c.wcsdups, unsetWhenZero(c.frees), c.allocations, unsetWhenZero(c.peak))
	return err
}

// unsetWhenZero returns nothing for 0: the script of 2017 never set these
// counters before the first event.
func unsetWhenZero(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
