package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// What the libraries cost at rest, at most: some 10 % above what docs/manual/install.md states, in bytes.
var atMost = []struct {
	library string
	loaded  int // text and data in the file, as `size` counts them
	// Memory of the process's own at the start of main, what the C library takes there included. The kernel hands it out in
	// pieces whose size depends on what memory is free: 50 kB more were seen on a machine that had been busy.
	private int
}{
	{"libmallow.so", 407_000, 460_000},
	{"libmallow_minimal.so", 195_000, 410_000},
}

// For comparison, where it is installed: libtcmalloc-minimal4.
const gperftools = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"

func TestSize(t *testing.T) {
	program := compiled(t, "start.c")
	resident, private := atStart(t, program)
	t.Logf("libc's malloc: %d B resident, of that %d B private", resident, private)
	if _, err := os.Stat(gperftools); err == nil {
		resident, private := atStart(t, program, "LD_PRELOAD="+gperftools)
		t.Logf("gperftools: %d B of text and data, %d B resident, of that %d B private", textAndData(t, gperftools), resident, private)
	}
	for _, most := range atMost {
		library := filepath.Join(preloadable(t), most.library)
		loaded := textAndData(t, library)
		resident, private := atStart(t, program, "LD_PRELOAD="+library)
		t.Logf("%s: %d B of text and data, %d B resident, of that %d B private", most.library, loaded, resident, private)
		if loaded > most.loaded || private > most.private {
			t.Errorf("%s has %d B of text and data and %d B of private memory, more than %d B and %d B: "+
				"if that is worth it, raise these bounds, and the figures in docs/manual/install.md",
				most.library, loaded, private, most.loaded, most.private)
		}
	}
}

func textAndData(t *testing.T, library string) int {
	t.Helper()
	output := must(t, harness.Command{Arguments: []string{tool(t, "size", "binutils"), library}})
	_, row, _ := strings.Cut(output, "\n")
	sum := 0
	for _, field := range strings.Fields(row)[:2] {
		bytes, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("size printed %q", output)
		}
		sum += bytes
	}
	return sum
}

// atStart is the least of some runs: where the stack begins is random, and sometimes on one page more.
func atStart(t *testing.T, program string, settings ...string) (resident, private int) {
	t.Helper()
	for range 5 {
		var r, p int
		output := must(t, harness.Command{Arguments: []string{program}, Settings: settings})
		if _, err := fmt.Sscan(output, &r, &p); err != nil {
			t.Fatalf("%q: %v", output, err)
		}
		if private == 0 || p < private {
			resident, private = r, p
		}
	}
	return resident, private
}
