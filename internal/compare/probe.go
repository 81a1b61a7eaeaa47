package compare

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The dynamic linker itself says which library's malloc each object of a
// process was bound to, for all processes of a tree: lines
//
//	binding file FILE [0] to PROVIDER [0]: normal symbol `malloc' [VERSION]
//
// in a file of each process. It is asked in a run that is not timed.

// probeSettings make the dynamic linker write below folder.
func probeSettings(folder string) []string {
	return []string{"LD_DEBUG=bindings", "LD_DEBUG_OUTPUT=" + filepath.Join(folder, "bound")}
}

// bound is which mallocs the processes of a run had.
type bound struct {
	first     []string   // of the command's own process; nil where the linker said nothing of it
	processes [][]string // of each that the linker spoke of, the first included
}

// readProbe reads what the linker wrote below folder; first is the number of
// the command's own process.
func readProbe(folder string, first int) (bound, error) {
	files, err := filepath.Glob(filepath.Join(folder, "bound.*"))
	if err != nil {
		return bound{}, err
	}
	var b bound
	for _, path := range files {
		providers, err := readBindings(path)
		if err != nil {
			return bound{}, err
		}
		b.processes = append(b.processes, providers)
		if strings.HasSuffix(path, "."+strconv.Itoa(first)) {
			b.first = providers
		}
	}
	return b, nil
}

// readBindings returns the files whose malloc a process was bound to. What is
// bound to an executable that is itself bound to a library ends there.
func readBindings(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	targets := make(map[string]string)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if from, to, ok := parseBinding(lines.Text()); ok {
			targets[from] = to
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("what the dynamic linker says of its bindings: %w", err)
	}
	var providers []string
	seen := make(map[string]bool)
	for _, to := range targets {
		if next, forwards := targets[to]; forwards && next != to {
			continue
		}
		if real, err := filepath.EvalSymlinks(to); err == nil {
			to = real
		}
		if !seen[to] {
			seen[to] = true
			providers = append(providers, to)
		}
	}
	return providers, nil
}

// parseBinding reads a line that binds malloc.
func parseBinding(line string) (from, to string, ok bool) {
	rest, isMalloc := cutAround(line, "binding file ", ": normal symbol `malloc'")
	if !isMalloc {
		return "", "", false
	}
	from, to, ok = strings.Cut(rest, " to ")
	return withoutNamespace(from), withoutNamespace(to), ok
}

func cutAround(s, before, after string) (string, bool) {
	_, s, found := strings.Cut(s, before)
	if !found {
		return "", false
	}
	i := strings.LastIndex(s, after)
	if i < 0 {
		return "", false
	}
	return s[:i], true
}

// withoutNamespace takes " [0]" off.
func withoutNamespace(name string) string {
	if i := strings.LastIndex(name, " ["); i >= 0 {
		return name[:i]
	}
	return name
}
