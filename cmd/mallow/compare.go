package main

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"mallow/internal/advise/price"
	"mallow/internal/calibrate"
	"mallow/internal/compare"
	"mallow/internal/launch"
	"mallow/internal/measure"
	"mallow/internal/profile"
	"mallow/internal/recording"
	comparereport "mallow/internal/report/compare"
	"mallow/internal/term"
)

// compareOptions are the flags of mallow compare.
type compareOptions struct {
	compare.Options
	with      []string
	only      []string
	work      string
	metric    string
	noRecord  bool
	json      bool
	plot      string
	versusSet bool
	colour    term.Colour
}

func newCompareCommand() *cobra.Command {
	o := compareOptions{colour: term.Auto, Options: compare.Options{Rounds: 60, Limit: 10 * time.Minute, Timeout: 5 * time.Minute, Warmups: 1}}
	c := &cobra.Command{
		Use:   "compare [FLAGS] [--with LIB] [--vs 'CMD2'] [--] CMD [ARGS]",
		Short: "Measure what another malloc, or another command, brings",
		Long: `compare runs CMD under libc's malloc, under libmallow and under every other
malloc that is installed, by preload; with --vs it runs two commands. They run
in rounds, each in random order, until the differences of CPU time show or a
limit is reached, and it says "faster", "slower" or "no difference shown": the
last where chance alone could have made the difference.

All runs must print the same and end with the same exit status. A recording
tells what part of the CPU time malloc and free take, and with --vs what one
allocation bought that one of the commands does not make.

Exit codes: 0 compared, whatever the outcome; 1 not compared.`,
		Example: `  mallow compare -- sqlite3 :memory: '.read load.sql'
  mallow compare --vs './curl-old http://localhost/80GB -o /dev/null' --work 80GB -- ./curl-new http://localhost/80GB -o /dev/null
  mallow compare --only libmallow,jemalloc --with ./libmine.so -- ./server --bench`,
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("seed") {
				o.Seed = anySeed()
			}
			o.versusSet = c.Flags().Changed("vs")
			return runCompare(c.OutOrStdout(), c.ErrOrStderr(), args, o)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVar(&o.Versus, "vs", "", "compare with this other `COMMAND`, one string, as it would be typed")
	f.StringArrayVar(&o.with, "with", nil, "also under the malloc in this shared `LIBRARY` (may be repeated)")
	f.StringSliceVar(&o.only, "only", nil, "of the mallocs that are found only these `NAMES`, separated by commas")
	f.IntVar(&o.Rounds, "rounds", o.Rounds, "at most so many rounds")
	f.DurationVar(&o.Limit, "limit", o.Limit, "no new round that would end after this `TIME`")
	f.DurationVar(&o.Timeout, "timeout", o.Timeout, "the longest `TIME` that one run may take")
	f.IntVar(&o.Warmups, "warmup", o.Warmups, "runs of each side before the first round")
	f.Uint64Var(&o.Seed, "seed", 0, "of the random order (default: another one each time)")
	f.StringVar(&o.Stdin, "input", "", "`FILE` that each run reads from its standard input")
	f.BoolVar(&o.IgnoreOutput, "ignore-output", false, "the runs may print different things, and end with an exit status other than 0, if all with the same")
	f.StringVar(&o.work, "work", "", "what a run does, for throughput: 80GB, 512MiB, '1000 requests'")
	f.StringVar(&o.metric, "metric", "", "regular `EXPRESSION` whose first group finds the throughput in what the command prints")
	f.StringArrayVar(&o.Recordings, "recording", nil, "recording of CMD, and with a second one of the other command, made before (default: they are made)")
	f.BoolVar(&o.noRecord, "no-record", false, "make no recordings: what malloc costs is then not said")
	f.BoolVar(&o.json, "json", false, `every run and figure, for scripts: schema "mallow.compare/1"`)
	f.StringVar(&o.plot, "plot", "", "draw the runs into this `FILE`.svg")
	f.Var(&o.colour, "color", "when to write in colour")
	c.MarkFlagsMutuallyExclusive("work", "metric")
	c.MarkFlagsMutuallyExclusive("no-record", "recording")
	c.MarkFlagsMutuallyExclusive("vs", "with")
	c.MarkFlagsMutuallyExclusive("vs", "only")
	return c
}

// anySeed is another one each time.
func anySeed() uint64 {
	var bytes [4]byte
	cryptorand.Read(bytes[:])
	return uint64(binary.LittleEndian.Uint32(bytes[:]))
}

func runCompare(w, stderr io.Writer, args []string, o compareOptions) error {
	if err := o.prepare(args); err != nil {
		return err
	}
	ctx, stop := launch.UntilEnded(context.Background())
	defer stop()
	progress := term.Is(stderr)
	if progress {
		o.Progress = func(text string) { fmt.Fprintf(stderr, "\r\x1b[Kmallow: %s", term.Safe(text)) }
	}
	result, err := compare.Run(ctx, o.Options)
	if progress {
		fmt.Fprint(stderr, "\r\x1b[K")
	}
	if err != nil {
		return errors.New(term.Safe(err.Error()))
	}
	if o.Stdin == "" && isWaiting(os.Stdin) {
		result.Notes = append(result.Notes, "standard input is a pipe, which can be read once only: the runs had none (--input FILE, or <FILE)")
	}
	if o.plot != "" {
		if err := writeFile(o.plot, func(to io.Writer) error { return comparereport.WritePlot(to, result) }); err != nil {
			return err
		}
	}
	if o.json {
		return comparereport.WriteJSON(w, result)
	}
	return comparereport.WriteText(w, result, comparereport.TextOptions{Colour: o.colour.For(w), Plot: o.plot})
}

// prepare checks the flags and makes options of them.
func (o *compareOptions) prepare(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("no command given: mallow compare [FLAGS] -- CMD (mallow help compare tells more)")
	case o.Rounds < 1 || o.Warmups < 0:
		return errors.New("--rounds takes a number from 1 up, --warmup one from 0 up")
	case o.Limit <= 0 || o.Timeout <= 0:
		return errors.New("--limit and --timeout take a time above 0, such as 90s or 10m")
	case o.versusSet && o.Versus == "":
		return errors.New("--vs: the other command is empty")
	case o.plot != "" && !strings.HasSuffix(o.plot, ".svg"):
		return fmt.Errorf("--plot %s: the plot is an SVG picture: FILE.svg", launch.Quote(o.plot))
	case len(o.Recordings) > 2 || len(o.Recordings) == 2 && o.Versus == "":
		return errors.New("--recording is given once for CMD, and with --vs a second time for the other command")
	}
	o.Args = args
	o.Profile = profileOf
	if !o.noRecord {
		o.Record = recordSide
	}
	if err := canWrite(o.plot); err != nil { // before what takes minutes
		return err
	}
	if info, err := os.Stat(o.Stdin); err == nil && info.IsDir() {
		return fmt.Errorf("--input %s: is a folder", term.Safe(o.Stdin))
	}
	if o.Stdin == "" && isFile(os.Stdin) {
		o.Stdin = "/proc/self/fd/0"
	}
	var err error
	if o.work != "" {
		if o.Work, err = compare.ParseWork(o.work); err != nil {
			return fmt.Errorf("--work %s: it takes %w", term.Safe(o.work), err)
		}
	}
	if o.metric != "" {
		if o.Metric, err = regexp.Compile(o.metric); err != nil {
			return fmt.Errorf("--metric: %s", term.Safe(err.Error()))
		}
	}
	if o.Versus == "" {
		o.Allocators, err = allocators(o.only, o.with)
	}
	return err
}

