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
	sampled   mode = "libmallow, sampled"
	explained mode = "mallow record, with its report"
	heaptrack mode = "heaptrack, without a report"
)

var allModes = []mode{glibc, library, recorded, explained, heaptrack}

// prepare writes inputs and builds programs into `folder`. `scale` divides the work, for trying the runner out.
func prepare(folder string, scale int) ([]workload, error) {
	sources := filepath.Join("bench", "workloads")
	// With frame pointers, as some distributions build everything, each frame has two words that recording compares.
	paths, framed := filepath.Join(folder, "paths"), filepath.Join(folder, "paths-framed")
	for program, flag := range map[string]string{paths: "-fomit-frame-pointer", framed: "-fno-omit-frame-pointer"} {
		if err := run("g++", "-O2", "-g", "-std=c++20", "-fno-builtin", "-pthread", flag, "-o", program, filepath.Join(sources, "paths.cc")); err != nil {
			return nil, err
		}
	}
	sql := filepath.Join(folder, "inserts.sql")
	if err := writeSQL(sql, scale); err != nil {
		return nil, err
	}
	preprocessed := filepath.Join(folder, "tmpl.ii")
	if err := run("g++", "-std=c++17", "-E", "-o", preprocessed, filepath.Join(sources, "tmpl.cc")); err != nil {
		return nil, err
	}
	compiler, err := exec.Command("g++", "-print-prog-name=cc1plus").Output()
	if err != nil {
		return nil, err
	}
	works := []workload{
		{name: "sqlite3", command: []string{"/usr/bin/sqlite3", ":memory:"}, input: sql, modes: allModes},
		{name: "python3", command: []string{"/usr/bin/python3", absolute(filepath.Join(sources, "documents.py"))},
			settings: []string{"PYTHONMALLOC=malloc", "PYTHONHASHSEED=0"}, modes: allModes},
		{name: "cc1plus", command: []string{strings.TrimSpace(string(compiler)), "-fpreprocessed", preprocessed,
			"-quiet", "-O1", "-std=c++17", "-o", "/dev/null"}, modes: []mode{glibc, library, recorded, explained},
			note: "heaptrack is left out of cc1plus: the interpreter of Debian's 1.4.0 takes minutes and most of the memory there"},
	}
	if clang, err := exec.LookPath("clang++-14"); err == nil {
		parsed := filepath.Join(folder, "tmpl.clang.ii")
		if err := run(clang, "-std=c++17", "-E", "-o", parsed, filepath.Join(sources, "tmpl.cc")); err != nil {
			return nil, err
		}
		works = append(works, workload{name: "clang", command: []string{clang, "-x", "c++-cpp-output", "-O1", "-std=c++17", "-c",
			"-o", "/dev/null", parsed}, modes: []mode{glibc, library, recorded, explained}, note: "heaptrack is left out of clang for the same reason"})
	}
	for _, threads := range []int{1, 4} {
		works = append(works, workload{name: fmt.Sprintf("50 call paths, %d thread(s), 2 M pairs", threads),
			command: []string{paths, strconv.Itoa(2000000 / scale), strconv.Itoa(threads)}, modes: allModes})
	}
	works = append(works, workload{name: "50 call paths with frame pointers, 2 M pairs",
		command: []string{framed, strconv.Itoa(2000000 / scale), "1"}, modes: allModes})
	works = append(works, workload{name: fmt.Sprintf("%d times /bin/true from a shell", 200/scale), command: []string{"/bin/sh", "-c",
		fmt.Sprintf("i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done", 200/scale)}, modes: []mode{glibc, library, recorded, explained}})
	return works, nil
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
