package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// mallocRows are all rows of the allocator table; inputs are written into `folder`, where the runner builds the programs.
// `scale` divides the work, for trying things out. The heads of the programs in bench/workloads say what each one does
// and what its arguments mean.
func mallocRows(folder string, scale int) ([]mallocRow, error) {
	rows := rowMaker{folder: folder, scale: max(scale, 1)}
	rows.singleThread()
	rows.curves()
	rows.threads()
	rows.memory()
	rows.ownPrograms()
	if err := rows.realPrograms(); err != nil {
		return nil, err
	}
	return rows.made, nil
}

type rowMaker struct {
	folder string
	scale  int
	made   []mallocRow
}

// work is an amount that -scale divides; it stays at least 1.
func (m *rowMaker) work(amount int) string { return strconv.Itoa(max(amount/m.scale, 1)) }

// add adds a row of a program below bench/workloads. The arguments are words.
func (m *rowMaker) add(group, name, source string, seconds float64, arguments ...string) {
	program := filepath.Join(m.folder, strings.TrimSuffix(source, filepath.Ext(source)))
	m.made = append(m.made, mallocRow{name: name, group: group, program: source, seconds: seconds,
		command: append([]string{program}, arguments...)})
}

func (m *rowMaker) singleThread() {
	for _, row := range []struct{ bytes, pairs int }{{16, 50e6}, {64, 50e6}, {1024, 50e6}, {32768, 20e6}, {262144, 6e6}, {1 << 20, 5e6}} {
		m.add("single", "pairs of "+bytesText(float64(row.bytes)), "one_size.cc", 0.2, m.work(row.pairs), strconv.Itoa(row.bytes), "untouched")
	}
	for _, row := range []struct{ bytes, pairs int }{{32768, 20e6}, {262144, 400e3}} {
		m.add("single", "touched pairs of "+bytesText(float64(row.bytes)), "one_size.cc", 0.2, m.work(row.pairs), strconv.Itoa(row.bytes), "touched")
	}
	m.add("single", "malloc(i % 1000)", "modulo.cc", 0.2, m.work(30e6))
	m.add("single", "LIFO of 64", "working_set.cc", 0.2, "lifo", m.work(30e6), "64")
	m.add("single", "FIFO of 1,024", "working_set.cc", 0.2, "fifo", m.work(25e6), "1024")
	m.add("single", "random of 65,536", "working_set.cc", 0.2, "random", m.work(4e6), "65536")
	for _, part := range []struct{ name, word string }{{"rise, malloc only", "malloc"}, {"fall, free only", "free"}, {"rise and fall", "both"}} {
		m.add("single", part.name, "rise_and_fall.cc", 0.3, m.work(300e3), "64", "50", part.word)
	}
	m.add("single", "tide of mixed sizes", "tide.cc", 0.3, m.work(100e3), "8")
	m.add("single", "waves of one size", "waves.cc", 0.3, m.work(200e3))
	m.add("single", "lifetimes", "lifetimes.cc", 0.3, "4096", m.work(600e3))
	m.add("single", "large blocks, 5M to 25M", "large_blocks.cc", 0.3, m.work(200), "5", "25", "4")
	m.add("single", "sparse blocks, 64M to 1G", "large_blocks.cc", 0.3, m.work(200), "64", "1024", "1024")
}

func (m *rowMaker) curves() {
	// Of a single pair the clock may see nothing.
	m.add("curve", "curve of sizes", "size_curve.cc", 0.4, m.work(max(5000, 64*m.scale)))
	for _, threads := range []int{1, 2, 3, 4, 5, 8, 12, 16, 20} {
		for most := 64; most <= 128<<10; most *= 2 {
			m.add("ttest", fmt.Sprintf("t-test, %d thread(s), up to %s", threads, bytesText(float64(most))), "ttest.cc", 0.1,
				strconv.Itoa(threads), strconv.Itoa(most), m.work(1e6))
		}
	}
}

func (m *rowMaker) threads() {
	m.add("multi", "ten threads, 1 KiB, as given", "ten_threads.cc", 0.2, "10", m.work(10e6), "plain")
	m.add("multi", "ten threads, mixed sizes", "ten_threads.cc", 0.2, "10", m.work(1500e3), "mixed")
	for _, threads := range []int{2, 4} {
		m.add("multi", fmt.Sprintf("server, %d threads", threads), "server.cc", 0.3,
			strconv.Itoa(threads), "50", m.work(400e3/threads), "8", "1000")
	}
	m.add("multi", "producer and consumer", "producers.cc", 0.2, "1", "1", m.work(40e3), "64", "16", "256")
	m.add("multi", "2 producers, 2 consumers", "producers.cc", 0.2, "2", "2", m.work(25e3), "64", "16", "256")
	m.add("multi", "producer and consumer, to 32K", "producers.cc", 0.2, "1", "1", m.work(4e3), "16", "64", "32768")
	for _, pairs := range []int{1, 2} {
		m.add("multi", fmt.Sprintf("crossing, %d pair(s)", pairs), "crossing.cc", 0.2, strconv.Itoa(pairs), m.work(24e3/pairs))
	}
	for _, whose := range []string{"own", "exchanged"} {
		m.add("multi", "cyclic pool, "+whose+" blocks", "cyclic_pool.cc", 0.2, "4", "4000", m.work(500), whose)
	}
	for _, test := range []string{"thrash", "scratch"} {
		m.add("multi", "cache "+test, "cache_lines.cc", 0.2, "2", m.work(2000), "50000", test)
	}
	for _, threads := range []int{1, 2} {
		m.add("multi", fmt.Sprintf("population, %d thread(s)", threads), "population.cc", 0.2, strconv.Itoa(threads), m.work(20e6/threads))
	}
	m.add("multi", "relay of arrays", "relay.cc", 0.3, "2", "20", m.work(60e3))
	m.add("multi", "short threads", "short_threads.cc", 0.2, m.work(3000), "4", "200")
	m.add("multi", "shortest threads", "short_threads.cc", 0.2, m.work(5000), "4", "2")
}

