package internals

import (
	"debug/elf"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// account is the kernel's of a process that has only just started.
type account struct {
	resident, anonymous int64
	structures          int64 // what libmallow says of its own, without static data
}

var accountLine = regexp.MustCompile(`(?m)^(Rss|Anonymous|Structures): +(\d+) kB$`)

// start runs start_memory on a malloc; "" is that of libc.
func start(t *testing.T, library, arguments string) account {
	t.Helper()
	command := harness.Command{Arguments: append([]string{harness.Program(t, "programs/start_memory")}, strings.Fields(arguments)...)}
	if library != "" {
		command.Settings = []string{"LD_PRELOAD=" + library}
	}
	run := harness.Run(t, command)
	if run.Status != 0 {
		t.Fatalf("start_memory %s ended with %s", arguments, run.Ending())
	}
	var a account
	for _, m := range accountLine.FindAllStringSubmatch(run.Output, -1) {
		kilobytes, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		switch m[1] {
		case "Rss":
			a.resident = kilobytes << 10
		case "Anonymous":
			a.anonymous = kilobytes << 10
		case "Structures":
			a.structures = kilobytes << 10
		}
	}
	if a.resident == 0 || a.anonymous == 0 {
		t.Fatalf("the kernel's account is incomplete:\n%s", run.Output)
	}
	return a
}

// median of three runs: the place of the stack and of the libraries differs by a page or two.
func median(t *testing.T, library, arguments string, of func(account) int64) int64 {
	t.Helper()
	a, b, c := of(start(t, library, arguments)), of(start(t, library, arguments)), of(start(t, library, arguments))
	return max(min(a, b), min(max(a, b), c))
}

// TestStartUpMemory: what libmallow takes at the start of a process stays below what the page says. Memory of its own
// is the private memory that a process with libmallow has and one that never allocates on libc has not, so the
// pages of the blocks themselves are in it.
func TestStartUpMemory(t *testing.T) {
	library := harness.Library(t)
	anonymous := func(a account) int64 { return a.anonymous }
	alone := median(t, "", "0 1 1", anonymous)
	measured := map[string]int64{
		"nothing":     median(t, library, "0 1 1", anonymous) - alone,
		"one block":   median(t, library, "1 16 16", anonymous) - alone,
		"every power": median(t, library, "1 16 262144", anonymous) - alone,
		"structures":  median(t, library, "1 16 262144", func(a account) int64 { return a.structures }),
		"resident":    median(t, library, "0 1 1", func(a account) int64 { return a.resident }),
	}
	if own := measured["structures"]; own == 0 || own > measured["every power"] {
		t.Errorf("libmallow says that its structures hold %d KiB, the kernel %d", own>>10, measured["every power"]>>10)
	}
	for _, bound := range bounds(t, "start") {
		bytes, known := measured[bound.origin]
		t.Logf("%s: %d KiB, at most %s", bound.origin, bytes>>10, bound.text)
		if !known {
			t.Errorf("%s: nothing measures %q", bound.place, bound.origin)
		} else if float64(bytes) > bound.value {
			t.Errorf("%s says at most %s at the start (%s), but it is %d KiB", bound.place, bound.text, bound.origin, bytes>>10)
		}
	}
}

// TestCodeSegment: the page says how much of the library's code comes into the memory of every process.
func TestCodeSegment(t *testing.T) {
	library, err := elf.Open(harness.Library(t))
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	symbols, err := library.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	malloc := symbols[slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "malloc" })].Value
	for _, segment := range library.Progs {
		if segment.Type != elf.PT_LOAD || malloc-segment.Vaddr >= segment.Memsz {
			continue
		}
		const page = 4096
		bytes := (segment.Memsz + page - 1) / page * page
		for _, n := range bounds(t, "code") {
			if float64(bytes) != n.value {
				t.Errorf("%s says %s, and the segment with malloc takes %d bytes", n.place, n.text, bytes)
			}
		}
		return
	}
	t.Fatal("malloc is in no segment")
}
