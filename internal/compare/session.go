package compare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mallow/internal/launch"
	"mallow/internal/measure"
	"mallow/internal/stat"
)

// session is a comparison under way.
type session struct {
	o      Options
	folder string // for what it needs on the way
	links  int
	sides  []*side // the base first
	result Result
	wanted *printed // what every run must print; nil before the first
}

func newSession(o Options) (*session, error) {
	folder, err := os.MkdirTemp("", "mallow-compare-")
	if err != nil {
		return nil, err
	}
	s := &session{o: o, folder: folder, result: Result{Command: measure.Command{Args: o.Args}.String(), Versus: o.Versus}}
	s.o.Allocators = slices.Clone(o.Allocators)
	distinct(s.o.Allocators)
	if err := s.newSides(); err != nil {
		s.close()
		return nil, err
	}
	for _, side := range s.sides {
		s.result.Rows = append(s.result.Rows, side.row)
	}
	return s, nil
}

func (s *session) close() { os.RemoveAll(s.folder) }

func (s *session) base() *side { return s.sides[0] }

// note is said once, whatever how often it is found.
func (s *session) note(format string, arguments ...any) {
	if text := fmt.Sprintf(format, arguments...); !slices.Contains(s.result.Notes, text) {
		s.result.Notes = append(s.result.Notes, text)
	}
}

// once runs a side and checks what it prints.
func (s *session) once(ctx context.Context, side *side, c measure.Command) (measure.Run, error) {
	run, err := measure.Once(ctx, c)
	switch {
	case errors.Is(err, measure.ErrLimit):
		return run, fmt.Errorf("%w: is it waiting for something? (--timeout sets the limit of a run)", err)
	case err != nil:
		return run, err
	}
	if run.Left > 0 {
		s.note("%d of its processes still ran when the command had ended, and were ended", run.Left)
	}
	return run, s.check(side, &run)
}

// rehearse runs each side once, and asks the dynamic linker which malloc it
// got. The base runs twice: what differs between its two runs differs by
// itself.
func (s *session) rehearse(ctx context.Context) error {
	s.progress("a first run of each")
	for _, side := range slices.Clone(s.sides) {
		if !slices.Contains(s.sides, side) {
			continue // the base has this malloc already
		}
		times := 1
		if side == s.base() {
			times = 2
		}
		for range times {
			if err := s.rehearseOne(ctx, side); err != nil {
				if err := s.giveUp(ctx, side, err); err != nil {
					return err
				}
				break
			}
		}
	}
	if len(s.sides) < 2 {
		return s.nothingLeft()
	}
	return nil
}

// giveUp leaves a malloc out that was found and does not work. It returns err
// where the comparison makes no sense without the side.
func (s *session) giveUp(ctx context.Context, side *side, err error) error {
	if ctx.Err() != nil || side.allocator == nil || side.allocator.Given {
		return err
	}
	side.row.Failed, side.row.Runs = err.Error(), nil
	if i := slices.Index(s.sides, side); i >= 0 {
		s.sides = slices.Delete(s.sides, i, i+1)
	}
	return nil
}

// nothingLeft says why there is no other malloc.
func (s *session) nothingLeft() error {
	var all []string
	for _, row := range s.result.Rows {
		if row.Failed != "" {
			all = append(all, row.Name+": "+row.Failed)
		}
	}
	if len(all) == 0 {
		all = []string{"none but libc's was chosen (--only names others, --with adds one)"}
	}
	return fmt.Errorf("there is no other malloc to compare with: %s", strings.Join(all, "; "))
}

