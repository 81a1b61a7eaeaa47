package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestVerbs(t *testing.T) {
	built := make(map[string]bool)
	for _, newCommand := range commands {
		built[newCommand().Name()] = true
	}
	var help bytes.Buffer
	if code := run([]string{"help"}, &help, &help); code != 0 {
		t.Fatalf("help: %d", code)
	}
	for _, verb := range verbs {
		if built[verb] || verb == "help" {
			continue
		}
		var stdout, stderr bytes.Buffer
		code := run([]string{verb, "--any", "thing"}, &stdout, &stderr)
		if want := "mallow: mallow " + verb + " is not built yet (a program named " + verb + " needs mallow record -- " + verb + ")\n"; code != 1 || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%s: %d %q", verb, code, stderr.String())
		}
		if strings.Contains(help.String(), "\n  "+verb+" ") {
			t.Errorf("help lists %s", verb)
		}
	}
}

func TestHelp(t *testing.T) {
	for args, want := range map[string]string{
		"help":              "Usage:\n  mallow PROG ARGS\n",
		"help report":       "Usage:\n  mallow report [FLAGS] NAME.mallow...\n",
		"help history add":  "Usage:\n  mallow history add [FLAGS] NAME.mallow...\n",
		"help gate publish": "Usage:\n  mallow gate publish [FLAGS] [NAME=]GATE.json...\n",
		"help go test":      "] [GO FLAGS] [PACKAGES]\n",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(args), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), want) || stderr.Len() > 0 {
			t.Errorf("%s: %d, %s%s", args, code, stdout.String(), stderr.String())
		}
	}
	for args, want := range map[string]string{
		"help reprot":    "mallow: there is no verb reprot: mallow help lists them\n",
		"help go nosuch": "mallow: there is no verb go nosuch: mallow help go lists them\n",
		"help check":     "mallow: mallow check is not built yet (a program named check needs mallow record -- check)\n",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(args), &stdout, &stderr); code != 1 || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%s: %d, %s%s", args, code, stdout.String(), stderr.String())
		}
	}
}

// What a shell is told of words that begin so; the last line is what it may do
// besides.
func TestCompletion(t *testing.T) {
	const files, nothing = ":0", ":4"
	for line, want := range map[string]string{
		"rep":                       "report\tExplain a recording on one screen\n" + files,
		"./pr":                      files,
		"record ./pr":               files,
		"report nam":                files,
		"report --sort=":            "calls\nbytes\nsize\npeak\ntemporary\nlive\nwaste\ncpu\n" + nothing,
		"report --by f":             "function\n" + nothing,
		"report --format spe":       "speedscope\n" + nothing,
		"report --origin lib":       "libraries\nlibc\n" + nothing,
		"report --html x":           files,
		"top --sort l":              "live\n" + nothing,
		"completion ba":             "bash\n" + nothing,
		"help rep":                  "report\tExplain a recording on one screen\n" + nothing,
		"help history ad":           "add\tAdd what recordings counted as points of a benchmark\n" + nothing,
		"history export --format h": "hyperfine\n" + nothing,
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"__complete"}, strings.Fields(line)...), &stdout, &stderr)
		if got, _ := strings.CutSuffix(stdout.String(), "\n"); code != 0 || got != want {
			t.Errorf("%s: %d, %q, want %q", line, code, got, want)
		}
	}
	for _, args := range [][]string{{}, {"bash", "zsh"}} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"completion"}, args...), &stdout, &stderr)
		if code != 1 || stderr.String() != "mallow: completion takes one shell: mallow completion bash|zsh|fish\n" {
			t.Errorf("%q: %d, %q", args, code, stderr.String())
		}
	}
}

func TestTheDefaultVerb(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "",
		"ls -l":                    "record ls -l",
		"-o x.mallow ls -o y":      "record -o x.mallow ls -o y",
		"-ox.mallow report":        "refused",
		"-o report ls":             "record -o report ls",
		"--output=x report":        "refused",
		"--no-args report":         "refused",
		"-- report":                "record -- report",
		"report x.mallow":          "report x.mallow",
		"diff a b":                 "diff a b",
		"record -- report":         "record -- report",
		"--help":                   "--help",
		"--version":                "version",
		"./report":                 "record ./report",
		"__complete report --":     "__complete report --",
		"-o":                       "record -o",
		"--unknown-flag ls":        "record --unknown-flag ls",
		"-":                        "record -",
		"ls --json report compare": "record ls --json report compare",
	} {
		args, err := withDefaultVerb(newRootCommand(), strings.Fields(line))
		got := strings.Join(args, " ")
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("mallow %s: %q, want %q (%v)", line, got, want, err)
		}
	}
}

// A value that may be left out stands behind =, and help shows it so.
func TestOptionalValues(t *testing.T) {
	for line, want := range map[string]string{"help record": "--cpu[=HZ] ", "record --help": "--cpu[=HZ] ", "help report": "--pack[=FILE] "} {
		if _, help, _ := mallow(strings.Fields(line)...); !strings.Contains(help, want) || strings.Contains(help, "[=\"") {
			t.Errorf("%s does not show %s:\n%s", line, want, help)
		}
	}
	if _, _, stderr := mallow("report", "--pack", "made.mallowpack", "run.mallow"); !strings.Contains(stderr, "--pack=FILE") {
		t.Errorf("%q", stderr)
	}
}