// allocators are libmallow, those that are installed and those that are given.
func allocators(only, with []string) ([]compare.Allocator, error) {
	library, err := launch.Library()
	if err != nil {
		return nil, err
	}
	all := append([]compare.Allocator{{Name: "libmallow", Library: library}}, compare.Installed()...)
	if all, err = chosen(all, only); err != nil {
		return nil, err
	}
	for _, path := range with {
		given, err := compare.GivenLibrary(path)
		if err != nil {
			return nil, fmt.Errorf("--with %s", term.Safe(err.Error()))
		}
		all = append(all, given)
	}
	return all, nil
}

// chosen keeps those that are named; libc is always there.
func chosen(all []compare.Allocator, only []string) ([]compare.Allocator, error) {
	if len(only) == 0 {
		return all, nil
	}
	var kept []compare.Allocator
	names := []string{"libc"}
	for _, a := range all {
		names = append(names, a.Name)
	}
	for _, name := range only {
		found := name == "libc"
		for _, a := range all {
			if a.Name == name {
				kept, found = append(kept, a), true
			}
		}
		if !found {
			return nil, fmt.Errorf("--only %s: not found; those are: %s", term.Safe(name), strings.Join(names, ", "))
		}
	}
	return kept, nil
}

func isFile(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// isWaiting tells whether a pipe has something to be read.
func isWaiting(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return false
	}
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ)
	return err == nil && n > 0
}

// recordSide runs a command once more, recorded by mallow record.
func recordSide(ctx context.Context, c measure.Command, folder string) error {
	record := []string{fmt.Sprintf("/proc/%d/exe", os.Getpid()), "record", "--no-args", "-o", folder}
	if calibrate.Costs(price.Glibc) == nil {
		record = append(record, "--cpu") // without prices samples tell the share of malloc
	}
	c.Args = slices.Concat(record, []string{"--"}, c.Args)
	c.Silent = false
	run, err := measure.Once(ctx, c)
	if err != nil {
		return err
	}
	if _, err := os.Stat(folder); err != nil {
		said := strings.TrimSpace(string(run.Stderr))
		return errors.New(strings.TrimPrefix(said[strings.LastIndexByte(said, '\n')+1:], "mallow: "))
	}
	return nil
}

// profileOf reads a recording.
func profileOf(path string) (*profile.Profile, error) {
	rec, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	symbolizer, err := newSymbolizer(rec)
	if err != nil {
		return nil, err
	}
	defer symbolizer.Close()
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: symbolizer}), nil
}
