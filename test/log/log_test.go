// Package log compares the ordered log of real processes with what is known of their calls: by construction, by what they
// publish, and by the counters of the same recording.
package log

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/internal/eventlog"
	"mallow/internal/recording"
	"mallow/test/harness"
)

// record runs the command under `mallow record` with the flags.
func record(t *testing.T, flags []string, arguments ...string) (harness.Result, string) {
	t.Helper()
	folder := filepath.Join(harness.TempDir(t), "run.mallow")
	command := append([]string{harness.CLI(t), "record", "-o", folder}, flags...)
	result := harness.Run(t, harness.Command{Arguments: append(append(command, "--"), arguments...)})
	return result, folder
}

func mallowLog(t *testing.T, arguments ...string) string {
	t.Helper()
	result := harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "log"}, arguments...)})
	if result.Status != 0 || result.Errors != "" {
		t.Fatalf("mallow log %q: %s: %s", arguments, result.Ending(), result.Errors)
	}
	return result.Output
}

// printed matches a line of the log: the place, the call, its function, and perhaps process and thread.
var printed = regexp.MustCompile(`^MEM (logged\.cc:\d+) (.*?)  (?:\S.*?)(?:  \[(?:(\d+)/)?(\d+)\])?$`)

// logged are the lines of the log that speak of test/programs/logged.cc, as that prints them: thread, place, call.
func logged(t *testing.T, flags []string, arguments ...string) (want, got []string) {
	t.Helper()
	result, folder := record(t, append([]string{"--log"}, flags...), append([]string{harness.Program(t, "programs/logged_cxx")}, arguments...)...)
	if result.Status != 0 {
		t.Fatalf("%s: %s", result.Ending(), result.Errors)
	}
	for _, line := range strings.Split(mallowLog(t, folder), "\n") {
		if m := printed.FindStringSubmatch(line); m != nil {
			got = append(got, m[4]+" "+m[1]+" "+m[2])
		}
	}
	return strings.Split(strings.TrimSuffix(result.Output, "\n"), "\n"), got
}

