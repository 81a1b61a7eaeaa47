// Package memanalyze prints the counts that curl's memanalyze -v prints of a
// memory log, byte for byte, so that scripts around it keep working.
package memanalyze

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/term"
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
	frees, sockets, allocations, peak, bytes     uint64
}

// Write prints the block for the program and its libraries; with all set,
// also for what libc allocated on its own account. Of imported memory logs it
// prints what memanalyze itself says of them, errors and leaks first.
func Write(w io.Writer, p *profile.Profile, d Dialect, all bool) error {
	c, imported := countLogs(p)
	if !imported {
		c = count(p, all)
	} else if err := writeLines(w, p, d); err != nil {
		return err
	}
	if d == Of2017 {
		return c.write2017(w)
	}
	return c.writeToday(w)
}

// countLogs sums up what memanalyze counts, if every recording is an imported
// memory log.
func countLogs(p *profile.Profile) (c counts, imported bool) {
	for _, rec := range p.Recordings {
		if rec.Meta == nil || rec.Meta.Imported == nil || rec.Meta.Imported.MemoryLog == nil {
			return counts{}, false
		}
		m := rec.Meta.Imported.MemoryLog
		c.mallocs += m.Mallocs
		c.reallocs += m.Reallocs
		c.callocs += m.Callocs
		c.strdups += m.Strdups
		c.wcsdups += m.Wcsdups
		c.frees += m.Frees
		c.sockets += m.Sockets
		c.peak += m.MaximumBytes
		c.bytes += m.TotalBytes
	}
	c.allocations = c.mallocs + c.reallocs + c.callocs + c.strdups + c.wcsdups
	return c, len(p.Recordings) > 0
}

// writeLines copies what memanalyze says of the logs before it counts.
// Terminals get it without what could steer them.
func writeLines(w io.Writer, p *profile.Profile, d Dialect) error {
	name := recording.MemanalyzeLines
	if d == Of2017 {
		name = recording.Memanalyze2017Lines
	}
	for _, rec := range p.Recordings {
		file, err := rec.OpenFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // nothing to say
		}
		if err != nil {
			return err
		}
		err = copyLines(w, file)
		file.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func copyLines(w io.Writer, file io.Reader) error {
	if !term.Is(w) {
		_, err := io.Copy(w, file)
		return err
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if _, err := fmt.Fprintln(w, term.Safe(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
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
Sockets: %d
Allocations: %d
Operations: %d
Maximum allocated: %d
Total allocated: %d
`, c.mallocs, c.reallocs, c.callocs, c.strdups, c.wcsdups, c.frees, c.sockets, c.allocations, c.allocations+c.sockets, c.peak, c.bytes)
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