// memory are the rows that are judged by their resident size over their live bytes; most of their time they rest.
func (m *rowMaker) memory() {
	m.add("memory", "changing sizes", "fragmentation.cc", 2, m.work(32), m.rests(15), m.rests(60))
	m.add("memory", "threads that come and go", "long_server.cc", 1.5, m.work(1000), "4", m.rests(60), "200")
	m.add("memory", "nine tenths freed, 5 s", "nine_tenths.cc", 6, m.work(1024), m.rests(5), "mixed")
	m.add("memory", "nine tenths of one size freed, 2 s", "nine_tenths.cc", 3, m.work(1024), m.rests(2), "same")
}

// rests is a number of rests in a program, which -scale shortens as well, but less.
func (m *rowMaker) rests(count int) string { return strconv.Itoa(max(count/min(m.scale, 10), 1)) }

func (m *rowMaker) ownPrograms() {
	m.add("program", "start of a process", "start.cc", 0.2, m.work(200))
	m.add("program", "factors of numbers", "numbers.cc", 0.2, m.work(600))
	m.add("program", "bodies in an octree", "octree.cc", 0.3, m.work(8000), m.rests(10))
	m.add("program", "C++ containers", "containers.cc", 0.3, m.work(10))
	m.add("program", "interpreter of trees", "interpreter.cc", 0.3, m.work(1500))
}

func (m *rowMaker) realPrograms() error {
	sql := filepath.Join(m.folder, "malloc.sql")
	if err := writeSQL(sql, 4*m.scale); err != nil {
		return err
	}
	m.real("sqlite3", "sqlite3", mallocRow{command: []string{"/usr/bin/sqlite3", ":memory:"}, input: sql, seconds: 0.3})
	m.real("python3", "python3", mallocRow{command: []string{"/usr/bin/python3", source("documents.py"), m.work(2)},
		settings: []string{"PYTHONMALLOC=malloc", "PYTHONHASHSEED=0"}, seconds: 0.5})
	if err := m.compiler(); err != nil {
		return err
	}
	text := filepath.Join(m.folder, "lines.txt")
	if err := writeLines(text, 400e3/m.scale); err != nil {
		return err
	}
	m.real("sort", "coreutils", mallocRow{command: []string{"/usr/bin/sort", "--parallel=2", "-S", "256M", "-o", "/dev/null", text}, seconds: 0.5})
	documents := filepath.Join(m.folder, "documents.json")
	if err := writeJSON(documents, 16e3/m.scale); err != nil {
		return err
	}
	m.real("jq", "jq", mallocRow{command: []string{"/usr/bin/jq", "-c", jqProgram, documents}, seconds: 0.5})
	m.real("lua", "lua5.4", mallocRow{command: []string{"/usr/bin/lua5.4", source("trees.lua"), m.work(6)}, seconds: 0.5})
	m.real("redis-server", "redis-server", mallocRow{command: []string{"/usr/bin/redis-server"}, seconds: 1.5})
	redis := &m.made[len(m.made)-1]
	redis.command, redis.driver = []string{source("redis.sh"), m.work(40e3), m.folder}, true
	return nil
}

// jqProgram groups the documents by their first tag and adds up what each group holds.
const jqProgram = `group_by(.tags[0]) | map({tag: .[0].tags[0], ids: map(.id), words: (map(.name | ascii_upcase) | join(" ") | length)})`

// real adds a row of a program of the system, which is of this Debian package.
func (m *rowMaker) real(name, debian string, row mallocRow) {
	row.name, row.group = name, "program"
	if _, err := exec.LookPath(row.command[0]); err != nil {
		row.missing = fmt.Sprintf("%s is not installed (Debian package %s)", row.command[0], debian)
	}
	m.made = append(m.made, row)
}

func (m *rowMaker) compiler() error {
	preprocessed := filepath.Join(m.folder, "tmpl.ii")
	if err := run("g++", "-std=c++17", "-E", "-o", preprocessed, source("tmpl.cc")); err != nil {
		return err
	}
	path, err := exec.Command("g++", "-print-prog-name=cc1plus").Output()
	if err != nil {
		return err
	}
	m.real("cc1plus", "g++", mallocRow{command: []string{strings.TrimSpace(string(path)), "-fpreprocessed", preprocessed, "-quiet", "-O0",
		"-fsyntax-only", "-std=c++17", "-o", "/dev/null"}, seconds: 1})
	return nil
}

func source(name string) string { return absolute(filepath.Join("bench", "workloads", name)) }