func compare(t *testing.T, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("line %d of the log is\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
	if len(want) != len(got) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
}

// Every function of the malloc family, as curl would log it where curl does.
func TestEveryFunction(t *testing.T) {
	want, got := logged(t, nil, "each")
	for i := range want {
		_, line, _ := strings.Cut(want[i], " ") // one thread: the log does not name it
		want[i] = " " + line
	}
	if len(want) < 40 {
		t.Fatalf("only %d lines", len(want))
	}
	compare(t, want, got)
}

// The order within each thread is exact, whatever the others do.
func TestThreads(t *testing.T) {
	want, got := logged(t, nil, "threads", "4", "20000")
	if len(want) != 80000 {
		t.Fatalf("only %d lines", len(want))
	}
	compare(t, byThread(want), byThread(got))
}

// byThread sorts lines by the thread in front, and keeps the order of each.
func byThread(lines []string) (sorted []string) {
	groups := map[string][]string{}
	var threads []string
	for _, line := range lines {
		thread, _, _ := strings.Cut(line, " ")
		if groups[thread] == nil {
			threads = append(threads, thread)
		}
		groups[thread] = append(groups[thread], line)
	}
	for _, thread := range strings.Fields(harness.SortedLines(strings.Join(threads, "\n"))) {
		sorted = append(sorted, groups[thread]...)
	}
	return sorted
}

// Threads that take turns have one order, and the log shows it.
func TestTurns(t *testing.T) {
	want, got := logged(t, nil, "turns", "4", "3000")
	compare(t, want, got)
}

// Threads that hand blocks to each other: no block may be released before it was given out, nor given out twice, in the
// order of the log.
func TestBlocksAlternate(t *testing.T) {
	for _, threads := range []int{2, 8} {
		result, folder := record(t, []string{"--log"}, harness.Program(t, "programs/logged_cxx"), "swap", strconv.Itoa(threads), "100000")
		if result.Status != 0 {
			t.Fatal(result.Ending())
		}
		live := map[uint64]bool{}
		wrong := 0
		give := func(address uint64) {
			if live[address] {
				wrong++
			}
			live[address] = true
		}
		take := func(address uint64) {
			if !live[address] {
				wrong++
			}
			delete(live, address)
		}
		for _, e := range readAll(t, folder) {
			switch e.Kind {
			case eventlog.Birth:
				give(e.Address)
			case eventlog.Death:
				take(e.Old)
			case eventlog.Move:
				take(e.Old)
				give(e.Address)
			}
		}
		if wrong > 0 {
			t.Errorf("%d threads: %d events out of order", threads, wrong)
		}
	}
}

func openLog(t *testing.T, folder string) (*recording.Recording, *eventlog.Log) {
	t.Helper()
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	l, err := eventlog.Open(rec, func(*recording.Image) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return rec, l
}

func readAll(t *testing.T, folder string) (events []eventlog.Event) {
	t.Helper()
	_, l := openLog(t, folder)
	var e eventlog.Event
	for l.Next(&e) {
		events = append(events, e)
	}
	return events
}

// A fork child has a log of its own, and both stand in one order.
func TestFork(t *testing.T) {
	result, folder := record(t, []string{"--log"}, harness.Program(t, "programs/logged_cxx"), "fork", "100")
	want := strings.Split(strings.TrimSuffix(result.Output, "\n"), "\n")
	logs, _ := filepath.Glob(filepath.Join(folder, "log-*"))
	if len(logs) != 2 || len(want) != 400 {
		t.Fatalf("%d logs, %d lines", len(logs), len(want))
	}
	var got []string
	for _, line := range strings.Split(mallowLog(t, folder), "\n") {
		// Of one thread each: the number in brackets is the process.
		if m := printed.FindStringSubmatch(line); m != nil {
			got = append(got, m[4]+" "+m[1]+" "+m[2])
		}
	}
	compare(t, append(append(append([]string{}, want[200:300]...), want[:200]...), want[300:]...), got)
	child, _, _ := strings.Cut(want[0], " ")
	if lines := strings.Count(mallowLog(t, "--process", child, folder), "logged.cc"); lines != 200 {
		t.Errorf("%d lines of the child, want 200", lines)
	}
	// Choosing a process changes nothing of its calls, not their time either.
	var chosen []string
	for _, line := range strings.Split(mallowLog(t, "--json", folder), "\n") {
		if !strings.Contains(line, `"call"`) || strings.Contains(line, `"process":`+child+",") {
			chosen = append(chosen, line)
		}
	}
	compare(t, chosen, strings.Split(mallowLog(t, "--json", "--process", child, folder), "\n"))
}

// tally is what the log and the counters must agree on, of a process.
type tally struct {
	births, failures map[uint32]uint64 // by stack
	bytes            uint64
	deaths, nulls    uint64
	moves            uint64
}

func tallies(t *testing.T, folder string) (*recording.Recording, map[*recording.Image]*tally) {
	t.Helper()
	rec, l := openLog(t, folder)
	all := map[*recording.Image]*tally{}
	for _, im := range rec.Images {
		all[im] = &tally{births: map[uint32]uint64{}, failures: map[uint32]uint64{}}
	}
	var e eventlog.Event
	for l.Next(&e) {
		n := all[e.Image]
		switch e.Kind {
		case eventlog.Birth, eventlog.Move:
			n.births[e.Stack]++
			n.bytes += e.Size
			if e.Kind == eventlog.Move {
				n.moves++
			}
		case eventlog.Failure:
			n.failures[e.Stack]++
		case eventlog.Death:
			n.deaths++
		case eventlog.NullRelease:
			n.nulls++
		}
	}
	if len(l.Warnings)+len(l.Ends()) > 0 {
		t.Errorf("%q %q", l.Warnings, l.Ends())
	}
	return rec, all
}

// The log and the counters of a recording count the same calls.
func TestAgreesWithTheCounters(t *testing.T) {
	numbers := filepath.Join(harness.TempDir(t), "numbers")
	if err := os.WriteFile(numbers, []byte(strings.Repeat("12\n7\n9\n", 2000)), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"each":     {harness.Program(t, "programs/logged_cxx"), "each"},
		"threads":  {harness.Program(t, "programs/logged_cxx"), "threads", "8", "5000"},
		"swap":     {harness.Program(t, "programs/logged_cxx"), "swap", "8", "20000"},
		"fork":     {harness.Program(t, "programs/logged_cxx"), "fork", "100"},
		"known":    {harness.Program(t, "programs/known")},
		"children": {"/bin/sh", "-c", "for i in 1 2 3; do (echo $i | sort); done; seq 100 | sort -n | uniq -c"},
		"sort":     {"/usr/bin/sort", "-n", numbers},
		"python3":  {"/usr/bin/python3", "-c", "import json, threading\nt = [threading.Thread(target=lambda: json.dumps(list(range(5000)))) for _ in range(4)]\n[x.start() for x in t]; [x.join() for x in t]"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(command[0]); err != nil {
				t.Skip(err)
			}
			result, folder := record(t, []string{"--log"}, command...)
			if result.Signal != 0 {
				t.Fatal(result.Ending())
			}
			rec, all := tallies(t, folder)
			for _, im := range rec.Images {
				agree(t, im, all[im])
			}
		})
	}
}

func agree(t *testing.T, im *recording.Image, log *tally) {
	t.Helper()
	var deaths, nulls, bytes, realloced uint64
	im.EachStack(func(id uint32, c *recording.Counters) {
		tail, _ := im.Node(im.StackNode(id))
		if tail.Tag() == recording.TagFunction && recording.Function(tail.Value()) == recording.FreeNull {
			return
		}
		if log.births[id] != c.Calls || log.failures[id] != c.Failed {
			t.Errorf("%s: stack %d has %d calls and %d failures in the log, %d and %d counted", im.Name, id, log.births[id], log.failures[id], c.Calls, c.Failed)
		}
		deaths += c.Releases - c.ByRealloc
		realloced += c.ByRealloc
		bytes += c.Bytes
	})
	var inherited uint64
	for _, shard := range im.Shards {
		nulls += shard.FreeNulls
		inherited += shard.InheritedFrees
	}
	// A block from before the fork dies without a death; who released it, only the log knows.
	if released := log.deaths + log.moves; released != deaths+realloced+inherited || log.nulls != nulls || log.bytes != bytes {
		t.Errorf("%s: %d releases, %d of NULL, %d bytes in the log, %d, %d, %d counted", im.Name, released, log.nulls, log.bytes, deaths+realloced+inherited, nulls, bytes)
	}
}

// The limit ends the log, not the counters; up to its end the log is whole, and it says where that is.
func TestLimit(t *testing.T) {
	for _, threads := range []string{"1", "4"} {
		want, got := loggedUpTo(t, "400K", threads)
		if len(got) < 10000 || len(got) == len(want) {
			t.Fatalf("%d of %d lines", len(got), len(want))
		}
		compare(t, want[:len(got)], got)
	}
}

// The least limit that record takes is one with which there is a log.
func TestLeastLimit(t *testing.T) {
	result, folder := record(t, []string{"--log-limit", "64K"}, "/bin/sh", "-c", ":")
	if result.Status != 0 || strings.Contains(result.Errors, "the log") {
		t.Errorf("%s: %q", result.Ending(), result.Errors)
	}
	if output := mallowLog(t, folder); !strings.HasPrefix(output, "MEM ") {
		t.Errorf("%q", output)
	}
}

func loggedUpTo(t *testing.T, limit, threads string) (want, got []string) {
	t.Helper()
	result, folder := record(t, []string{"--log-limit", limit}, harness.Program(t, "programs/logged_cxx"), "turns", threads, "40000")
	if !strings.Contains(result.Errors, "ends before its process: its limit of ") {
		t.Errorf("record does not say that the log ends: %q", result.Errors)
	}
	if n := harness.ReadReport(t, folder).Origins.Program.Allocations; n != 40000 {
		t.Errorf("%d allocations counted, want 40000", n)
	}
	output := mallowLog(t, folder)
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "# process ") || !strings.Contains(last, "the log ends at ") {
		t.Errorf("the log does not say that it ends: %q", last)
	}
	for _, line := range lines {
		if m := printed.FindStringSubmatch(line); m != nil {
			got = append(got, m[1]+" "+m[2])
		}
	}
	for _, line := range strings.Split(strings.TrimSuffix(result.Output, "\n"), "\n") {
		_, call, _ := strings.Cut(line, " ")
		want = append(want, call)
	}
	logs, _ := filepath.Glob(filepath.Join(folder, "log-*"))
	if info, err := os.Stat(logs[0]); err != nil || info.Size() > 400<<10 {
		t.Errorf("the log has %d bytes (%v)", info.Size(), err)
	}
	return want, got
}

