package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// heading says on what, when, of what and by what command the figures below it were measured.
func heading(commit string, rounds int) string {
	return fmt.Sprintf("- machine: %s\n- load at start: %s\n- date: %s\n- commit: %s\n- command: `%s`\n- method: %d interleaved rounds in random order, medians; "+
		"ratios are of medians, in brackets the 95 %% interval by the bootstrap; CPU is user and system time of the whole process tree, RSS that of its largest process, at the least some 7 MB, which is what a process of the runner begins with\n",
		machine(), firstFields("/proc/loadavg", 3), time.Now().UTC().Format("2006-01-02"), commit, benchCommand(), rounds)
}

func benchCommand() string {
	if len(os.Args) < 2 {
		return "make bench"
	}
	return "make && bench/run " + strings.Join(os.Args[1:], " ")
}

func machine() string {
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, %s", field("/proc/cpuinfo", "model name"), runtime.NumCPU(),
		field("/proc/meminfo", "MemTotal"), firstFields("/proc/sys/kernel/osrelease", 1), field("/etc/os-release", "PRETTY_NAME"))
}

// field returns what stands behind the first `name :` or `name=` of a file.
func field(path, name string) string {
	content, _ := os.ReadFile(path)
	for line := range strings.Lines(string(content)) {
		if rest, found := strings.CutPrefix(line, name); found {
			return strings.Trim(strings.TrimLeft(strings.TrimSpace(rest), ":= \t"), `"`)
		}
	}
	return "unknown"
}

func firstFields(path string, count int) string {
	content, _ := os.ReadFile(path)
	fields := strings.Fields(string(content))
	return strings.Join(fields[:min(count, len(fields))], " ")
}

func commit() string {
	output, err := exec.Command("git", "-c", "safe.directory=*", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(output))
}