func (s *session) rehearseOne(ctx context.Context, side *side) error {
	folder, err := os.MkdirTemp(s.folder, "probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	command := side.command
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = launch.Command{Env: command.Env}.With(probeSettings(folder)...).Env
	run, err := s.once(ctx, side, command)
	if err != nil {
		return err
	}
	found, err := readProbe(folder, run.PID)
	if err != nil {
		return err
	}
	return s.judge(side, found)
}

// judge tells whether the malloc that was put under a side is the one that its
// programs got.
func (s *session) judge(side *side, found bound) error {
	if side.allocator == nil {
		if s.o.Versus == "" {
			s.nameBase(found)
		}
		return nil
	}
	library, err := filepath.EvalSymlinks(side.allocator.Library)
	if err != nil {
		return err
	}
	switch n := len(found.first); {
	case n == 0:
		return fmt.Errorf("the preload did not take: %s", insteadOf(nil))
	case !has(found.first[0], library):
		return fmt.Errorf("the preload did not take: %s", insteadOf(found.first[0]))
	case !has(found.first[n-1], library):
		return fmt.Errorf("the preload did not take in the program that runs in the end (was LD_PRELOAD taken out of its environment?): %s", insteadOf(found.first[n-1]))
	}
	others := 0
	for _, program := range found.programs {
		if !has(program, library) {
			others++
		}
	}
	if others > 0 {
		s.note("%d of %d programs under %s had another malloc", others, len(found.programs), side.row.Name)
	}
	return nil
}

// has compares files by what they are: libmallow lies in several places.
func has(providers []string, library string) bool {
	want, err := os.Stat(library)
	return err == nil && slices.ContainsFunc(providers, func(one string) bool {
		got, err := os.Stat(one)
		return err == nil && (os.SameFile(got, want) || filepath.Base(one) == filepath.Base(library) && filepath.Base(one) == "libmallow.so")
	})
}

func insteadOf(providers []string) string {
	if len(providers) == 0 {
		return "the dynamic linker bound no malloc in it"
	}
	names := make([]string, len(providers))
	for i, name := range providers {
		names[i] = launch.Quote(name)
	}
	slices.Sort(names)
	return "its malloc is that of " + strings.Join(names, ", ")
}

// nameBase names the malloc that the command has anyway. That of libc is put
// under it like the others only where that is another one.
func (s *session) nameBase(found bound) {
	var names []string
	for _, program := range found.programs {
		for _, provider := range program {
			if name := nameOf(provider); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	base := s.base().row
	if len(names) == 0 || slices.Equal(names, []string{libc}) {
		base.Name = libc
		s.sides = slices.DeleteFunc(s.sides, func(one *side) bool { return one.isLibc() })
		s.result.Rows = slices.DeleteFunc(s.result.Rows, func(row *Row) bool { return row.Name == libc && row != base })
		return
	}
	base.Name = "as it is (" + strings.Join(names, ", ") + ")"
}

// libc is the malloc that most programs have.
const libc = "libc"

func (s *side) isLibc() bool { return s.allocator != nil && s.allocator.Name == libc }

func nameOf(provider string) string {
	switch base := filepath.Base(provider); {
	case strings.HasPrefix(base, "libc.so"):
		return libc
	case base == "libmallow.so":
		return "libmallow"
	case familyOf(provider) != "":
		return familyOf(provider)
	default:
		return launch.Quote(base)
	}
}

// warmUp runs each side without measuring it.
func (s *session) warmUp(ctx context.Context) error {
	for warmup := range s.o.Warmups {
		s.progress("warming up, %d of %d", warmup+1, s.o.Warmups)
		for _, side := range slices.Clone(s.sides) {
			if _, err := s.once(ctx, side, side.command); err != nil {
				if err := s.giveUp(ctx, side, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// measure runs the rounds.
func (s *session) measure(ctx context.Context) error {
	plan := stat.NewPlan(s.o.Rounds, len(s.sides)-1)
	s.result.Plan = plan
	random := rand.New(rand.NewPCG(s.o.Seed, s.o.Seed))
	running := slices.Clone(s.sides)
	begin := time.Now()
	var longest time.Duration
	for round := 1; round <= s.o.Rounds; round++ {
		since := time.Since(begin)
		if round > 1 && since+longest > s.o.Limit {
			s.stop(running, TimeIsUp)
			return nil
		}
		s.progress("round %d of %d at most, %v of %v", round, s.o.Rounds, since.Round(time.Second), s.o.Limit)
		random.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		for place, side := range slices.Clone(running) {
			err := s.measureOne(ctx, side, round, place+1)
			if ctx.Err() != nil && round > 1 {
				s.forget(round)
				s.stop(running, Cancelled)
				return nil
			}
			if err != nil {
				if err := s.giveUp(ctx, side, fmt.Errorf("in round %d %w", round, err)); err != nil {
					return err
				}
				running = slices.Delete(running, slices.Index(running, side), slices.Index(running, side)+1)
			}
		}
		if len(s.sides) < 2 {
			return s.nothingLeft()
		}
		longest = max(longest, time.Since(begin)-since)
		s.result.Rounds, s.result.Elapsed = round, time.Since(begin)
		if plan.IsLook(round) && round < s.o.Rounds {
			if running = s.look(running, plan.RateAt(round)); len(running) < 2 {
				s.result.Stopped = Decided
				return nil
			}
		}
	}
	s.stop(running, MostRuns)
	return nil
}

func (s *session) measureOne(ctx context.Context, side *side, round, place int) error {
	run, err := s.once(ctx, side, side.command)
	if err != nil {
		return err
	}
	one := Measure{Run: run, Round: round, Place: place}
	if one.Throughput, err = s.throughput(&run); err != nil {
		return err
	}
	one.Stdout, one.Stderr = nil, nil
	side.row.Runs = append(side.row.Runs, one)
	return nil
}

// forget takes back what a round that was not finished has measured.
func (s *session) forget(round int) {
	for _, side := range s.sides {
		if n := len(side.row.Runs); n > 0 && side.row.Runs[n-1].Round == round {
			side.row.Runs = side.row.Runs[:n-1]
		}
	}
}

// stop looks for the last time.
func (s *session) stop(running []*side, why Stop) {
	s.result.Stopped = why
	if left := s.look(running, s.result.Plan.RateAt(s.result.Rounds)); len(left) < 2 {
		s.result.Stopped = Decided
	}
}

// look takes the sides out whose difference shows.
func (s *session) look(running []*side, rate float64) (left []*side) {
	for _, side := range running {
		if side == s.base() {
			left = append(left, side)
			continue
		}
		side.row.Ratios = s.ratios(side.row, rate)
		if !side.row.Ratios.CPU.Shown() {
			left = append(left, side)
		}
	}
	return left
}

// ratios compares a row with the base.
func (s *session) ratios(row *Row, rate float64) *Ratios {
	base := s.base().row
	paired := func(of func(*Measure) float64) stat.Ratio { return stat.Paired(base.Series(of), row.Series(of), rate) }
	r := &Ratios{CPU: paired(CPU), Wall: paired(Wall), PeakRSS: paired(PeakRSS)}
	if s.o.Work != nil || s.o.Metric != nil {
		throughput := paired(Throughput)
		r.Throughput = &throughput
	}
	return r
}