// On a full disk the program goes on, and recording, log and mallow say what is missing.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	for _, size := range []string{"4k", "64k", "200k", "400k", "600k", "1000k"} {
		t.Run(size, func(t *testing.T) {
			folder := harness.TempDir(t)
			if err := syscall.Mount("mallow-test", folder, "tmpfs", 0, "size="+size+",mode=755"); err != nil {
				t.Skipf("cannot mount a tmpfs here: %v", err)
			}
			t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
			program := harness.Program(t, "programs/logged_cxx")
			run := filepath.Join(folder, "run.mallow")
			result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "record", "--log", "-o", run, "--", program, "turns", "3", "40000"}})
			if result.Status != 0 || strings.Count(result.Output, "\n") != 80000 {
				t.Fatalf("%s, %d lines: %s", result.Ending(), strings.Count(result.Output, "\n"), result.Errors)
			}
			if !strings.Contains(result.Errors, "log") && !strings.Contains(result.Errors, "was recorded") {
				t.Errorf("no word of what is missing: %q", result.Errors)
			}
			shown := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "log", run}})
			if shown.Status == 0 {
				if calls := strings.Count(shown.Output, "logged.cc:"); calls != 80000 && !strings.Contains("\n"+shown.Output, "\n# process ") {
					t.Errorf("a log of %d calls does not say that it ends", calls)
				}
			} else if shown.Errors == "" {
				t.Error("no word of why there is no log")
			}
		})
	}
}

