package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mallow/bench/circumstances"
	"mallow/test/harness"
)

// rounds is a program with about so many seconds of CPU time, of its own and for malloc.
func rounds(t *testing.T, program string, seconds float64) int {
	t.Helper()
	const probe = 200_000
	c := compared(t, "--no-record", "--rounds", "5", "--vs", program+" 1 1", "--ignore-output", "--", program, fmt.Sprint(probe), fmt.Sprint(20*probe))
	return int(probe * seconds / *c.Rows[0].CPU.Median)
}

// working is the program with so many rounds of work.
func working(program string, n float64) string {
	return fmt.Sprintf("%s %.0f %.0f", program, n, 20*n)
}

// outcome is what one comparison said.
type outcome struct {
	verdict    string
	rounds     int
	low, value float64
	high       float64
}

func compareOnce(t *testing.T, command, versus string) outcome {
	t.Helper()
	arguments := append([]string{"--json", "--no-record", "--limit", "1h", "--vs", versus, "--"}, strings.Fields(command)...)
	result := harness.Run(t, harness.Command{
		Arguments: append([]string{harness.CLI(t), "compare"}, arguments...), Directory: harness.TempDir(t), Timeout: time.Hour,
	})
	c := parsed(t, result)
	r := c.Rows[1].Ratio
	o := outcome{verdict: r.Verdict, rounds: c.Rows[1].Rounds, value: *r.CPU}
	if r.Low != nil {
		o.low, o.high = *r.Low, *r.High
	}
	return o
}

// TestProof is of the statistics with real programs on a real machine: it takes ten minutes, and writes what came out
// to the file that MALLOW_COMPARE_PROOF names.
func TestProof(t *testing.T) {
	file := os.Getenv("MALLOW_COMPARE_PROOF")
	if file == "" {
		t.Skip("MALLOW_COMPARE_PROOF names no file for the result")
	}
	program := compile(t, allocating, "-pthread")
	var said strings.Builder
	fmt.Fprintf(&said, "# What compare says of equal and of different commands\n\n%s\n", circumstances.Heading(harness.Root(), "make prove-compare"))

	equal := []string{
		working(program, float64(rounds(t, program, 0.005))),
		script(t, "#!/usr/bin/perl\nmy %h; $h{$_ % 997} .= $_ for 1 .. 2000; print scalar(keys %h), \"\\n\";\n"),
		script(t, "#!/bin/sh\nexec /usr/bin/sqlite3 :memory: 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<2000) SELECT count(DISTINCT x%97) FROM c'\n"),
		"/usr/bin/sort --parallel=2 " + numbers(t),
	}
	names := []string{"a loop of malloc and free, and of its own", "perl, a hash", "sqlite3, a recursive query", "sort with two threads"}
	fmt.Fprintf(&said, "## A program with itself\n\n| program | comparisons | \"no difference shown\" | faster or slower |\n|---|---|---|---|\n")
	total, alarms := 0, 0
	for i, command := range equal {
		wrong := 0
		for range 25 {
			if o := compareOnce(t, command, command); o.verdict != "no difference shown" {
				wrong++
				t.Logf("%s: %+v", names[i], o)
			}
		}
		fmt.Fprintf(&said, "| %s | 25 | %d | %d |\n", names[i], 25-wrong, wrong)
		t.Logf("%s: %d of 25 show a difference", names[i], wrong)
		total, alarms = total+25, alarms+wrong
	}
	fmt.Fprintf(&said, "| all | %d | %d | %d |\n\n", total, total-alarms, alarms)
	if alarms > 5 {
		t.Errorf("%d of %d comparisons of a program with itself show a difference", alarms, total)
	}

	n := float64(rounds(t, program, 2))
	fmt.Fprintf(&said, "## 3 %% more CPU time in a program of two seconds\n\n| comparison | verdict | after rounds | ratio | interval |\n|---|---|---|---|---|\n")
	for i := range 3 {
		o := compareOnce(t, working(program, n), working(program, 1.03*n))
		fmt.Fprintf(&said, "| %d | %s | %d | %.3f | %.3f to %.3f |\n", i+1, o.verdict, o.rounds, o.value, o.low, o.high)
		t.Logf("3 %% more: %+v", o)
		if o.verdict != "slower" {
			t.Errorf("3 %% are not found: %+v", o)
		}
	}
	if err := os.WriteFile(file, []byte(said.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(harness.TempDir(t), "script")
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers is a file to sort.
func numbers(t *testing.T) string {
	t.Helper()
	path := filepath.Join(harness.TempDir(t), "numbers")
	var content strings.Builder
	for i := range 5_000 {
		fmt.Fprintln(&content, i*7919%20_011)
	}
	if err := os.WriteFile(path, []byte(content.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
