package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// workload is a program and its work, the same at every run.
type workload struct {
	name     string
	command  []string
	settings []string // added to the environment
	input    string   // path of standard input, empty for none
	modes    []mode
	note     string // why a mode is left out
}

// mode is what a workload runs under.
type mode string

const (
	glibc     mode = "glibc"
	library   mode = "libmallow"
	recorded  mode = "libmallow, recorded"
	explained mode = "mallow record, with its report"
	heaptrack mode = "heaptrack, without a report"
)

var (
	allModes       = []mode{glibc, library, recorded, explained, heaptrack}
	allocatorModes = []mode{glibc, library}
)

// prepare writes inputs and builds programs into `folder`. `scale` divides the work, for trying the runner out.
func prepare(folder string, scale int) (recording, allocator []workload, err error) {
	sources := filepath.Join("bench", "workloads")
	programs := map[string]string{}
	for _, name := range []string{"paths", "pairs", "ramp", "handover"} {
		programs[name] = filepath.Join(folder, name)
		if err := run("g++", "-O2", "-g", "-std=c++20", "-fno-builtin", "-pthread", "-o", programs[name], filepath.Join(sources, name+".cc")); err != nil {
			return nil, nil, err
		}
	}
	sql := filepath.Join(folder, "inserts.sql")
	if err := writeSQL(sql, scale); err != nil {
		return nil, nil, err
	}
	preprocessed := filepath.Join(folder, "tmpl.ii")
	if err := run("g++", "-std=c++17", "-E", "-o", preprocessed, filepath.Join(sources, "tmpl.cc")); err != nil {
		return nil, nil, err
	}
	compiler, err := exec.Command("g++", "-print-prog-name=cc1plus").Output()
	if err != nil {
		return nil, nil, err
	}
	documents, err := filepath.Abs(filepath.Join(sources, "documents.py"))
	if err != nil {
		return nil, nil, err
	}
	pairs := func(count int) string { return strconv.Itoa(count / scale) }

	sqlite := workload{name: "sqlite3", command: []string{"/usr/bin/sqlite3", ":memory:"}, input: sql}
	python := workload{name: "python3", command: []string{"/usr/bin/python3", documents},
		settings: []string{"PYTHONMALLOC=malloc", "PYTHONHASHSEED=0"}}
	cc1plus := workload{name: "cc1plus", command: []string{strings.TrimSpace(string(compiler)), "-fpreprocessed", preprocessed,
		"-quiet", "-O1", "-std=c++17", "-o", "/dev/null"}}

	for _, real := range []workload{sqlite, python} {
		recording = append(recording, real.under(allModes))
		allocator = append(allocator, real.under(allocatorModes))
	}
	withoutPeer := cc1plus.under([]mode{glibc, library, recorded, explained})
	withoutPeer.note = "heaptrack is left out of cc1plus: the interpreter of Debian's 1.4.0 takes minutes and most of the memory there"
	recording = append(recording, withoutPeer)
	allocator = append(allocator, cc1plus.under(allocatorModes))
	for _, threads := range []int{1, 4} {
		recording = append(recording, workload{name: fmt.Sprintf("50 call paths, %d thread(s), 2 M pairs", threads),
			command: []string{programs["paths"], pairs(2000000), strconv.Itoa(threads)}, modes: allModes})
	}
	for _, threads := range []int{1, 2, 4} {
		for _, most := range []int{64, 512, 4096, 32768, 131072} {
			allocator = append(allocator, workload{name: fmt.Sprintf("pairs up to %d B, %d thread(s)", most, threads),
				command: []string{programs["pairs"], pairs(pairsFor(most)), strconv.Itoa(most), strconv.Itoa(threads)}, modes: allocatorModes})
		}
	}
	for _, exact := range []int{16, 48, 1024, 8192, 300000} {
		allocator = append(allocator, workload{name: fmt.Sprintf("pairs of %d B, 1 thread", exact),
			command: []string{programs["pairs"], pairs(pairsFor(exact)), strconv.Itoa(exact), "1", "exact"}, modes: allocatorModes})
	}
	allocator = append(allocator,
		workload{name: "ramp of 500,000 blocks, 5 times", command: []string{programs["ramp"], pairs(500000), "5"}, modes: allocatorModes},
		workload{name: "handed over, 5 M blocks", command: []string{programs["handover"], pairs(5000000)}, modes: allocatorModes})
	return recording, allocator, nil
}

func (w workload) under(modes []mode) workload {
	w.modes = modes
	return w
}

// pairsFor is a number of pairs that takes some tenths of a second.
func pairsFor(bytes int) int {
	if bytes > 100000 {
		return 4000000
	}
	return 20000000
}

func run(name string, arguments ...string) error {
	if output, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return nil
}

// writeSQL writes 220,000 inserts with an index, 20,000 selects and four group-bys.
func writeSQL(path string, scale int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	sql := bufio.NewWriter(file)
	random := rand.New(rand.NewSource(7))
	fmt.Fprintln(sql, "PRAGMA cache_size=-200000; PRAGMA temp_store=2;")
	fmt.Fprintln(sql, "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, v REAL);\nCREATE INDEX ti ON t(k);\nBEGIN;")
	for i := range 220000 / scale {
		fmt.Fprintf(sql, "INSERT INTO t VALUES(%d,%d,'name%x',%f);\n", i, random.Intn(5000), random.Int63n(1<<40), random.Float64())
	}
	fmt.Fprintln(sql, "COMMIT;")
	for range 20000 / scale {
		fmt.Fprintf(sql, "SELECT count(*),sum(v) FROM t WHERE k=%d;\n", random.Intn(5000))
	}
	for range 4 {
		fmt.Fprintln(sql, "SELECT substr(name,1,6) AS p, count(*), avg(v), group_concat(id) FROM t GROUP BY p ORDER BY 2 DESC LIMIT 5;")
	}
	if err := sql.Flush(); err != nil {
		return err
	}
	return file.Close()
}