// A process without a recording has no log either, and the log says so, unless only others are asked for.
func TestUnrecordedProcesses(t *testing.T) {
	// sleep leaves nothing, so that it must live until mallow has looked at it.
	result, folder := record(t, []string{"--log"}, "/bin/sh", "-c", "ulimit -f 8; echo $$; /bin/sleep 1; (echo $(:)); :")
	shell := strings.Fields(result.Output)[0]
	output := mallowLog(t, folder)
	for _, says := range []string{
		": this process could not be recorded: ",
		"\n# process " + shell + ": forked children that could not be recorded: ",
		"\n# sleep, not recorded: ",
	} {
		if !strings.Contains(output, says) {
			t.Errorf("the log does not say %q: %q", says, output[strings.LastIndex(output, "MEM"):])
		}
	}
	if output := mallowLog(t, folder, "--process", shell); strings.Contains(output, "sleep, not recorded") {
		t.Errorf("the log of one process tells of others: %q", output)
	}
}

// The program sees no descriptor and no errno of the log's.
func TestLogIsNotSeen(t *testing.T) {
	program := harness.Program(t, "programs/observer")
	without, _ := record(t, nil, program)
	with, folder := record(t, []string{"--log"}, program)
	if with.Output != without.Output || with.Ending() != without.Ending() {
		t.Errorf("with a log: %s, %q\nwithout: %s, %q", with.Ending(), with.Output, without.Ending(), without.Output)
	}
	if len(readAll(t, folder)) == 0 {
		t.Error("no events")
	}
}

// slot mirrors struct Slot of test/programs/victim.c.
type slot struct {
	Allocations, Frees, Pid uint64
	Unused                  [5]uint64
}

func readSlots(t *testing.T, page string) (slots []slot) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	slots = make([]slot, len(b)/binary.Size(slot{}))
	if _, err := binary.Decode(b, binary.LittleEndian, slots); err != nil {
		t.Fatal(err)
	}
	return slots
}

