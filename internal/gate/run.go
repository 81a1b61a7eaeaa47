package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/budget"
	"mallow/internal/figure"
	"mallow/internal/git"
	"mallow/internal/launch"
	"mallow/internal/measure"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/stacks"
)

// Tools are what a gate needs of others to run programs and to name stacks.
type Tools struct {
	Library    string // absolute path of libmallow.so
	Symbolizer profile.Symbolizer
	// Refusal says why a program cannot be recorded, "" when it can.
	Refusal func(path string) string
	// CountCalls prepares to count the calls of functions of a program.
	CountCalls func(command launch.Command, functions []string, options *launch.RecordOptions) error
	// Progress hears what is being done, in a few words.
	Progress func(text string)
}

// measured is what the runs of a benchmark in one tree have shown.
type measured struct {
	values map[string][]float64 // of each run, by metric
	error  map[string]float64   // how far the recorder may be off, by metric
	stacks *stacks.Set          // of the run in the middle
	// profile is that of the same run; nil of one that was kept by others.
	profile *profile.Profile
	outputs map[[sha256.Size]byte]bool
	notes   []string
}

func (m *measured) span(metric string) span { return spanOf(m.values[metric]) }

// failure is why a benchmark says nothing: it did not do what it should.
type failure struct{ message string }

func (f *failure) Error() string { return f.message }

func failed(format string, args ...any) error { return &failure{fmt.Sprintf(format, args...)} }

// runner runs the benchmarks of a budget in one tree.
type runner struct {
	Tools
	folder string // that of the budget in the tree
	root   string // of the tree
	scrap  string // folder for recordings
	built  map[string]error
	where  string    // " at the merge base", "" for the working tree
	other  *ownPaths // of the working tree that this one is not; nil for the working tree
	lacks  string    // what a build may miss there: ", where no submodule is checked out"
}

// build does the build step of a benchmark, each one once.
func (r *runner) build(ctx context.Context, b *budget.Benchmark) error {
	if err := r.other.check(b, r.where); err != nil {
		return err
	}
	if b.Build == "" {
		return nil
	}
	err, done := r.built[b.Build]
	if done {
		return err
	}
	r.Progress(fmt.Sprintf("%s: building%s", b.Name, r.where))
	run, err := measure.Once(ctx, measure.Command{Shell: b.Build, Dir: r.folder, Env: r.environment(b, r.folder)})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		err = failed("the build failed%s%s: %v", r.where, r.lacks, err)
	case run.Exit != 0 || run.Signal != 0:
		err = failed("the build failed%s%s: %s%s", r.where, r.lacks, run.Ending(), lastWords(string(run.Stdout)+string(run.Stderr)))
	}
	r.built[b.Build] = err
	return err
}

// lastWords are the last lines of what a program printed, for a sentence.
func lastWords(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	const most = 5
	text := strings.TrimSpace(strings.Join(lines[max(0, len(lines)-most):], " | "))
	if text == "" {
		return ""
	}
	const longest = 600
	if len(text) > longest {
		text = "..." + strings.ToValidUTF8(text[len(text)-longest:], "")
	}
	return "; it said: " + text
}

// environment is that of mallow with what the benchmark sets.
func (r *runner) environment(b *budget.Benchmark, folder string) []string {
	env := git.Environment()
	if b.CleanEnv {
		env = cleaned(env)
	}
	return launch.Command{Env: env}.With("PWD=" + folder).With(b.Env...).Env
}

// cleaned keeps what programs are found by, so that no other setting of the
// machine changes what they do.
func cleaned(env []string) (kept []string) {
	for _, setting := range env {
		name, _, _ := strings.Cut(setting, "=")
		if name == "PATH" || name == "HOME" || name == "LD_LIBRARY_PATH" {
			kept = append(kept, setting)
		}
	}
	return append(kept, "LC_ALL=C.UTF-8", "TZ=UTC")
}

func (r *runner) workingFolder(b *budget.Benchmark) string {
	return joined(r.folder, b.Folder)
}

func joined(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// command finds the program of a benchmark.
func (r *runner) command(b *budget.Benchmark) (launch.Command, error) {
	folder := r.workingFolder(b)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return launch.Command{}, failed("its folder %s is not there%s", launch.Quote(b.Folder), r.where)
	}
	args := b.Command
	if b.Shell != "" {
		args = []string{"/bin/sh", "-c", b.Shell}
	}
	name := args[0]
	if strings.Contains(name, "/") {
		name = joined(folder, name)
	}
	c, err := launch.Lookup(name, args[1:])
	if err != nil {
		return c, failed("cannot be run%s: %s", r.where, strings.ReplaceAll(err.Error(), name, args[0]))
	}
	if c.Path == name || !strings.Contains(name, "/") {
		c.Argv[0] = args[0]
	}
	if why := r.Refusal(c.Path); why != "" {
		return c, failed("%s cannot be recorded: %s", launch.Quote(args[0]), why)
	}
	c.Env, c.Dir, c.Group = r.environment(b, folder), folder, true
	return c, nil
}

