// Package guilty plants one more allocation into a loop of programs, and demands that mallow gate names its line as the
// first guilty stack.
package guilty

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/internal/gate"
	"mallow/test/harness"
)

// program is one with a line that can be planted.
type program struct {
	source   string // from the root of the tree
	function string // that the line is planted in
	after    string // the line before it; "" where the source has one that begins with mark
	plant    string
	stdin    string
}

// mark begins a line of a comment that becomes code.
const mark = "// + "

var programs = []program{
	{source: "test/guilty/programs/bank.cc", function: "Bank::Transfer"},
	{source: "test/guilty/programs/cache.cc", function: "Cache::Get"},
	{source: "test/guilty/programs/events.c", function: "on_message"},
	{source: "test/guilty/programs/graph.cc", function: "Shortest"},
	{source: "test/guilty/programs/matrix.c", function: "multiply"},
	{source: "test/guilty/programs/shapes.cc", function: "Circle::Area"},
	{source: "test/guilty/programs/table.c", function: "count"},
	{source: "test/guilty/programs/texts.cc", function: "Run"},
	{source: "test/guilty/programs/tokens.c", function: "tokenize"},
	{source: "test/guilty/programs/tree.c", function: "height"},
	{source: "test/gate/testdata/parse.c", function: "parse_line", after: "  char* word = copy_word(text);", plant: "free(copy_word(word));"},
	{source: "test/gate/testdata/queue.cc", function: "consume", after: "    total += item->size();", plant: "std::string copy = *item; total += copy.size();"},
	{source: "examples/words.c", function: "find", after: "    char* lower = strdup(text);", plant: "free(strdup(lower));", stdin: "LICENSE"},
	{source: "examples/requests.c", function: "serve", after: "  line = strdup(request);", plant: "free(strdup(line));"},
	{source: "examples/connections/wasteful/connections.c", function: "transfer", after: "  for (int i = 0; i < BODY; i++) sum = sum * 31 + body[i];", plant: "free(calloc(3, 5));"},
	{source: "examples/poll/wasteful/poll.c", function: "take_line", after: "  int in_word = 0;", plant: "char *own = malloc(length + 1); r->words += own == NULL; free(own);"},
	{source: "examples/index/wasteful/index.cc", function: "Index::Add", after: "    std::map<std::string, int> counts;", plant: "std::vector<std::string> copy(document);"},
	{source: "examples/json/wasteful/json.cc", function: "ReadQuoted", after: "    if (at_ >= end_) Fail(\"the end of a string\");", plant: "std::string copy(begin, at_ + 64 < end_ ? 64 : 16); if (copy.empty()) Fail(\"x\");"},
	{source: "examples/logs/wasteful/logs.cc", function: "Add", after: "    sum->requests++;", plant: "Request copy = request; sum->requests += copy.bytes < 0;"},
	{source: "examples/pipeline/wasteful/pipeline.cc", function: "Filter", after: "    int before = 0;", plant: "auto copy = std::make_unique<int>(before); before += *copy;"},
}

// repository has one program, built by its budget.
type repository struct {
	testing.TB
	folder string
}

func (r *repository) run(arguments ...string) harness.Result {
	r.Helper()
	return harness.Run(r, harness.Command{Arguments: arguments, Directory: r.folder, Settings: []string{
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "MALLOW_SYMBOL_CACHE=off",
	}})
}

func (r *repository) must(arguments ...string) string {
	r.Helper()
	result := r.run(arguments...)
	if result.Status != 0 {
		r.Fatalf("%q: %s\n%s%s", arguments, result.Ending(), result.Output, result.Errors)
	}
	return result.Output
}

func (r *repository) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.folder, name), []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) commit(message string) {
	r.Helper()
	r.must("git", "add", "-A")
	r.must("git", "commit", "-q", "-m", message)
}

// planted returns the text with the line planted, and its number.
func (p *program) planted(t testing.TB, text string) (string, int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		at := strings.Index(line, mark)
		switch {
		case p.after == "" && at >= 0 && strings.TrimSpace(line[:at]) == "":
			lines[i] = line[:at] + line[at+len(mark):]
			return strings.Join(lines, "\n"), i + 1
		case p.after != "" && strings.TrimSpace(strings.Split(line, "//")[0]) == strings.TrimSpace(p.after):
			return strings.Join(slices.Insert(lines, i+1, "    "+p.plant), "\n"), i + 2
		}
	}
	t.Fatalf("%s has no place for it", p.source)
	return "", 0
}

// TestPlantedAllocations runs all programs where MALLOW_GUILTY is all, else every fourth one.
func TestPlantedAllocations(t *testing.T) {
	named := 0
	for i := range programs {
		p := &programs[i]
		if os.Getenv("MALLOW_GUILTY") != "all" && i%4 != 0 {
			continue
		}
		t.Run(filepath.Base(p.source), func(t *testing.T) {
			if first := guilty(t, p); first != "" {
				t.Logf("%s", first)
				named++
			}
		})
	}
	t.Logf("the planted line was named as the first guilty stack in %d programs", named)
}

// guilty plants the line and returns what the gate names first, if it is that.
func guilty(t *testing.T, p *program) string {
	r := &repository{t, filepath.Join(harness.TempDir(t), "repository")}
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(harness.Root(), p.source))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(p.source)
	compiler := "cc"
	if filepath.Ext(name) == ".cc" {
		compiler = "c++ -std=c++20 -pthread"
	}
	budget := fmt.Sprintf("[benchmark.it]\ncommand = [\"./it\"]\nbuild = \"%s -g -O1 -fno-builtin -I %s -o it %s\"\n", compiler, filepath.Join(harness.Root(), "include"), name)
	if p.stdin != "" {
		budget += fmt.Sprintf("stdin = %q\n", filepath.Join(harness.Root(), p.stdin))
	}
	r.write("mallow.toml", budget)
	r.write(name, string(content))
	r.write(".gitignore", "/it\n")
	r.must("git", "init", "-q", "-b", "main")
	r.must(harness.CLI(t), "gate", "--update", "--no-history", "--no-base")
	r.commit("as it was")

	text, line := p.planted(t, string(content))
	r.write(name, text)
	r.commit("one allocation more")
	result := r.run(harness.CLI(t), "gate", "--json", "--no-history", "--no-base")
	var found gate.Result
	if err := json.Unmarshal([]byte(result.Output), &found); err != nil || result.Status != 2 {
		t.Errorf("%s, %v\n%s%s", result.Ending(), err, result.Output, result.Errors)
		return ""
	}
	for _, c := range found.Checks {
		if c.Metric != "allocations" || c.Verdict != gate.Regression || len(c.Sites) == 0 {
			continue
		}
		first := c.Sites[0]
		stack := append([]gate.Frame{{Function: first.Function, File: first.File, Line: first.Line}}, first.Callers...)
		at := slices.IndexFunc(stack, func(f gate.Frame) bool {
			return strings.Contains(f.Function, p.function) && filepath.Base(f.File) == name && f.Line == line
		})
		changed := slices.ContainsFunc(first.Changed, func(l gate.LineChange) bool { return l.Line == line && l.New != "" })
		if at < 0 || !changed {
			t.Errorf("%s:%d is not in the first guilty stack (changed lines: %v)\n%s", name, line, changed, result.Output)
			return ""
		}
		return fmt.Sprintf("%s %s:%d, +%d, frame %d of the first stack", stack[at].Function, name, line, first.Now-first.Was, at)
	}
	t.Errorf("no regression of allocations\n%s", result.Output)
	return ""
}