// A process that is killed has in its log every call that had returned, and at most one more of each thread.
//
// MALLOW_KILLS sets their number (default 24).
func TestKill(t *testing.T) {
	kills := uint64(24)
	if text := os.Getenv("MALLOW_KILLS"); text != "" {
		var err error
		if kills, err = strconv.ParseUint(text, 10, 32); err != nil {
			t.Fatalf("MALLOW_KILLS=%q is no number of kills", text)
		}
	}
	for round := range kills {
		threads := []int{1, 4}[round%2]
		random := rand.New(rand.NewPCG(round, 2))
		folder := harness.TempDir(t)
		page, run := filepath.Join(folder, "page"), filepath.Join(folder, "run.mallow")
		if err := os.WriteFile(page, make([]byte, threads*binary.Size(slot{})), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(run, 0o700); err != nil {
			t.Fatal(err)
		}
		settings := harness.PreloadSettings(t, run)
		settings[1] += ":log=64M"
		program := harness.Start(t, harness.Command{
			Arguments: []string{harness.Program(t, "programs/victim"), page, "0", strconv.Itoa(threads), "none", "1", fmt.Sprint(round + 1)},
			Settings:  settings,
		})
		for deadline := time.Now().Add(harness.Patience); readSlots(t, page)[0].Allocations == 0 && time.Now().Before(deadline) && !program.Ended(); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(random.Int64N(int64(30 * time.Millisecond))))
		program.Stop(t, syscall.SIGKILL)
		checkKilled(t, fmt.Sprintf("round %d, %d threads", round, threads), run, readSlots(t, page))
	}
}

func checkKilled(t *testing.T, label, folder string, slots []slot) {
	t.Helper()
	var returned uint64
	for _, slot := range slots {
		returned += slot.Allocations + slot.Frees
	}
	rec, l := openLog(t, folder)
	var calls uint64
	var e eventlog.Event
	for l.Next(&e) {
		im := rec.Images[0]
		node := e.Caller
		if e.Kind == eventlog.Birth || e.Kind == eventlog.Move {
			tail, _ := im.Node(im.StackNode(e.Stack))
			node = tail.Parent
		}
		n, _ := im.Node(node)
		if m := im.Module(n.Extra); m != nil && m.Kind == recording.ModuleExecutable {
			calls++
		}
	}
	if calls < returned || calls > returned+uint64(len(slots)) {
		t.Errorf("%s: %d calls in the log, %d had returned", label, calls, returned)
	}
}

// What a filter lets through is what it says.
func TestFilters(t *testing.T) {
	_, folder := record(t, []string{"--log"}, harness.Program(t, "programs/logged_cxx"), "turns", "2", "100")
	count := func(flags ...string) int { return strings.Count(mallowLog(t, append(flags, folder)...), "logged.cc:") }
	all := mallowLog(t, folder)
	thread := regexp.MustCompile(`malloc\(1\) = .*\[(\d+)\]`).FindStringSubmatch(all)
	if thread == nil {
		t.Fatalf("no second thread in\n%s", all)
	}
	for _, test := range []struct {
		flags []string
		want  int
	}{
		{nil, 200},
		{[]string{"--site", "TakeTurns"}, 200},
		{[]string{"--site", "^logged.cc:"}, 200},
		{[]string{"--site", "nothing"}, 0},
		{[]string{"--size", "10..19", "--site", "TakeTurns"}, 10},
		{[]string{"--size", "90..", "--site", "TakeTurns"}, 10},
		{[]string{"--size", "..4"}, 5},
		{[]string{"--size", "50", "--site", "TakeTurns"}, 1},
		{[]string{"--thread", thread[1]}, 100},
		{[]string{"--from", "1000"}, 0},
		{[]string{"--to", "0.0000001"}, 0},
		{[]string{"--to", "1000"}, 200},
	} {
		if got := count(test.flags...); got != test.want {
			t.Errorf("%q: %d lines, want %d", test.flags, got, test.want)
		}
	}
}
