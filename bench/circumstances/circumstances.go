// Package circumstances says on what machine, when and of what state figures
// were measured: every figure stands with them.
package circumstances

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Heading lists them, the command that repeats the measurement last, as lines
// of a Markdown list. folder is one of the repository.
func Heading(folder, command string) string {
	return fmt.Sprintf("- machine: %s\n- load at start: %s\n- date: %s\n- commit: %s\n- command: `%s`\n",
		Machine(), firstFields("/proc/loadavg", 3), time.Now().UTC().Format(time.DateOnly), Commit(folder), command)
}

// Machine names the processor, its cores, the memory, the kernel and the system.
func Machine() string {
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, %s", field("/proc/cpuinfo", "model name"), runtime.NumCPU(),
		field("/proc/meminfo", "MemTotal"), firstFields("/proc/sys/kernel/osrelease", 1), field("/etc/os-release", "PRETTY_NAME"))
}

// Commit names the state of the repository that a folder belongs to.
func Commit(folder string) string {
	output, err := exec.Command("git", "-C", folder, "-c", "safe.directory=*", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(output))
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
