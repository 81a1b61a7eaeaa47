// Package manual executes the examples of the manual and of the READMEs: documentation that lies fails.
package manual

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// text is what the pages count the words of.
const text = `How much does a word cost? A word costs a block, and a block costs a call,
and a call costs what a word costs: much, where there are many words.
`

// memoryLog is what a debug build of curl writes.
const memoryLog = `MEM tool_main.c:10 malloc(100) = 0x5581a0
MEM url.c:20 strdup(0x7ffd10) (12) = 0x5582b0
MEM url.c:31 free(0x5582b0)
MEM url.c:20 strdup(0x7ffd20) (8) = 0x5582b0
MEM url.c:31 free(0x5582b0)
FD cf-socket.c:40 socket() = 5
`

// example is a command of a page with what it prints; "..." in that stands for anything.
type example struct {
	line    int
	command string
	output  string
}

// examples reads the commands of a page: lines after "$ ", indented by four or within a fence. What a command
// prints ends where the indented or fenced text ends, or with the next command.
func examples(page string) []example {
	var found []example
	fenced, printing, blank := false, false, 0
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced, printing = !fenced, false
			continue
		}
		body, indented := strings.CutPrefix(line, "    ")
		if fenced {
			body = line
		}
		command, isCommand := strings.CutPrefix(body, "$ ")
		switch {
		case line == "":
			blank++
			continue
		case !fenced && !indented:
			printing = false
		case isCommand:
			found = append(found, example{line: i + 1, command: command})
			printing = true
		case printing:
			found[len(found)-1].output += strings.Repeat("\n", blank) + body + "\n"
		}
		blank = 0
	}
	return found
}

// blanks are one blank for a comparison: how wide a column is, the pages do not promise.
var blanks = regexp.MustCompile(` +`)

// matches holds when got is what was wanted, with "..." for anything; a line of its own for any lines, or none.
func matches(wanted, got string) bool {
	wanted, got = blanks.ReplaceAllString(wanted, " "), blanks.ReplaceAllString(got, " ")
	pattern := regexp.QuoteMeta(wanted)
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.\n`).ReplaceAllString(pattern, `(.*\n)*`)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(got)
}

func TestManual(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(harness.Root(), "docs", "manual", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no manual: %v", err)
	}
	for _, page := range append(pages, filepath.Join(harness.Root(), "README.md"), filepath.Join(harness.Root(), "README.zh-CN.md"), filepath.Join(harness.Root(), "examples", "README.md")) {
		t.Run(filepath.Base(page), func(t *testing.T) { execute(t, page) })
	}
}

// Both READMEs name the same commands and pages.
func TestReadmesAgree(t *testing.T) {
	named := func(page string) []string {
		content, err := os.ReadFile(filepath.Join(harness.Root(), page))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile("`(?:mallow|make) [^`]+`|\\]\\([^)]+\\)").FindAllString(string(content), -1)
		found = slices.DeleteFunc(found, func(s string) bool { return strings.HasPrefix(s, "](README") })
		slices.Sort(found)
		return slices.Compact(found)
	}
	english, chinese := named("README.md"), named("README.zh-CN.md")
	if !slices.Equal(english, chinese) {
		t.Errorf("README.md has\n%s\nand README.zh-CN.md\n%s", strings.Join(english, "\n"), strings.Join(chinese, "\n"))
	}
}

var (
	longFlag = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[\w-]+)`)
	pageLink = regexp.MustCompile(`\]\((\w+\.md)[)#]`)
	verbLine = regexp.MustCompile(`(?m)^  (\w+) +\S`)
)

// Each flag that help lists stands in the page of its verb, in one that this names, or in the first page of all.
func TestFlagsAreInThePages(t *testing.T) {
	help := func(verb ...string) string {
		output, err := exec.Command(harness.CLI(t), append([]string{"help"}, verb...)...).Output()
		if err != nil {
			t.Fatalf("help %s: %v", verb, err)
		}
		return string(output)
	}
	read := func(page string) string {
		content, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "manual", page))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	_, list, _ := strings.Cut(help(), "Verbs:\n")
	verbs := verbLine.FindAllStringSubmatch(list, -1)
	if len(verbs) < 10 {
		t.Fatalf("help lists %q", verbs)
	}
	for _, verb := range verbs {
		text := read(verb[1]+".md") + read("README.md")
		for _, link := range pageLink.FindAllStringSubmatch(read(verb[1]+".md"), -1) {
			text += read(link[1])
		}
		for _, flag := range longFlag.FindAllStringSubmatch(help(verb[1]), -1) {
			said := regexp.MustCompile(flag[1] + `\b`).MatchString(text)
			if short := map[string]string{"--output": "-o", "--readings": "-n"}[flag[1]]; !said && short != "" {
				said = strings.Contains(text, "`"+short)
			}
			if !said && flag[1] != "--help" {
				t.Errorf("no page of mallow %s says what %s is", verb[1], flag[1])
			}
		}
	}
}

func execute(t *testing.T, page string) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	toolchain, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	prepare(t, folder)
	for _, e := range examples(string(content)) {
		command := exec.Command("/bin/bash", "-c", e.command)
		command.Dir = folder
		command.Env = append(harness.GoSettings(t), "PATH="+filepath.Dir(harness.CLI(t))+":"+filepath.Dir(toolchain)+":/usr/bin:/bin",
			"HOME="+folder, "LC_ALL=C.UTF-8")
		output, _ := command.CombinedOutput() // pages print exit codes themselves
		if got := string(output); !matches(e.output, got) {
			t.Errorf("%s:%d: $ %s\nprinted\n%s\nnot\n%s", filepath.Base(page), e.line, e.command, got, e.output)
		}
	}
}

// prepare puts into folder what the pages use: the example, a text, an installed mallow, and what the READMEs see in the
// source tree.
func prepare(t *testing.T, folder string) {
	t.Helper()
	root := harness.Root()
	for name, target := range map[string]string{
		"words.c": "examples/words.c", "examples": "examples", "LICENSE": "LICENSE",
	} {
		if err := os.Symlink(filepath.Join(root, target), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, module := range []string{"gocode/testdata/digest", "gocode/testdata/rows", "gocgo/testdata/mixed"} {
		if err := os.CopyFS(filepath.Join(folder, filepath.Base(module)), os.DirFS(filepath.Join(root, "test", module))); err != nil {
			t.Fatal(err)
		}
	}
	harness.Install(t, filepath.Join(folder, "opt"), "mallow", "tcmalloc")
	if err := os.Symlink(harness.CLI(t), filepath.Join(folder, "mallow")); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"text": text, "memdump": memoryLog} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		wanted, got string
		match       bool
	}{
		{"a\n", "a\n", true},
		{"a\n", "b\n", false},
		{"a b\n", "a   b\n", true},
		{"a b\n", "ab\n", false},
		{"a\n", "a\nb\n", false},
		{"a...c\n", "abbc\n", true},
		{"a...c\n", "a\nc\n", false},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"a\n...\nd\n", "a\nd\n", true},
		{"...\n", "", true},
		{"a.c\n", "abc\n", false},
	} {
		if matches(test.wanted, test.got) != test.match {
			t.Error(fmt.Sprintf("%q against %q", test.got, test.wanted))
		}
	}
}
