package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mallow/internal/figure"
	"mallow/internal/history"
	"mallow/internal/history/exchange"
	"mallow/internal/term"
)

// historyImportOptions are the flags of mallow history import.
type historyImportOptions struct {
	format, commit, platform, build string
}

func newHistoryImportCommand(place *historyPlace) *cobra.Command {
	var o historyImportOptions
	c := &cobra.Command{
		Use:   "import [FLAGS] FILE...",
		Short: "Take in points of another history, or of files of other tools",
		Long: `import takes points of what mallow history export wrote, of another history's
database, and of files that other tools write: ` + exchange.Names() + `.
"-" is standard input.

Points that are there already are not added again. What a file does not say of
its points they get from here: the commit that is checked out, and the file's
time. A file is taken in whole or not at all.`,
		Example: `  mallow history import points.jsonl
  go test -bench . -benchmem | mallow history import -
  mallow history import --commit v1.2 hyperfine.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no file given: mallow history import FILE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return importPoints(c, place, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", "", "what the file is, where it cannot be told: "+exchange.Names())
	completeWords(c, "format", formatWords()...)
	f.StringVar(&o.commit, "commit", "", "the commit that points are of which name none (default the one that is checked out)")
	f.StringVar(&o.platform, "platform", "", "the platform of points which name none")
	f.StringVar(&o.build, "build", "", "the build of points which name none")
	return c
}

func formatWords() []string {
	var words []string
	for _, f := range exchange.Formats {
		words = append(words, f.Name)
	}
	return words
}

func importPoints(c *cobra.Command, place *historyPlace, paths []string, o historyImportOptions) error {
	format, err := formatNamed(o.format)
	if err != nil {
		return err
	}
	at := history.Head(".")
	if o.commit != "" {
		if at, err = history.CommitNamed(".", o.commit); err != nil {
			return safely(err)
		}
	}
	store, err := place.open()
	if err != nil {
		return safely(err)
	}
	defer store.Close()
	for _, path := range paths {
		points, notes, err := readPoints(c.InOrStdin(), path, format, at)
		if err != nil {
			return fmt.Errorf("%s: %w", term.Safe(path), safely(err))
		}
		for i := range points {
			p := &points[i]
			if p.Platform == "" {
				p.Platform = o.platform
			}
			if p.Build == "" {
				p.Build = o.build
			}
		}
		added, err := store.AddAll(points)
		if err != nil {
			return fmt.Errorf("%s: %w", term.Safe(path), safely(err))
		}
		for _, note := range notes {
			fmt.Fprintf(c.ErrOrStderr(), "mallow: %s: %s\n", term.Safe(path), term.Safe(note))
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %s, %s new, in %s\n", term.Safe(path),
			figure.Counted(uint64(len(points)), "point", "points"), figure.Count(uint64(added)), term.Safe(store.Path()))
	}
	return nil
}

func formatNamed(name string) (*exchange.Format, error) {
	if name == "" {
		return nil, nil
	}
	format := exchange.Named(name)
	if format == nil {
		return nil, fmt.Errorf("--format %s: there are %s", term.Safe(name), exchange.Names())
	}
	return format, nil
}

const databaseMagic = "SQLite format 3\x00"

// readPoints reads a file. Points that do not say which commit they are of are
// those of one.
func readPoints(stdin io.Reader, path string, format *exchange.Format, at history.Commit) ([]history.Point, []string, error) {
	from, when := stdin, time.Now()
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, cause(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, nil, cause(err)
		}
		if info.IsDir() {
			return nil, nil, errors.New("a folder; recordings are added by mallow history add --benchmark NAME")
		}
		magic := make([]byte, len(databaseMagic))
		if n, _ := file.ReadAt(magic, 0); string(magic[:n]) == databaseMagic {
			points, err := pointsOf(path)
			return points, nil, err
		}
		from, when = file, info.ModTime()
	}
	read, err := exchange.Read(from, format)
	if err != nil {
		return nil, nil, err
	}
	for i := range read.Points {
		p := &read.Points[i]
		if !read.Dated {
			p.Commit, p.CommitTime, p.Dirty = at.Hash, at.Time, at.Dirty
		}
		if p.Time.IsZero() && !read.Dated {
			p.Time = when.UTC()
		}
	}
	return read.Points, read.Notes, nil
}

// pointsOf returns all of another history.
func pointsOf(path string) ([]history.Point, error) {
	other, err := history.OpenFile(path, "")
	if err != nil {
		return nil, err
	}
	defer other.Close()
	points, err := other.All()
	for i := range points {
		if err == nil && points[i].ProfileID != "" {
			points[i].Profile, err = other.Profile(points[i].ProfileID)
		}
	}
	return points, err
}

// historyExportOptions are the flags of mallow history export.
type historyExportOptions struct {
	format, output, commit, platform, build string
}

func newHistoryExportCommand(place *historyPlace) *cobra.Command {
	o := historyExportOptions{format: "mallow"}
	c := &cobra.Command{
		Use:   "export [FLAGS] [BENCHMARK...]",
		Short: "Write points for another history, or for other tools",
		Long: `export writes points to standard output: all, with their profiles, in a form
that mallow history import takes in elsewhere, or in one of other tools: ` + exchange.Names() + `.

mallow, csv and benchfmt hold every point; the others hold one of each
benchmark: the last one of the branch that is checked out, or that of --commit.`,
		Example: `  mallow history export -o points.jsonl
  mallow history export --format benchfmt parse | benchstat -
  mallow history export --format openmetrics -o metrics.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			return exportPoints(c.OutOrStdout(), c.ErrOrStderr(), place, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", o.format, "what to write: "+exchange.Names())
	completeWords(c, "format", formatWords()...)
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE`")
	f.StringVar(&o.commit, "commit", "", "only the points of this commit")
	f.StringVar(&o.platform, "platform", "", "only the points of this platform")
	f.StringVar(&o.build, "build", "", "only the points of this build")
	return c
}

func exportPoints(w, stderr io.Writer, place *historyPlace, benchmarks []string, o historyExportOptions) error {
	format, err := formatNamed(o.format)
	if err != nil {
		return err
	}
	store, err := place.open()
	if err != nil {
		return safely(err)
	}
	defer store.Close()
	points, err := store.All()
	if err != nil {
		return safely(err)
	}
	if err := knownBenchmarks(points, benchmarks); err != nil {
		return err
	}
	commit := ""
	if o.commit != "" {
		at, err := history.CommitNamed(".", o.commit)
		if err != nil {
			return safely(err)
		}
		commit = at.Hash
	}
	graph := history.ReadGraph(".", points)
	graph.Sort(points)
	points = slices.DeleteFunc(points, func(p history.Point) bool {
		return len(benchmarks) > 0 && !slices.Contains(benchmarks, p.Benchmark) ||
			commit != "" && p.Commit != commit ||
			o.platform != "" && p.Platform != o.platform || o.build != "" && p.Build != o.build
	})
	if !format.Whole && commit == "" {
		points = ofCommits(stderr, points, graph)
	}
	write := func(to io.Writer) error { return safely(exchange.Write(to, format, points, store.Profile)) }
	if o.output != "" && o.output != "-" {
		return writeFile(o.output, write)
	}
	var all bytes.Buffer // nothing is written where something is wrong
	if err := write(&all); err != nil {
		return err
	}
	_, err = w.Write(all.Bytes())
	return err
}

// ofCommits returns the points of commits of the branch that is checked out, and
// says of which benchmarks there is none.
func ofCommits(stderr io.Writer, points []history.Point, graph *history.Graph) []history.Point {
	var left []history.Point
	has := make(map[string]bool)
	for _, p := range points {
		if !p.Dirty && !graph.Elsewhere(p.Commit) {
			left = append(left, p)
			has[p.Benchmark] = true
		}
	}
	for _, p := range points {
		if !has[p.Benchmark] {
			has[p.Benchmark] = true // said once
			fmt.Fprintf(stderr, "mallow: %s: left out, for all its points are of changed trees or of other branches (--commit takes those of a commit)\n", term.Safe(p.Benchmark))
		}
	}
	return left
}
