// Package imports holds what `mallow import` makes of other tools' files against what those tools say of them.
package imports

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// imported imports a file and returns the recording.
func imported(t *testing.T, file string) string {
	t.Helper()
	recording := filepath.Join(t.TempDir(), "imported.mallow")
	result := harness.Run(t, harness.Command{Arguments: []string{harness.CLI(t), "import", "-o", recording, file}})
	if result.Status != 0 {
		t.Fatalf("import %s: %s", file, result.Errors)
	}
	return recording
}

// report returns a report in a form.
func report(t *testing.T, recording string, flags ...string) string {
	t.Helper()
	result := harness.Run(t, harness.Command{Arguments: append(append([]string{harness.CLI(t), "report"}, flags...), recording)})
	if result.Status != 0 {
		t.Fatalf("report %q: %s", flags, result.Errors)
	}
	return result.Output
}

// script is curl's memanalyze of a version; "" where its sources are not. The variable names a folder with the
// sources of curl 8.21 and, if they are to be compared with, those of 7.53.1: curl-8.21/tests/memanalyze.pl.
func script(t *testing.T, version string) string {
	t.Helper()
	folder := os.Getenv("MALLOW_CURL_SOURCES")
	if folder == "" {
		t.Skip("MALLOW_CURL_SOURCES names no folder with curl's sources")
	}
	path := filepath.Join(folder, "curl-"+version, "tests", "memanalyze.pl")
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	return path
}

// randomLog writes a log as curl does, with damage, with errors of the program, and with lines of other years.
func randomLog(seed uint64, lines int) []byte {
	random := rand.New(rand.NewPCG(seed, 7))
	var b bytes.Buffer
	address := func() string { return fmt.Sprintf("0x%x", 0x55550000+16*random.IntN(60)) }
	place := func() string {
		return fmt.Sprintf("%s.c:%d", []string{"url", "multi", "lib/x y", "a:b", "../src/tool"}[random.IntN(5)], random.IntN(40))
	}
	size := func() int { return []int{0, 1, 16, 100, 40000}[random.IntN(5)] + random.IntN(3) }
	for range lines {
		var line string
		switch random.IntN(34) {
		case 0, 1, 2, 3, 4, 5:
			line = fmt.Sprintf("MEM %s malloc(%d) = %s", place(), size(), address())
		case 6, 7:
			line = fmt.Sprintf("MEM %s calloc(%d,%d) = %s", place(), random.IntN(4), size(), address())
		case 8, 9:
			line = fmt.Sprintf("MEM %s realloc(%s, %d) = %s", place(), address(), size(), address())
		case 10:
			line = fmt.Sprintf("MEM %s realloc((nil), %d) = %s", place(), size(), address())
		case 11, 12:
			line = fmt.Sprintf("MEM %s strdup(%s) (%d) = %s", place(), address(), size(), address())
		case 13:
			line = fmt.Sprintf("MEM %s wcsdup(%s) (%d) = %s", place(), address(), size(), address())
		case 14, 15, 16, 17, 18, 19:
			line = fmt.Sprintf("MEM %s free(%s)", place(), address())
		case 20:
			line = fmt.Sprintf("MEM %s free((nil))", place())
		case 21:
			line = fmt.Sprintf("MEM %s malloc(%d) = (nil)", place(), size())
		case 22:
			line = fmt.Sprintf("FD %s socket() = %d", place(), 3+random.IntN(5))
		case 23:
			line = fmt.Sprintf("FD %s socketpair() = %d %d", place(), 3+random.IntN(5), 3+random.IntN(5))
		case 24:
			line = fmt.Sprintf("FD %s accept() = %d", place(), 3+random.IntN(5))
		case 25:
			line = fmt.Sprintf("FD %s sclose(%d)", place(), 3+random.IntN(5))
		case 26:
			line = fmt.Sprintf(`FILE %s fopen("a","%s") = 0x%x`, place(), []string{"rb", "w"}[random.IntN(2)], random.IntN(4))
		case 27:
			line = fmt.Sprintf(`FILE %s %s`, place(), []string{`fdopen("3","w") = 0x2`, `fopen("x","r") = (nil)`, `freopen("a","b",0x1) = 0x1`}[random.IntN(3)])
		case 28:
			line = fmt.Sprintf("FILE %s fclose(0x%x)", place(), random.IntN(4))
		case 29:
			line = fmt.Sprintf("ADDR %s %s", place(), []string{"getaddrinfo() = 0x7", "getaddrinfo() failed", "getaddrinfo() = 0x8"}[random.IntN(3)])
		case 30:
			line = fmt.Sprintf("ADDR %s freeaddrinfo(0x%x)", place(), 7+random.IntN(2))
		case 31:
			line = fmt.Sprintf("LIMIT %s %s reached memlimit", place(), []string{"malloc", "socket", "strdup"}[random.IntN(3)])
		case 32:
			line = fmt.Sprintf("%s %s getnameinfo()", []string{"GETNAME", "SEND", "RECV", "BT", "XY"}[random.IntN(5)], place())
		case 33:
			line = []string{"", "BTnothing", "compile with -g", "MEM ", "MEM x.c:1 ", "MEM x.c:1", "MEM x.c:y free(0x1)", "\x1b[2J\xff"}[random.IntN(8)]
		}
		if random.IntN(50) == 0 && len(line) > 0 {
			line = line[:random.IntN(len(line))] // cut
		}
		// An address without digits is the script's NULL of 2017, and another address today: not worth two analyses.
		line = strings.TrimSuffix(line, "0x")
		if random.IntN(80) == 0 {
			line += "MEM y.c:1 free(0x55550000)" // interleaved
		}
		b.WriteString(line)
		if random.IntN(200) > 0 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// memanalyze's lines come in the order of the log, but for those of what is left at the end, which come in none.
func splitFindings(output string) (ordered string, set string) {
	var inOrder, left []string
	leaks := false
	for line := range strings.Lines(output) {
		leaks = leaks || strings.HasPrefix(line, "Leak detected") || strings.HasPrefix(line, "Open ") || strings.HasPrefix(line, "IPv6-style")
		if leaks && !strings.HasPrefix(line, "Mallocs: ") {
			left = append(left, line)
			continue
		}
		leaks = false
		inOrder = append(inOrder, line)
	}
	return strings.Join(inOrder, ""), harness.SortedLines(strings.Join(left, ""))
}

func TestMemanalyze(t *testing.T) {
	for version, format := range map[string]string{"8.21": "memanalyze", "7.53.1": "memanalyze-2017"} {
		t.Run(version, func(t *testing.T) {
			memanalyze := script(t, version)
			for seed := range uint64(12) {
				log := filepath.Join(t.TempDir(), "log")
				if err := os.WriteFile(log, randomLog(seed, 30+200*int(seed)), 0o600); err != nil {
					t.Fatal(err)
				}
				command := exec.Command("perl", "-I"+filepath.Dir(memanalyze), memanalyze, "-v", log)
				output, err := command.Output()
				if err != nil {
					t.Fatal(err)
				}
				wantOrdered, wantSet := splitFindings(string(output))
				gotOrdered, gotSet := splitFindings(report(t, imported(t, log), "--format", format))
				compareLines(t, seed, gotOrdered, wantOrdered)
				compareLines(t, seed, gotSet, wantSet)
			}
		})
	}
}

func compareLines(t *testing.T, seed uint64, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			t.Fatalf("seed %d, line %d of what is said: %q, not %q", seed, i, a[i], append(b, "", "")[min(i, len(b))])
		}
	}
	t.Fatalf("seed %d: lacks %q", seed, b[len(a):])
}
