package kill

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mallow/test/harness"
)

// subject is a real program, whose calls a preload before libmallow witnesses (test/count/witness.c).
type subject struct {
	name    string
	command harness.Command
	threads int // of each process, at most
}

const allocating = `
import json
def work(n):
    kept = {}
    for i in range(n):
        kept[i % 500] = json.loads(json.dumps({'name': 'item %d' % i, 'list': list(range(i % 50)), 'map': {str(i): [i]}}))
    return len(kept)
`

func python(script string) harness.Command {
	return harness.Command{
		Arguments: []string{"/usr/bin/python3", "-c", allocating + script},
		Settings:  []string{"PYTHONMALLOC=malloc", "PYTHONHASHSEED=0"},
	}
}

var subjects = []subject{
	{"python3", python("work(3000)"), 1},
	{"python3, 4 threads", python(`
import threading
threads = [threading.Thread(target=work, args=(800,)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
`), 5},
	{"python3, 6 fork children", python(`
import os
work(300)
for i in range(6):
    if os.fork() == 0:
        work(300)
        os._exit(0)
for i in range(6): os.wait()
`), 1},
	{"sqlite3", harness.Command{Arguments: []string{"/usr/bin/sqlite3", ":memory:",
		`create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, 'row ' || i from n;
create index x on t(b); select count(*) from t group by b % 7;`}}, 1},
	{"a shell and what it starts", harness.Command{Arguments: []string{"/bin/bash", "-c",
		`for i in 1 2 3 4 5 6 7 8; do x=$(printf '%s\n' $i b a | sort | sed s/a/c/); (y=$x$i; echo "$y" >/dev/null); done`}}, 1},
}

// witnessed is what a program had called, as struct Page of test/count/witness.c has it.
type witnessed struct{ Allocations, Frees uint64 }

func (w witnessed) sum() uint64 { return w.Allocations + w.Frees }

// witness is a subject at work.
type witness struct {
	subject
	page, recording string
	run             *harness.Background
}

func begin(t *testing.T, s subject) witness {
	t.Helper()
	folder := harness.TempDir(t)
	w := witness{subject: s, page: filepath.Join(folder, "page"), recording: filepath.Join(folder, "run.mallow")}
	if err := os.WriteFile(w.page, make([]byte, binary.Size(witnessed{})), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.recording, 0o700); err != nil {
		t.Fatal(err)
	}
	command := s.command
	command.Settings = append([]string{
		"LD_PRELOAD=" + harness.Program(t, "count/witness.so") + " " + harness.Library(t), "MALLOW_OPTIONS=record=" + w.recording, "WITNESS=" + w.page,
	}, command.Settings...)
	w.run = harness.Start(t, command)
	return w
}

func (w witness) read(t *testing.T) (seen witnessed) {
	t.Helper()
	content, err := os.ReadFile(w.page)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := binary.Decode(content, binary.LittleEndian, &seen); err != nil {
		t.Fatal(err)
	}
	return seen
}

// check compares the recording with what was witnessed.
func (w witness) check(t *testing.T, label string, mayBeInFlight bool) ending {
	t.Helper()
	seen := w.read(t)
	if seen.sum() == 0 {
		return ending{}
	}
	forgetKilledAtBirth(t, w.recording)
	report := harness.ReadReport(t, w.recording)
	recorded, released := report.Totals.Allocations, report.Totals.Frees
	inFlight := int64(recorded-seen.Allocations) + int64(released-seen.Frees)
	most := 0
	if mayBeInFlight {
		most = w.threads * len(report.Processes)
	}
	if recorded < seen.Allocations || released < seen.Frees || inFlight > int64(most) {
		t.Errorf("%s: recorded %d allocations and %d frees, witnessed %d and %d, in %d processes", label,
			recorded, released, seen.Allocations, seen.Frees, len(report.Processes))
	}
	for _, warning := range report.Quality.Warnings {
		// The witness itself, which serves nothing.
		if strings.Contains(warning, "incomplete") && !strings.Contains(warning, "another malloc stands before") {
			t.Errorf("%s: %q", label, warning)
		}
	}
	return ending{seen.sum(), missing(recorded, seen.Allocations) + missing(released, seen.Frees), max(inFlight, 0)}
}

// Real programs, and trees of them, all of whose processes are killed at once. The moment is drawn from all orders of
// magnitude of what has been called, because most that is rare is early. A first run that is not killed shows that the
// witness is right.
func TestNoWitnessedCallIsLost(t *testing.T) {
	rounds := rounds(t)
	for index, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			sum := tally{name: s.name, killed: true}
			defer func() { sum.publish() }()
			whole := begin(t, s)
			whole.run.Wait(t)
			if status := whole.run.Process.ProcessState.ExitCode(); status != 0 {
				t.Fatalf("status %d: %s", status, whole.run.Errors())
			}
			whole.check(t, "not killed", false)
			most := math.Log(float64(whole.read(t).sum()))
			for round := range rounds {
				random := rand.New(rand.NewPCG(uint64(round), uint64(index)))
				calls := uint64(math.Exp(random.Float64() * most))
				w := begin(t, s)
				for deadline := time.Now().Add(harness.Patience); w.read(t).sum() < calls && time.Now().Before(deadline) && !w.run.Ended(); {
					time.Sleep(50 * time.Microsecond)
				}
				time.Sleep(time.Duration(random.Int64N(int64(time.Millisecond))))
				killGroup(t, w.run, nil)
				w.run.Wait(t)
				sum.add(w.check(t, fmt.Sprintf("round %d, killed at %d calls", round, calls), true))
			}
		})
	}
}