func TestRateBehindABlank(t *testing.T) {
	for line, want := range map[string]string{
		"record --cpu 500 true": "mallow: 500: not found in PATH; did you mean --cpu=500?\n",
		"--cpu 500 true":        "mallow: 500: not found in PATH; did you mean --cpu=500?\n",
		"record --cpu nosuch":   "mallow: nosuch: not found in PATH\n",
		"record --cpu":          "mallow: no program given",
	} {
		var stdout, stderr bytes.Buffer
		run(strings.Fields(line), &stdout, &stderr)
		if !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("%s: %q, not %q", line, stderr.String(), want)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--cpu=-1 true":          "--cpu=-1: samples per second of CPU time, 1 to 10000",
		"--cpu=0 true":           "--cpu=0: samples",
		"--cpu=10001 true":       "--cpu=10001: samples",
		"--cpu=many true":        "invalid argument",
		"--log-limit 0 true":     "--log-limit takes a number of bytes from 64K on",
		"--log-limit=65535 true": "--log-limit takes",
		"--pid 1 --cpu":          "--cpu is for a program that mallow starts, not for one that runs",
		"--pid 1 --log":          "--log is for a program",
		"--pid 1 --per main":     "--per is for a program",
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"record"}, strings.Fields(args)...), &stdout, &stderr)
		if code != 125 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("record %s: %d, %q, want 125 and %q", args, code, stderr.String(), want)
		}
	}
}

// Mistakes with flags are told in words that say what to do.
func TestFlagsThatAreWrong(t *testing.T) {
	for args, want := range map[string]string{
		"compare --vs a --only b -- c":     "mallow: --only and --vs do not go together: give one of them\n",
		"gate --base main --no-base":       "mallow: --base and --no-base do not go together: give one of them\n",
		"report --json --format csv x":     "mallow: --format and --json do not go together: give one of them\n",
		"compare --rounds many -- c":       "mallow: invalid argument \"many\" for \"--rounds\" flag: it takes a whole number\n",
		"compare --seed -1 -- c":           "mallow: invalid argument \"-1\" for \"--seed\" flag: it takes a whole number from 0 up\n",
		"compare --limit 5 -- c":           "mallow: invalid argument \"5\" for \"--limit\" flag: it takes a time with its unit, such as 90s or 10m\n",
		"compare --limit x -- c":           "mallow: invalid argument \"x\" for \"--limit\" flag: it takes a time with its unit, such as 90s or 10m\n",
		"gate --no-base=maybe":             "mallow: invalid argument \"maybe\" for \"--no-base\" flag: it takes true or false\n",
		"lib now":                          "mallow: mallow lib takes no arguments, and \"now\" is one\n",
		"history rescue -o a b":            "mallow: mallow history rescue takes no arguments, and \"b\" is one\n",
		"go test --exact-seconds long":     "mallow: invalid argument \"long\" for \"--exact-seconds\" flag: it takes a number\n",
		"go test --exact-seconds nan":      "mallow: --exact-seconds takes a number above 0\n",
		"go fix --exact-seconds -1":        "mallow: --exact-seconds takes a number above 0\n",
		"go gate --exact-seconds 0":        "mallow: --exact-seconds takes a number above 0\n",
		"go diff --exact-seconds nan HEAD": "mallow: --exact-seconds takes a number above 0\n",
		"go test --within -1s":             "mallow: --within takes a time from 0 up\n",
		"report --sort name nosuch":        "mallow: invalid argument \"name\" for \"--sort\" flag: must be calls, bytes",
		"gate --runs 99999999999999999999": "value out of range\n",
	} {
		var stdout, stderr bytes.Buffer
		code := run(strings.Fields(args), &stdout, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: %d, %q, want %q", args, code, stderr.String(), want)
		}
	}
}

// An empty value is that of a variable which a script did not set: it would
// choose everything, or nothing, or be as if the flag were not there.
func TestFlagsThatAreEmpty(t *testing.T) {
	for _, args := range []string{
		"report --thread= r", "report --region= r", "report --phase= r", "report --origin= r", "report --module= r",
		"report --include= r", "report --exclude= r", "report --wrapper= r", "report --html= r", "report --pack= r",
		"diff --html= r r", "diff --per= r r", "log --site= r", "log --wrapper= r", "import --output= r", "history --db= ", "history --html= --db r",
		"history add --benchmark= r", "history export --output=", "compare --only= -- c", "compare --plot= -- c", "compare --input= -- c", "gate --save=",
		"record --benchmark= true", "record --output= true", "record --per= true", "run --control= true",
	} {
		var stdout, stderr bytes.Buffer
		want := 1
		if strings.HasPrefix(args, "record") || strings.HasPrefix(args, "run") {
			want = 125
		}
		code := run(strings.Fields(args), &stdout, &stderr)
		if code != want || !strings.HasPrefix(stderr.String(), `mallow: invalid argument "" for "`) ||
			!strings.HasSuffix(stderr.String(), "flag: it is empty; leave the flag out where there is nothing to say\n") || stdout.Len() > 0 {
			t.Errorf("%s: %d, %q%q", args, code, stdout.String(), stderr.String())
		}
	}
	var help bytes.Buffer
	if run([]string{"log", "--help"}, &help, &help); strings.Contains(help.String(), "(default [])") {
		t.Error(help.String())
	}
	for _, args := range []string{"go diff --bench= --no-such", "history add --build= --no-such", "gate publish --summary= --no-such"} {
		var stdout, stderr bytes.Buffer
		if run(strings.Fields(args), &stdout, &stderr); stderr.String() != "mallow: unknown flag: --no-such\n" {
			t.Errorf("%s: %q", args, stderr.String())
		}
	}
}

func TestLogRefuses(t *testing.T) {
	for _, args := range []string{"--from -1", "--to -1", "--from nan", "--to nan", "--from 2 --to 1"} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"log", "nosuch.mallow"}, strings.Fields(args)...), &stdout, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "--from and --to take") {
			t.Errorf("log %s: %d, %q", args, code, stderr.String())
		}
	}
}