// runs records a benchmark some more times and adds what it has seen to m.
func (r *runner) runs(ctx context.Context, b *budget.Benchmark, m *measured, times int) error {
	var profiles []*profile.Profile
	before := len(m.values[budget.Allocations])
	for i := range times {
		r.Progress(fmt.Sprintf("%s: run %d%s", b.Name, before+i+1, r.where))
		p, err := r.record(ctx, b, m)
		if err != nil {
			return err
		}
		if err := m.take(b, p); err != nil {
			return err
		}
		profiles = append(profiles, p)
	}
	if m.profile == nil && len(profiles) > 0 {
		middle := m.span(budget.Allocations).middle
		i := max(0, slices.Index(m.values[budget.Allocations], middle))
		m.profile = profiles[i]
		m.stacks = stacks.Of(m.profile, r.root)
	}
	if len(m.outputs) > 1 {
		m.note("%s prints differently in each run: its figures hold if it does the same work", b.Name)
	}
	return nil
}

// take adds the figures of a run.
func (m *measured) take(b *budget.Benchmark, p *profile.Profile) error {
	totals := p.WithoutLibc()
	divide := 1.0
	if b.Unit != "" {
		i := slices.IndexFunc(p.Units, func(u *profile.Unit) bool { return u.Name == b.Unit && u.Count > 0 })
		if i < 0 {
			return failed("it counted no %s: figures are to be divided by that unit of work", launch.Quote(b.Unit))
		}
		divide = float64(p.Units[i].Count)
	}
	add := func(metric string, value float64) { m.values[metric] = append(m.values[metric], value) }
	add(budget.Allocations, float64(totals.Allocations)/divide)
	add(budget.Bytes, float64(totals.Bytes)/divide)
	add(budget.Peak, float64(totals.PeakBytes))
	add(budget.Live, float64(totals.LiveBytes))
	add(budget.Libc, float64(p.Origins[profile.OriginLibc].Allocations)/divide)
	m.error[budget.Peak] = max(m.error[budget.Peak], float64(p.Quality.PeakErrorBytes))
	return nil
}

// record runs a benchmark once, recorded.
func (r *runner) record(ctx context.Context, b *budget.Benchmark, m *measured) (*profile.Profile, error) {
	command, err := r.command(b)
	if err != nil {
		return nil, err
	}
	wrappers, err := compiled(b.Wrappers)
	if err != nil {
		return nil, err
	}
	options := launch.RecordOptions{Folder: filepath.Join(r.scrap, "run.mallow"), Library: r.Library, Refusal: r.Refusal}
	defer os.RemoveAll(options.Folder)
	if len(b.Per) > 0 {
		if err := r.CountCalls(command, b.Per, &options); err != nil {
			return nil, failed("%v", err)
		}
	}
	output, left, err := r.execute(ctx, b, command, options)
	if err != nil {
		return nil, err
	}
	m.outputs[output] = true
	if left {
		m.note("%s: processes that it had started still ran when it ended, and were ended: how much of them counts is chance, unless the command waits for them", b.Name)
	}
	rec, err := recording.Open(options.Folder)
	if err != nil {
		return nil, failed("its recording cannot be read: %v", err)
	}
	if err := m.judgeFamily(b, rec); err != nil {
		return nil, err
	}
	p := profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: r.Symbolizer, Wrappers: wrappers, Processes: b.Processes})
	for _, name := range b.Processes {
		there := profile.ProcessesWithout([]*recording.Recording{rec}, name)
		switch {
		case there != "" && len(p.Processes) == 0:
			return nil, failed("none of its processes is %s: there are %s", strings.Join(b.Processes, " or "), there)
		case there != "":
			m.note("%s: none of its processes is %s: there are %s", b.Name, name, there)
		}
	}
	if p.Quality.Incomplete && left {
		return nil, failed("its recording is incomplete: what it had started still ran when it ended, and was ended: the command must wait for it")
	}
	if p.Quality.Incomplete {
		return nil, failed("its recording is incomplete: %s", strings.Join(append(p.Quality.Warnings, "is the disk full?"), "; "))
	}
	return p, nil
}

// judgeFamily makes sure that what counts was recorded.
func (m *measured) judgeFamily(b *budget.Benchmark, rec *recording.Recording) error {
	if rec.Meta == nil {
		return nil
	}
	for _, u := range rec.Meta.Unrecorded {
		why := u.Reason
		if why == "" {
			why = "it left nothing in the recording"
		}
		m.note("%s: %s was not recorded: %s", b.Name, launch.Quote(u.Executable), why)
	}
	return nil
}

// note adds a sentence once.
func (m *measured) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.notes, text) {
		m.notes = append(m.notes, text)
	}
}

func compiled(patterns []string) (all []*regexp.Regexp, err error) {
	for _, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, re)
	}
	return all, nil
}

