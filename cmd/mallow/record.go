package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mallow/internal/callcount"
	"mallow/internal/doctor"
	"mallow/internal/launch"
	"mallow/internal/term"
)

func newRecordCommand() *cobra.Command {
	var options launch.RecordOptions
	var attach attachOptions
	var log bool
	var per []string
	var benchmark historyAddOptions
	limit, sample := byteCount(1<<30), byteCount(0)
	c := &cobra.Command{
		Use:   "record [-o NAME.mallow] [--no-args] [--cpu[=HZ]] [--log] [--sample BYTES] [--per FUNCTION] [--] PROG ARGS | --pid PID [--seconds S] [--sample BYTES] | --pid PID --stop",
		Short: "Record every allocation of a program, and report",
		Long: `record runs PROG with every allocation recorded, in all its processes, and
then explains them on one screen.

The program's input, output, signals and exit status are left alone; mallow's
own words go to stderr. The recording is a folder: PROG.PID.mallow, or the one
that -o names. It exists and can be reported from while the program runs.

With --pid a program that "mallow run" has started is recorded while it runs, for
some seconds or until ctrl-C or --stop.

Exit codes: the program's own; killed by a signal, the same signal; 127 PROG
not found, 126 not executable, 125 mallow failed or cannot record it (the
program is then not started).`,
		Example: `  mallow ./server --once request.json
  mallow record -o before.mallow -- sort -n numbers.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			if options.SampleBytes = uint64(sample); c.Flags().Changed("sample") && !sampleable(sample) {
				return exitError{launch.StatusCannotRecord, fmt.Errorf("--sample takes a number of bytes from 1 to 1G")}
			}
			if attach.used(c) {
				for _, name := range []string{"cpu", "log", "log-limit", "per", "benchmark"} {
					if c.Flags().Changed(name) {
						return exitError{launch.StatusCannotRecord, fmt.Errorf("--%s is for a program that mallow starts, not for one that runs", name)}
					}
				}
				return recordRunning(args, options, attach, c.ErrOrStderr())
			}
			if hertz := options.CPUHertz; c.Flags().Changed("cpu") && (hertz < 1 || hertz > launch.MostCPUHertz) {
				return exitError{launch.StatusCannotRecord, fmt.Errorf("--cpu=%d: samples per second of CPU time, 1 to %d", hertz, launch.MostCPUHertz)}
			}
			if log || c.Flags().Changed("log-limit") {
				if limit < launch.LeastLogLimit {
					return exitError{launch.StatusCannotRecord, fmt.Errorf("--log-limit takes a number of bytes from %dK on", launch.LeastLogLimit>>10)}
				}
				if sample > 0 {
					return exitError{launch.StatusCannotRecord, fmt.Errorf("--log keeps every call; it does not go with --sample")}
				}
				options.LogLimit = uint64(limit)
			}
			return record(args, per, options, benchmark, c.ErrOrStderr())
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&options.Folder, "output", "o", "", "folder of the recording, made new (default PROG.PID.mallow)")
	c.Flags().BoolVar(&options.NoArguments, "no-args", false, "keep the command line out of the recording")
	c.Flags().IntVar(&options.CPUHertz, "cpu", 0, "sample where CPU time goes, `HZ` times per second of each thread's own (200 without HZ)")
	c.Flags().Lookup("cpu").NoOptDefVal = "200"
	c.Flags().Var(&sample, "sample", "record only blocks at a mean distance of so many bytes, K, M and G allowed: figures are estimates")
	c.Flags().BoolVar(&log, "log", false, "also keep every call in order, for mallow log")
	c.Flags().Var(&limit, "log-limit", "the same, with at most so many bytes of log for each process, K, M and G allowed")
	c.Flags().StringArrayVar(&per, "per", nil, "count calls of `FUNCTION` of PROG or its libraries as units of work (FUNCTION@FILE: of another file; may be repeated)")
	benchmark.addTo(c)
	attach.addTo(c)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{launch.StatusCannotRecord, err} })
	return c
}

func record(args, per []string, options launch.RecordOptions, benchmark historyAddOptions, stderr io.Writer) error {
	command, err := prepared(args, "record")
	if err == nil {
		err = benchmark.check()
	}
	if err == nil {
		options.Library, err = recorder()
	}
	if err == nil && len(per) > 0 {
		err = countCalls(command, per, &options)
	}
	var r launch.Recorded
	if err == nil {
		options.Refusal = whyNot
		options.Unseen = func(path string) []string { return unseen(path, command.Env) }
		r, err = launch.Record(command, options)
	}
	if err != nil {
		return notStarted(err)
	}
	reportRecorded(stderr, r.Folder, r.Warnings)
	benchmark.keep(r.Folder, stderr)
	return endLike(r.Result)
}

// reportRecorded says what became of a recording that has just ended.
func reportRecorded(stderr io.Writer, folder string, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintf(stderr, "mallow: %s\n", warning)
	}
	if folder == "" {
		return
	}
	o := defaultReportOptions()
	o.wrote = folder
	if err := report(stderr, []string{folder}, o); err != nil {
		fmt.Fprintf(stderr, "mallow: %v\n", err)
	}
}

// sampleable holds for what libmallow can draw distances for.
func sampleable(mean byteCount) bool { return mean >= 1 && mean <= 1<<30 }

// countCalls prepares to count the calls of functions of the program.
func countCalls(command launch.Command, functions []string, options *launch.RecordOptions) error {
	path := command.Path
	if program, err := doctor.Inspect(path); err == nil {
		path = program.Path // not the script that it runs
	}
	counting, err := callcount.Prepare(path, options.Library, command.Env, functions)
	if err != nil {
		return &launch.Error{Code: launch.StatusCannotRecord, Err: errors.New(term.Safe(err.Error()))}
	}
	options.CountCalls, options.Notes = counting.Setting, counting.Notes
	return nil
}

// prepared finds the program of args and makes sure that it can run on
// libmallow.
func prepared(args []string, verb string) (launch.Command, error) {
	if len(args) == 0 {
		return launch.Command{}, &launch.Error{
			Code: launch.StatusCannotRecord,
			Err:  fmt.Errorf("no program given: mallow %s PROG ARGS (mallow help %s tells more)", verb, verb),
		}
	}
	command, err := launch.Lookup(args[0], args[1:])
	if err != nil {
		return command, err
	}
	if refusal := doctor.Refuses(command.Path); refusal != nil {
		return command, &launch.Error{Code: launch.StatusCannotRecord, Err: refusal}
	}
	return command, nil
}

// whyNot says why a program cannot be recorded, "" when it can.
func whyNot(path string) string {
	if refusal := doctor.Refuses(path); refusal != nil {
		return refusal.Reason
	}
	return ""
}

// unseen says what of a program's memory its recording lacks.
func unseen(path string, environment []string) []string {
	program, err := doctor.Inspect(path)
	if err != nil {
		return nil // it may be executed and not read
	}
	return program.Unseen(environment)
}

// recorder is the library, which must be able to record: the minimal one, which MALLOW_LIB may name, is a malloc only.
func recorder() (string, error) {
	path, err := library()
	if err != nil || os.Getenv("MALLOW_LIB") == "" {
		return path, err
	}
	if named, err := doctor.Inspect(path); err == nil && named.Minimal {
		return "", &launch.Error{
			Code: launch.StatusCannotRecord,
			Err:  fmt.Errorf("MALLOW_LIB names %s, the minimal library, which has no recorder", launch.Quote(path)),
		}
	}
	return path, nil
}

func library() (string, error) {
	path, err := launch.Library()
	if err != nil {
		return "", &launch.Error{Code: launch.StatusCannotRecord, Err: err}
	}
	return path, nil
}

// notStarted gives err the exit code that it carries.
func notStarted(err error) error {
	var e *launch.Error
	if errors.As(err, &e) {
		return exitError{e.Code, e.Err}
	}
	return exitError{launch.StatusCannotRecord, err}
}

// endLike makes mallow end as its program did.
func endLike(r launch.Result) error {
	if r.Signal != 0 {
		launch.DieBy(r.Signal)
	}
	if r.ExitStatus != 0 {
		return exitError{code: r.ExitStatus}
	}
	return nil
}
