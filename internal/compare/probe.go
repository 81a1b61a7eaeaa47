package compare

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The dynamic linker itself says which library's malloc each object of a
// process was bound to, for all processes of a tree: lines
//
//	binding file FILE [0] to PROVIDER [0]: normal symbol `malloc' [VERSION]
//
// in a file of each process, and in others which programs these execute. It is
// asked in a run that is not timed.

// probeSettings make the dynamic linker write below folder.
func probeSettings(folder string) []string {
	return []string{"LD_DEBUG=bindings,files", "LD_DEBUG_OUTPUT=" + filepath.Join(folder, "bound")}
}

// bound is which mallocs the programs of a run had.
type bound struct {
	first    [][]string // of those that the command's own process executed, in order; nil where the linker said nothing of it
	programs [][]string // of each that the linker spoke of, those included
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
		programs, err := readBindings(path)
		if err != nil {
			return bound{}, err
		}
		b.programs = append(b.programs, programs...)
		if strings.HasSuffix(path, "."+strconv.Itoa(first)) {
			b.first = programs
		}
	}
	return b, nil
}

// binding is of an object to the one whose malloc it was given.
type binding struct{ from, to string }

// readBindings returns the files whose malloc a process was bound to, for each
// program that it executed. That another one begins shows where an object is
// bound anew, to another malloc; with the same malloc it does not matter.
func readBindings(path string) (programs [][]string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var bindings []binding
	executed := make(map[string]bool)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if b, ok := parseBinding(lines.Text()); ok {
			bindings = append(bindings, b)
		} else if _, program, ok := strings.Cut(lines.Text(), "\tinitialize program: "); ok {
			executed[program] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("what the dynamic linker says of its bindings: %w", err)
	}
	// At a fixed address a program has a place in itself that stands for a
	// function of a library. What is bound to that, beside its calls to the
	// library itself too, ends where the program does.
	passesOn := make(map[string]bool)
	for _, b := range bindings {
		if b.from != b.to && executed[withoutNamespace(b.from)] {
			passesOn[b.from] = true
		}
	}
	targets := make(map[string]string)
	for _, b := range bindings {
		if passesOn[b.to] {
			continue
		}
		if before, known := targets[b.from]; known && before != b.to {
			programs = append(programs, providersOf(targets))
			clear(targets)
		}
		targets[b.from] = b.to
	}
	if providers := providersOf(targets); len(providers) > 0 {
		programs = append(programs, providers)
	}
	return programs, nil
}

// providersOf are the files in which bindings end.
func providersOf(targets map[string]string) (providers []string) {
	for _, to := range targets {
		to = withoutNamespace(to)
		if real, err := filepath.EvalSymlinks(to); err == nil {
			to = real
		}
		if !slices.Contains(providers, to) {
			providers = append(providers, to)
		}
	}
	return providers
}

// parseBinding reads a line that binds malloc: files with their namespaces.
func parseBinding(line string) (b binding, ok bool) {
	rest, isMalloc := cutAround(line, "binding file ", ": normal symbol `malloc'")
	if !isMalloc {
		return binding{}, false
	}
	b.from, b.to, ok = strings.Cut(rest, " to ")
	return b, ok
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
