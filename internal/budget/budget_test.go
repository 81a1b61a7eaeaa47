package budget

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const example = `# What our programs may allocate.
runs = 5

[benchmark.parse] # the big one
command = ["./parse", "data/big.json"]
folder = "work"
env = { TZ = "UTC", LANG = "C" }
stdin = "in.txt"
clean_env = true
exit = 3
time_limit = "90s"
build = "make"
unit = "request"

[benchmark.parse.budget]
allocations = 33_961   # was 40,000 in spring
peak = [1_000, 1_024]

[benchmark.parse.target]
allocations = 80
cpu = "1.5s"

[benchmark."two words"]
command = "./tool | cat"
`

func parsed(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse(FileName, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParse(t *testing.T) {
	f := parsed(t, example)
	b := f.Benchmark("parse")
	if len(f.Benchmarks) != 2 || b == nil || f.Benchmarks[0] != b {
		t.Fatalf("%+v", f.Benchmarks)
	}
	if strings.Join(b.Command, " ") != "./parse data/big.json" || b.Folder != "work" || strings.Join(b.Env, " ") != "TZ=UTC LANG=C" ||
		b.Stdin != "in.txt" || !b.CleanEnv || b.Exit != 3 || b.Limit != 90*time.Second || b.Build != "make" || b.Unit != "request" || b.Runs != 5 {
		t.Errorf("%+v", b)
	}
	if a := b.Figure(Allocations); a == nil || !a.Exact() || a.Most != 33961 {
		t.Errorf("%+v", a)
	}
	if p := b.Figure(Peak); p == nil || p.Exact() || p.Least != 1000 || p.Most != 1024 {
		t.Errorf("%+v", p)
	}
	if c := b.Target(CPU); c == nil || c.Value != 1.5 {
		t.Errorf("%+v", c)
	}
	if got := strings.Join(b.Metrics, " "); got != "allocations bytes peak live libc cpu" {
		t.Error(got)
	}
	if line := f.Place(b); line != 4 {
		t.Error(line)
	}
	two := f.Benchmark("two words")
	if two.Shell != "./tool | cat" || two.Limit != DefaultLimit || two.Exit != 0 {
		t.Errorf("%+v", two)
	}
}

// What is wrong is named with its line and column.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[benchmark.a":                                 "1:12: expected",
		"x = 1\nx = 2":                                 "2:1: ",
		"[benchmark.a]\ncommand = 3":                   "2:11: command is a text for sh, or a list of a program and its arguments",
		"[benchmark.a]\ncommand = \" \"":               "2:11: the command is empty",
		"[benchmark.a]\ncommand = []":                  "2:11: command is a text",
		"[benchmark.a]\ncommand = [\"x\", 3]":          "2:17: command is a list of texts",
		"[benchmark.a]":                                `1:12: benchmark "a" has no command`,
		"[benchmark.a]\ncomand = \"x\"":                `2:1: unknown key "comand" of benchmark "a"; did you mean "command"?`,
		"[benchmark.a]\ncommand=\"x\"\nbuidl=\"make\"": `3:1: unknown key "buidl" of benchmark "a"`,
		"[benchmark.a]\ncommand=\"x\"\ntimelimit=3":    `3:1: unknown key "timelimit" of benchmark "a"; did you mean "time_limit"?`,
		"run = 3":        `1:1: unknown key "run"; did you mean "runs"?`,
		"runs = 0":       "1:8: runs is a whole number from 1 to 1000",
		"runs = 2.5":     "1:8: runs is a whole number",
		"runs = \"3\"":   "1:8: runs is a whole number",
		"[runs]\nx = 1":  "1:2: runs is no table",
		"benchmark = 3":  "1:1: benchmark is a table",
		"benchmark.a= 3": "1:1: benchmark.a is a table",
		"[[benchmark]]":  "1:3: a list of tables",
		"[benchmark.a]\ncommand=\"x\"\ntime_limit=\"-1s\"":                      "3:12: time_limit is a time",
		"[benchmark.a]\ncommand=\"x\"\ntime_limit=nan":                          "3:12: time_limit is a time",
		"[benchmark.a]\ncommand=\"x\"\nenv={\"A=B\"=\"c\"}":                     `3:6: "A=B" cannot be the name of a variable`,
		"[benchmark.a]\ncommand=\"x\"\nenv={LD_PRELOAD=\"c\"}":                  "3:6: LD_PRELOAD is set by mallow",
		"[benchmark.a]\ncommand=\"x\"\nenv=[\"A=B\"]":                           "3:5: env is a table",
		"[benchmark.a]\ncommand=\"x\"\nwrappers=\"(\"":                          "3:10: \"(\" is no regular expression: error parsing regexp: missing closing )",
		"[benchmark.a]\ncommand=\"x\"\nmetrics=[\"allocs\"]":                    `3:9: there is no metric "allocs"`,
		"[benchmark.a]\ncommand=\"x\"\nmetrics=[]":                              "3:9: metrics is empty, and nothing would be kept: there are allocations, bytes",
		"[benchmark.a]\ncommand=\"x\"\nmetrics=[\"peak\",\"peak\"]":             "3:9: metric \"peak\" stands there twice",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.budget]\nallocations=\"3\"": "4:13: allocations is a number from 0 up",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.budget]\nallocations=-3":    "4:13: allocations is a number",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.budget]\nallocations=[5,3]": "4:13: allocations is a number",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.budget]\nallocations=inf":   "4:13: allocations is a number",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.budget]\nallocs=3":          `4:1: unknown key "allocs" in the budget of a; there are allocations, bytes`,
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.budget.peak]\nx=3":          "3:21: peak is no table",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a.target]\npeak=\"small\"":    "4:6: the target of peak is a number",
		"[benchmark.\"a\\nb\"]\ncommand=\"x\"":                                  "1:12: the name of a benchmark is one line",
		"[benchmark.a]\ncommand=\"x\"\nstdin=\"a\\u0000b\"":                     "3:7: stdin is a text",
		"[benchmark.a]\ncommand=\"x\"\n[benchmark.a]\ncommand=\"y\"":            "3:",
		"\xff":                                   "1:1: ",
		"\ufeffruns = 0":                         "1:8: runs is a whole number",
		"\ufeffruns =":                           "1:6: expected value",
		"[benchmark.a]\ncommand=\"x\"\nexit=256": "3:6: exit is a whole number from 0 to 255",
		"[benchmark.a]\ncommand=\"x\"\nclean_env=1": "3:11: clean_env is true or false",
	} {
		_, err := Parse(FileName, []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "mallow.toml:"+want) {
			t.Errorf("%q\n gives %v\n not mallow.toml:%s", text, err, want)
		}
	}
}

