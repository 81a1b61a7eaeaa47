package examples

import (
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// other is a program of Debian that others keep, with some work for it.
type other struct {
	name    string
	packs   []string // the Debian packages whose code the advice names
	prepare func(t *testing.T, folder string) harness.Command
}

var others = []other{
	{"sqlite3", []string{"libsqlite3-0"}, sqlite},
	{"git", []string{"git", "zlib1g"}, git},
	{"curl", []string{"curl", "libcurl4", "libssl3", "openssl"}, curl},
	{"xz", []string{"xz-utils", "liblzma5"}, xz},
}

// versions lists those of the packages that the program consists of; the test is skipped where one is not installed.
func (o other) versions(t *testing.T) string {
	t.Helper()
	var all []string
	for _, pack := range o.packs {
		output, err := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Version}", pack).Output()
		if err != nil {
			t.Skipf("%s is not installed", pack)
		}
		all = append(all, string(output))
	}
	return strings.Join(all, ", ")
}

// sqlite: inserts with an index, selects by it, and a group-by.
func sqlite(t *testing.T, _ string) harness.Command {
	random := rand.New(rand.NewSource(7))
	var sql strings.Builder
	sql.WriteString("CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, name TEXT, v REAL);\nCREATE INDEX ti ON t(k);\nBEGIN;\n")
	for i := range 20000 {
		fmt.Fprintf(&sql, "INSERT INTO t VALUES(%d,%d,'name%x',%f);\n", i, random.Intn(500), random.Int63n(1<<40), random.Float64())
	}
	sql.WriteString("COMMIT;\n")
	for range 2000 {
		fmt.Fprintf(&sql, "SELECT count(*),sum(v) FROM t WHERE k=%d;\n", random.Intn(500))
	}
	sql.WriteString("SELECT substr(name,1,6) AS p, count(*), avg(v) FROM t GROUP BY p ORDER BY 2 DESC LIMIT 5;\n")
	return harness.Command{Arguments: []string{"/usr/bin/sqlite3", ":memory:"}, Input: sql.String()}
}

// git: the log of 300 commits, each of which changes some lines of three files.
func git(t *testing.T, folder string) harness.Command {
	random := rand.New(rand.NewSource(11))
	files := make([][]string, 40)
	for i := range files {
		for line := range 60 + random.Intn(60) {
			files[i] = append(files[i], fmt.Sprintf("line %d of file %d\n", line, i))
		}
	}
	var history strings.Builder
	for commit := range 300 {
		fmt.Fprintf(&history, "commit refs/heads/main\ncommitter A U Thor <author@example.org> %d +0000\n", 1700000000+60*commit)
		message := fmt.Sprintf("change number %d\n\n%s", commit, strings.Repeat("It says why. ", random.Intn(20)))
		fmt.Fprintf(&history, "data %d\n%s\n", len(message), message)
		for range 3 {
			i := random.Intn(len(files))
			for range 1 + random.Intn(5) {
				files[i][random.Intn(len(files[i]))] = fmt.Sprintf("a line of commit %d: %x\n", commit, random.Int63())
			}
			content := strings.Join(files[i], "")
			fmt.Fprintf(&history, "M 100644 inline folder%d/file%d\ndata %d\n%s\n", i%5, i, len(content), content)
		}
	}
	repository := filepath.Join(folder, "repository")
	for _, command := range []harness.Command{
		{Arguments: []string{"/usr/bin/git", "init", "--quiet", "--initial-branch=main", repository}},
		{Arguments: []string{"/usr/bin/git", "-C", repository, "fast-import", "--quiet"}, Input: history.String()},
	} {
		if result := harness.Run(t, command); result.Status != 0 {
			t.Fatalf("%v: %s\n%s", command.Arguments, result.Ending(), result.Errors)
		}
	}
	return harness.Command{Arguments: []string{"/usr/bin/git", "-C", repository, "--no-pager", "log", "--stat"}}
}

// curl: twenty files over one connection.
func curl(t *testing.T, _ string) harness.Command {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(strings.Repeat(r.URL.Path+"\n", 50000)))
	}))
	t.Cleanup(server.Close)
	arguments := []string{"/usr/bin/curl", "--silent", "--disable", "--noproxy", "*", "--output", "/dev/null"}
	return harness.Command{Arguments: append(arguments, server.URL+"/file[1-20]")}
}

// xz: some megabytes of text, on one thread.
func xz(t *testing.T, folder string) harness.Command {
	random := rand.New(rand.NewSource(3))
	var text strings.Builder
	for text.Len() < 3<<20 {
		fmt.Fprintf(&text, "%d bottles of beer on wall %x\n", random.Intn(100), random.Intn(1<<20))
	}
	file := filepath.Join(folder, "text")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return harness.Command{Arguments: []string{"/usr/bin/xz", "--keep", "--threads=1", "--stdout", file}}
}
