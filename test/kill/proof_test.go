package kill

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"mallow/bench/circumstances"
	"mallow/test/harness"
)

// ending is what one ending showed.
type ending struct {
	returned uint64 // calls before it
	lost     uint64 // of them, not recorded
	inFlight int64  // recorded, and not known to have returned
}

// tally sums up the endings of one kind.
type tally struct {
	name     string
	killed   bool // by kill -9
	endings  int
	idle     int // endings before the first call returned
	returned uint64
	lost     uint64
	inFlight int64 // the most at one ending
}

var tallies []tally

func (s *tally) add(e ending) {
	s.endings++
	if e.returned == 0 {
		s.idle++
	}
	s.returned += e.returned
	s.lost += e.lost
	s.inFlight = max(s.inFlight, e.inFlight)
}

func (s *tally) publish() { tallies = append(tallies, *s) }

// kinds is how many kinds of kill -9 there are.
func kinds() int {
	n := len(subjects)
	for _, v := range variants {
		if v.isKilled() {
			n++
		}
	}
	return n
}

// rounds is how often each kind of ending is tried.
func rounds(t *testing.T) int {
	t.Helper()
	kills := 120
	if text := os.Getenv("MALLOW_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil || kills < 1 {
			t.Fatalf("MALLOW_KILLS=%q is no number of kills", text)
		}
	}
	return (kills + kinds() - 1) / kinds()
}

func TestMain(m *testing.M) {
	heading := circumstances.Heading(harness.Root(), "make prove-kills")
	status := m.Run()
	if file := os.Getenv("MALLOW_KILL_PROOF"); file != "" {
		if err := os.WriteFile(file, []byte(proof(heading, status)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	os.Exit(status)
}

func proof(heading string, status int) string {
	var rows strings.Builder
	var killed, other tally
	for _, s := range tallies {
		sum, how := &other, "itself, or SIGTERM"
		if s.killed {
			sum, how = &killed, "kill -9"
		}
		sum.endings += s.endings
		sum.idle += s.idle
		sum.returned += s.returned
		sum.lost += s.lost
		fmt.Fprintf(&rows, "| %s | %s | %d | %d | %d | %d | %d |\n", s.name, how, s.endings, s.idle, s.returned, s.lost, s.inFlight)
	}
	fmt.Fprintf(&rows, "| **all** | **kill -9** | **%d** | **%d** | **%d** | **%d** | |\n", killed.endings, killed.idle, killed.returned, killed.lost)
	fmt.Fprintf(&rows, "| **all** | **other ways** | **%d** | **%d** | **%d** | **%d** | |\n", other.endings, other.idle, other.returned, other.lost)
	return fmt.Sprintf(`# Calls lost when a recorded program ends at a random moment

%s- result: %s

A call has returned when the program itself, or a preload between it and the malloc (the last rows), has written so into a
shared file. Lost are those that had returned and are not in the recording. In flight are those that are recorded and not
known to have returned: at most one of each thread, in the trees as many as there were processes.

| what ends | how | endings | of them before the first call | calls returned | lost | most in flight |
|---|---|---|---|---|---|---|
%s`, heading, map[bool]string{true: "passed", false: "failed"}[status == 0], rows.String())
}