// All but the values stays as it is.
func TestUpdate(t *testing.T) {
	f := parsed(t, example)
	changed, err := f.Update("parse", []Figure{{Allocations, 129, 129}, {Bytes, 26_600_000, 29_800_000.5}, {Peak, 1000, 1024}})
	if err != nil || strings.Join(changed, " ") != "allocations bytes" {
		t.Fatal(changed, err)
	}
	want := strings.Replace(example, "33_961 ", "129 ", 1)
	want = strings.Replace(want, "peak = [1_000, 1_024]\n", "peak = [1_000, 1_024]\nbytes = [26_600_000, 29800000.5]\n", 1)
	if got := string(f.Text()); got != want {
		t.Errorf("written:\n%s", got)
	}
	if f.Benchmark("parse").Figure(Bytes) == nil {
		t.Error("the file in memory is another one than the text")
	}
	if _, err := f.Update("two words", []Figure{{Peak, 1, 2}, {Allocations, 0, 0}}); err != nil {
		t.Fatal(err)
	}
	want += "\n[benchmark.\"two words\".budget]\nallocations = 0\npeak = [1, 2]\n"
	if got := string(f.Text()); got != want {
		t.Errorf("written:\n%s", got)
	}
	if changed, err := f.Update("two words", []Figure{{Peak, 1, 2}}); len(changed) > 0 || err != nil {
		t.Error("the same again changes", changed, err)
	}
}

