package main

import (
	"os"
	"strings"
	"testing"

	"mallow/internal/doctor"
)

const twoPrograms = `# a remark
[one]
kind: text
package: coreutils
setup: seq 10 >n
setup: seq 20 >m
set: A=1
set: B=2
run: sort -r n
[two]
kind: server
package: twod
run: twod --port 1
drive: await true: false
`

func TestParsePrograms(t *testing.T) {
	programs, err := parsePrograms(twoPrograms)
	if err != nil || len(programs) != 2 {
		t.Fatalf("%+v, %v", programs, err)
	}
	one, two := programs[0], programs[1]
	if one.name != "one" || one.setup != "seq 10 >n\nseq 20 >m" || strings.Join(one.settings, " ") != "A=1 B=2" || one.command() != "sort" {
		t.Errorf("%+v", one)
	}
	if two.drive != "await true: false" || two.debianPackage != "twod" || two.kind != "server" {
		t.Errorf("%+v", two)
	}
}

func TestParseProgramsRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"nothing":          {"# only a remark\n", "names no program"},
		"no name":          {"kind: text\n", "line 1: there is no [NAME]"},
		"a name twice":     {twoPrograms + "[one]\n", "no new [NAME]"},
		"a name of a path": {"[a/b]\n", "no new [NAME]"},
		"an open name":     {"[a\n", "no new [NAME]"},
		"an unknown key":   {"[a]\ncolour: red\n", "line 2: \"colour: red\" is no key"},
		"an empty value":   {"[a]\nrun:\n", "line 2"},
		"no command":       {"[a]\nkind: text\npackage: a\n", "[a] needs kind, package and run"},
	} {
		if _, err := parsePrograms(test.text); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSurveyVerdicts(t *testing.T) {
	yes := &doctor.Diagnosis{Program: &doctor.Program{UnwindTables: true}}
	no := &doctor.Diagnosis{Program: &doctor.Program{}, Refusal: &doctor.Refusal{Reason: "is static", Remedy: "relink it"}}
	good := ended{output: "1\n"}
	for name, test := range map[string]struct {
		row   surveyed
		says  string
		fails bool
	}{
		"same":            {surveyed{diagnosis: yes, plain: good, recorded: good, figures: figures{processes: 1}, steady: true}, "same", false},
		"not there":       {surveyed{skipped: "not installed"}, "left out: not installed", false},
		"refused by both": {surveyed{diagnosis: no, plain: good, recorded: ended{status: 125}}, "refused: it is static", false},
		"by record only":  {surveyed{diagnosis: yes, plain: good, recorded: ended{status: 125, errors: "mallow: why\n"}}, "FAILS: record refuses it and doctor does not: mallow: why", true},
		"by doctor only":  {surveyed{diagnosis: no, plain: good, recorded: good}, "FAILS: doctor refuses it and record does not", true},
		"no end":          {surveyed{diagnosis: yes, plain: good, recorded: ended{late: true}}, "FAILS: no end", true},
		"another status":  {surveyed{diagnosis: yes, plain: good, recorded: ended{output: "1\n", status: 139}}, "FAILS: status 139 instead of 0", true},
		"nothing in it":   {surveyed{diagnosis: yes, plain: good, recorded: good}, "FAILS: nothing was recorded", true},
		"another output":  {surveyed{diagnosis: yes, plain: good, recorded: ended{output: "2\n"}, figures: figures{processes: 1}, steady: true}, "DIFFERS", true},
		"always another":  {surveyed{diagnosis: yes, plain: good, recorded: ended{output: "2\n"}, figures: figures{processes: 1}}, "varies: ", false},
	} {
		if said := test.row.verdict(); !strings.HasPrefix(said, test.says) || test.row.fails() != test.fails {
			t.Errorf("%s: %q, fails %v", name, said, test.row.fails())
		}
	}
}

func TestProgramsPage(t *testing.T) {
	yes := &doctor.Diagnosis{Program: &doctor.Program{OwnHeaps: []doctor.OwnHeap{{Name: "jemalloc"}}}}
	row := surveyed{
		program: program{name: "one", kind: "text", debianPackage: "ones", note: "it | draws"}, version: "1.2", diagnosis: yes,
		plain: ended{errors: "a\n"}, recorded: ended{errors: "a\nmallow: 12 allocations\n"}, steady: true,
		figures: figures{processes: 2, calls: 1234567, stacks: 99, truncated: 3, truncatedCalls: 617284, unrecorded: []string{"true (is static)"}},
		cpu:     [3][]float64{{2, 1, 9}, {1, 1, 1}, {1.5, 9, 1}},
	}
	small := row
	small.name, small.cpu = "two", [3][]float64{{0.01}, {0.01}, {0.02}}
	page := programsPage("- machine: m\n", []surveyed{row, small, {program: program{name: "three"}, skipped: "not installed"}})
	for _, wanted := range []string{
		"\n2 programs of the packages",
		"- machine: m\n",
		"| one | ones 1.2 | text | yes | same | 2.00 | 0.50 | 1.50 | 0.75 | 2 | 1,234,567 | 99 | 3 (50 %) | it \\| draws; its own jemalloc is not seen; " +
			"stacks end at its own functions, which have no unwind tables; not recorded of its children: true (is static) |\n",
		"| two | ones 1.2 | text | yes | same | 0.01 | - | - | - | 2 |",
		"\n## Left out of this run\n\n- three: not installed\n",
	} {
		if !strings.Contains(page, wanted) {
			t.Errorf("%q is not in\n%s", wanted, page)
		}
	}
}

// The list itself can be read.
func TestThePrograms(t *testing.T) {
	content, err := os.ReadFile("programs.txt")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := parsePrograms(string(content))
	if err != nil || len(programs) < 50 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
}
