package real

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// installed returns the path of a program of a Debian package; the test is skipped where it is not installed.
func installed(t *testing.T, path, debianPackage string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed (Debian package %s)", path, debianPackage)
	}
	return path
}

// sqlite: 220,000 inserts with an index, 20,000 selects, group-bys.
func sqlite(t *testing.T, folder string) harness.Command {
	random := rand.New(rand.NewSource(7))
	var sql strings.Builder
	sql.WriteString("PRAGMA cache_size=-200000;\nPRAGMA temp_store=2;\n")
	sql.WriteString("CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, v REAL);\nCREATE INDEX ti ON t(k);\nBEGIN;\n")
	for i := range 220000 {
		fmt.Fprintf(&sql, "INSERT INTO t VALUES(%d,%d,'name%x',%f);\n", i, random.Intn(5000), random.Int63n(1<<40), random.Float64())
	}
	sql.WriteString("COMMIT;\n")
	for range 20000 {
		fmt.Fprintf(&sql, "SELECT count(*),sum(v) FROM t WHERE k=%d;\n", random.Intn(5000))
	}
	sql.WriteString("SELECT substr(name,1,6) AS p, count(*), avg(v), group_concat(id) FROM t GROUP BY p ORDER BY 2 DESC LIMIT 5;\n")
	// Newer shells would take most blocks from a pool of their own.
	arguments := []string{installed(t, "/usr/bin/sqlite3", "sqlite3"), "-lookaside", "0", "0", ":memory:"}
	return harness.Command{Arguments: arguments, Input: sql.String()}
}

func python(t *testing.T, folder string) harness.Command {
	return harness.Command{
		Arguments: []string{installed(t, "/usr/bin/python3", "python3"), workload("documents.py"), "3"},
		Settings:  []string{"PYTHONMALLOC=malloc", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"},
	}
}

// git: the log with statistics of a repository of 300 commits to 40 files.
func git(t *testing.T, folder string) harness.Command {
	program := installed(t, "/usr/bin/git", "git")
	random := rand.New(rand.NewSource(11))
	var stream strings.Builder
	for commit := range 300 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\n", 1700000000+commit*60)
		message := fmt.Sprintf("change %d", commit)
		fmt.Fprintf(&stream, "data %d\n%s\n", len(message), message)
		for range 5 {
			var content strings.Builder
			for line := range 40 + random.Intn(40) {
				fmt.Fprintf(&content, "line %d %d\n", line, random.Intn(6))
			}
			fmt.Fprintf(&stream, "M 100644 inline folder%d/file%d\ndata %d\n%s\n", random.Intn(5), random.Intn(8), content.Len(), content.String())
		}
	}
	repository := filepath.Join(folder, "repository")
	for _, command := range []harness.Command{
		{Arguments: []string{program, "init", "--quiet", "--initial-branch=main", repository}},
		{Arguments: []string{program, "-C", repository, "fast-import", "--quiet"}, Input: stream.String()},
	} {
		if result := harness.Run(t, command); result.Status != 0 {
			t.Fatalf("%v: %s\n%s", command.Arguments, result.Ending(), result.Errors)
		}
	}
	return harness.Command{Arguments: []string{program, "-C", repository, "--no-pager", "log", "--stat", "main"}}
}

func perl(t *testing.T, folder string) harness.Command {
	return harness.Command{
		Arguments: []string{installed(t, "/usr/bin/perl", "perl"), testdata("words.pl")},
		Settings:  []string{"PERL_HASH_SEED=0"},
	}
}

func randomLines(count int) string {
	random := rand.New(rand.NewSource(5))
	var text strings.Builder
	for range count {
		fmt.Fprintf(&text, "%d some words of a line %x\n", random.Intn(1000000), random.Int63())
	}
	return text.String()
}

func sortFile(t *testing.T, folder string) harness.Command {
	file := filepath.Join(folder, "lines")
	write(t, file, randomLines(200000))
	return harness.Command{Arguments: []string{installed(t, "/usr/bin/sort", "coreutils"), "--parallel=2", "-S", "64M", file}}
}

func xz(t *testing.T, folder string) harness.Command {
	file := filepath.Join(folder, "lines")
	write(t, file, randomLines(60000))
	return harness.Command{Arguments: []string{installed(t, "/usr/bin/xz", "xz-utils"), "-T2", "-1", "--block-size=300KiB", "-c", file}}
}

// compile: g++ starts cc1plus, which does the work; the assembly goes to standard output.
func compile(t *testing.T, folder string) harness.Command {
	return harness.Command{
		Arguments: []string{installed(t, "/usr/bin/g++", "g++"), "-std=c++17", "-O1", "-frandom-seed=1", "-S", "-o", "-", testdata("tmpl.cc")},
	}
}

func pipeline(t *testing.T, folder string) harness.Command {
	return harness.Command{Arguments: []string{installed(t, "/bin/bash", "bash"), testdata("pipeline.sh")}}
}

func node(t *testing.T, folder string) harness.Command {
	return harness.Command{Arguments: []string{installed(t, "/usr/bin/node", "nodejs"), testdata("buffers.js")}}
}

// build runs a compiler with the environment of the test itself.
func build(t *testing.T, folder, compiler, debianPackage string, arguments ...string) {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("no %s (Debian package %s)", compiler, debianPackage)
	}
	command := exec.Command(path, arguments...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, arguments, err, output)
	}
}

func rust(t *testing.T, folder string) harness.Command {
	program := filepath.Join(folder, "shelf")
	build(t, folder, "/usr/bin/rustc", "rustc", "-g", "-O", "-o", program, testdata("shelf.rs"))
	return harness.Command{Arguments: []string{program}}
}

func cgo(t *testing.T, folder string) harness.Command {
	program := filepath.Join(folder, "bridge")
	build(t, harness.Root(), "go", "golang", "build", "-buildvcs=false", "-o", program, "./test/real/testdata/bridge")
	return harness.Command{Arguments: []string{program}}
}