func TestUpdateElsewhere(t *testing.T) {
	for _, test := range []struct{ before, after string }{
		{"[benchmark.a]\ncommand='x'", "[benchmark.a]\ncommand='x'\n\n[benchmark.a.budget]\nallocations = 7\n"},
		{"[benchmark.a]\r\ncommand='x'\r\n", "[benchmark.a]\r\ncommand='x'\r\n\r\n[benchmark.a.budget]\r\nallocations = 7\r\n"},
		{"[benchmark.a]\ncommand='x'\nbudget = { allocations = [ 3, 9 ] } # so\n", "[benchmark.a]\ncommand='x'\nbudget = { allocations = 7 } # so\n"},
		{"[benchmark.a]\ncommand='x'\nbudget.allocations = 3\n", "[benchmark.a]\ncommand='x'\nbudget.allocations = 7\n"},
		{"[benchmark.a]\ncommand='x'\nbudget.peak = 3\n", "3:1: figures cannot be added here"},
		{"benchmark.a.command='x'\n", "1:1: figures cannot be added here"},
		{"\ufeff[benchmark.a]\ncommand='x'\nbudget = { allocations = 3 }\n", "\ufeff[benchmark.a]\ncommand='x'\nbudget = { allocations = 7 }\n"},
		{
			"[benchmark.a]\ncommand='x'\n[benchmark.a.target]\npeak = 3 # low\n\n# next\n[benchmark.b]\ncommand='y'\n",
			"[benchmark.a]\ncommand='x'\n[benchmark.a.target]\npeak = 3 # low\n\n[benchmark.a.budget]\nallocations = 7\n\n# next\n[benchmark.b]\ncommand='y'\n",
		},
	} {
		f := parsed(t, test.before)
		got := ""
		if _, err := f.Update("a", []Figure{{Allocations, 7, 7}}); err != nil {
			got = strings.TrimPrefix(err.Error(), "mallow.toml:")
		} else {
			got = string(f.Text())
		}
		if got != test.after && (!strings.HasSuffix(test.after, "here") || !strings.HasPrefix(got, test.after)) {
			t.Errorf("%q\n became %q\n not %q", test.before, got, test.after)
		}
	}
}

func TestFindAndWrite(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a/b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(inner); err == nil {
		t.Error("found one that is not there")
	}
	path := filepath.Join(root, FileName)
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(inner); found != path || err != nil {
		t.Error(found, err)
	}
	link := filepath.Join(inner, "link.toml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("runs = 3\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if text, _ := os.ReadFile(path); err != nil || string(text) != "runs = 3\n" || info.Mode() != 0o600 {
		t.Error(err, string(text), info.Mode())
	}
	if _, err := Read(inner); err == nil || !strings.HasSuffix(err.Error(), ": not a file") {
		t.Error(err)
	}
	if _, err := Read(path + "x"); err == nil || !strings.HasSuffix(err.Error(), ": there is no such budget") {
		t.Error(err)
	}
	if err := WriteFile(filepath.Join(root, "no/x"), nil); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("a.b = {c=[1,{d=2}]}\n[benchmark.'']\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse(FileName, text)
		if err != nil {
			return
		}
		for _, b := range file.Benchmarks {
			if _, err := file.Update(b.Name, []Figure{{Peak, 5, 6}}); err == nil {
				if got := file.Benchmark(b.Name).Figure(Peak); got == nil || got.Most != 6 {
					t.Fatalf("%q was not written", b.Name)
				}
			}
		}
	})
}