// execute runs the command to its end, or to that of its time, and returns a
// hash of what it printed, and whether it left processes behind.
func (r *runner) execute(ctx context.Context, b *budget.Benchmark, command launch.Command, options launch.RecordOptions) (sum [sha256.Size]byte, left bool, err error) {
	input, err := os.Open(orNull(joined(r.folder, b.Stdin), b.Stdin))
	if err != nil {
		return sum, false, failed("its stdin cannot be read%s: %v", r.where, err)
	}
	defer input.Close()
	if info, err := input.Stat(); err == nil && info.IsDir() {
		return sum, false, failed("its stdin %s is a folder%s", launch.Quote(b.Stdin), r.where)
	}
	var printed [2]*listener
	command.Stdio = &[3]*os.File{input}
	for i := range printed {
		if printed[i], err = listen(); err != nil {
			return sum, false, err
		}
		defer printed[i].close()
		command.Stdio[i+1] = printed[i].writer
	}
	limited, cancel := context.WithTimeout(ctx, b.Limit)
	defer cancel()
	options.Done = limited.Done()
	recorded, err := launch.Record(command, options)
	if err != nil {
		return sum, false, failed("cannot be run%s: %v", r.where, err)
	}
	whole := sha256.New()
	for i := range printed {
		whole.Write(printed[i].finish())
	}
	switch {
	case ctx.Err() != nil:
		return sum, false, context.Cause(ctx)
	case limited.Err() != nil:
		return sum, false, failed("it did not end within its time limit of %v%s", b.Limit, r.where)
	case recorded.Signal != 0:
		return sum, false, failed("it was ended by %s%s%s", unix.SignalName(recorded.Signal), r.where, lastWords(printed[1].last()))
	case recorded.ExitStatus != b.Exit:
		return sum, false, failed("it ended with exit status %d and not %d%s%s", recorded.ExitStatus, b.Exit, r.where, lastWords(printed[1].last()))
	case recorded.Folder == "":
		return sum, false, failed("nothing of it was recorded: %s", strings.Join(recorded.Warnings, "; "))
	}
	return [sha256.Size]byte(whole.Sum(nil)), recorded.Left, nil
}

func orNull(path, name string) string {
	if name == "" {
		return os.DevNull
	}
	return path
}

// listener reads what a program prints on one of its streams.
type listener struct {
	reader, writer *os.File
	hash           hash.Hash
	tail           []byte
	done           chan struct{}
}

const keptOutput = 4096

func listen() (*listener, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l := &listener{reader: reader, writer: writer, hash: sha256.New(), done: make(chan struct{})}
	go l.read()
	return l, nil
}

func (l *listener) read() {
	defer close(l.done)
	chunk := make([]byte, 32<<10)
	for {
		n, err := l.reader.Read(chunk)
		l.hash.Write(chunk[:n])
		l.tail = append(l.tail, chunk[:n]...)
		l.tail = l.tail[max(0, len(l.tail)-keptOutput):]
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// finish returns the hash of all that was printed. Processes that the program
// left behind are not waited for.
func (l *listener) finish() []byte {
	l.writer.Close()
	l.reader.SetReadDeadline(time.Now().Add(time.Second))
	<-l.done
	return l.hash.Sum(nil)
}

// last is the end of what was printed, after finish.
func (l *listener) last() string { return string(l.tail) }

func (l *listener) close() {
	l.writer.Close()
	l.reader.Close()
	<-l.done
}

// time runs a benchmark once, not recorded, and adds its times to m.
func (r *runner) time(ctx context.Context, b *budget.Benchmark, m *measured) error {
	command := measure.Command{
		Args: b.Command, Shell: b.Shell, Dir: r.workingFolder(b), Env: r.environment(b, r.workingFolder(b)), Limit: b.Limit,
	}
	if b.Stdin != "" {
		command.Stdin = joined(r.folder, b.Stdin)
	}
	if len(b.Command) > 0 && strings.Contains(b.Command[0], "/") {
		command.Args = append([]string{joined(command.Dir, b.Command[0])}, b.Command[1:]...)
	}
	run, err := measure.Once(ctx, command)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failed("%v%s", err, r.where)
	case run.Signal != 0 || run.Exit != b.Exit:
		return failed("it ended with %s and not with status %d%s%s", run.Ending(), b.Exit, r.where, lastWords(string(run.Stderr)))
	}
	m.values[budget.CPU] = append(m.values[budget.CPU], run.CPU.Seconds())
	m.values[budget.Wall] = append(m.values[budget.Wall], run.Wall.Seconds())
	return nil
}

func newMeasured() *measured {
	return &measured{values: make(map[string][]float64), error: make(map[string]float64), outputs: make(map[[sha256.Size]byte]bool)}
}

// times runs a benchmark so many times for its times.
func (r *runner) times(ctx context.Context, b *budget.Benchmark, m *measured, runs int) error {
	for i := range runs {
		r.Progress(fmt.Sprintf("%s: timed run %s%s", b.Name, figure.Count(uint64(i+1)), r.where))
		if err := r.time(ctx, b, m); err != nil {
			return err
		}
	}
	return nil
}
