// Package ci runs what packaging/ brings for GitHub Actions and GitLab's CI, step by step as their runners do, against
// APIs that are played on loopback.
package ci_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"mallow/internal/forge/forgetest"
	"mallow/test/harness"
)

// action is a composite action.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Run, Shell string
			Directory                      string `yaml:"working-directory"`
			Env, With                      map[string]string
		}
	}
}

func readYAML(t *testing.T, into any, path ...string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{harness.Root()}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// job is a job of GitHub Actions: the folders that its steps share, and what became of it.
type job struct {
	t         *testing.T
	workspace string
	temp      string
	cache     string            // folder of the caches, which lasts longer than a job
	variables map[string]string // of the environment, beside those of every job
	inputs    map[string]string // of the action

	log         string
	summary     string
	annotations []string          // commands error, warning and notice, as the runner would take them
	outputs     map[string]string // of the action
	status      int
	saved       []string // keys of the caches that were saved
}

func newJob(t *testing.T, server *forgetest.Server, event string) *job {
	t.Helper()
	j := &job{t: t, workspace: t.TempDir(), temp: t.TempDir(), cache: t.TempDir(), inputs: map[string]string{}}
	j.variables = map[string]string{
		"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_API_URL": server.URL, "GITHUB_SERVER_URL": "https://github.example",
		"GITHUB_REPOSITORY": "demo/demo", "GITHUB_REPOSITORY_OWNER": "demo", "GITHUB_WORKSPACE": j.workspace,
		"GITHUB_SHA": "5555555555555555555555555555555555555555", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_HEAD_REF": "copy",
		"GITHUB_BASE_REF": "main", "GITHUB_EVENT_NAME": strings.TrimSuffix(event, "_fork"), "GITHUB_RUN_ID": "100", "GITHUB_RUN_NUMBER": "12",
		"GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "gate", "GITHUB_WORKFLOW": "gate", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_TEMP": j.temp,
		"GITHUB_EVENT_PATH": filepath.Join(harness.Root(), "internal", "forge", "testdata", event+".json"),
	}
	if event == "push" {
		j.variables["GITHUB_REF"] = "refs/heads/main"
	}
	return j
}

// run runs the action in packaging/github as the runner does: each step in a shell of its own, until one fails.
func (j *job) run() {
	j.t.Helper()
	folder := filepath.Join(harness.Root(), "packaging", "github")
	var a action
	readYAML(j.t, &a, "packaging", "github", "action.yml")
	if a.Runs.Using != "composite" {
		j.t.Fatalf("using %q", a.Runs.Using)
	}
	summary := filepath.Join(j.temp, "summary")
	names := map[string]string{"github.token": forgetest.Token, "runner.temp": j.temp, "runner.os": "Linux", "runner.arch": "X64",
		"github.run_id": j.variables["GITHUB_RUN_ID"], "github.run_attempt": j.variables["GITHUB_RUN_ATTEMPT"], "github.event_name": j.variables["GITHUB_EVENT_NAME"]}
	known := func(name string) (string, bool) {
		value, ok := names[name]
		return value, ok || strings.HasPrefix(name, "steps.")
	}
	for input, i := range a.Inputs {
		names["inputs."+input] = expand(j.t, i.Default, known)
	}
	for input, value := range j.inputs {
		if _, there := a.Inputs[input]; !there {
			j.t.Fatalf("no input %s", input)
		}
		names["inputs."+input] = value
	}
	j.status, j.outputs = 0, map[string]string{}
	for number, step := range a.Runs.Steps {
		if step.If != "" && !truth(evaluate(j.t, step.If, known)) {
			continue
		}
		with := make(map[string]string)
		for name, value := range step.With {
			with[name] = expand(j.t, value, known)
		}
		switch step.Uses {
		case "":
		case "actions/cache/restore@v4":
			j.restore(with)
			continue
		case "actions/cache/save@v4":
			j.save(with)
			continue
		default:
			j.t.Fatalf("%s is not known here", step.Uses)
		}
		if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			j.t.Fatalf("step %q: what an expression stands for is executed in a script: hand it over in env", step.Name)
		}
		environment := maps.Clone(j.variables)
		environment["GITHUB_ACTION_PATH"] = folder
		for name, value := range step.Env {
			environment[name] = expand(j.t, value, known)
		}
		outputs := filepath.Join(j.temp, fmt.Sprint("output-", number))
		for name, file := range map[string]string{"GITHUB_OUTPUT": outputs, "GITHUB_STEP_SUMMARY": summary,
			"GITHUB_ENV": filepath.Join(j.temp, fmt.Sprint("env-", number)), "GITHUB_PATH": filepath.Join(j.temp, fmt.Sprint("path-", number)),
			"GITHUB_STATE": filepath.Join(j.temp, fmt.Sprint("state-", number))} {
			environment[name] = file
			j.touch(file)
		}
		j.status = j.step(step.Run, filepath.Join(j.workspace, expand(j.t, step.Directory, known)), environment)
		for name, value := range j.readOutputs(outputs) {
			names["steps."+step.ID+".outputs."+name] = value
		}
		if j.status != 0 {
			break
		}
	}
	for output, o := range a.Outputs {
		j.outputs[output] = expand(j.t, o.Value, known)
	}
	content, _ := os.ReadFile(summary)
	j.summary = string(content)
	os.Remove(summary)
}

func (j *job) touch(file string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		j.t.Fatal(err)
	}
	f.Close()
}

// step runs a script as `shell: bash` does.
func (j *job) step(script, directory string, environment map[string]string) int {
	file := filepath.Join(j.temp, "script.sh")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		j.t.Fatal(err)
	}
	output, status := shell(j.t, directory, environment, "--noprofile", "--norc", "-e", "-o", "pipefail", file)
	j.log += output
	j.annotations = append(j.annotations, commands(output)...)
	return status
}

// shell runs bash with that environment and returns what it wrote to both outputs.
func shell(t *testing.T, directory string, environment map[string]string, arguments ...string) (output string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, "/bin/bash", arguments...)
	command.Dir = directory
	command.Env = harness.Environment()
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	command.WaitDelay = time.Minute
	content, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, content)
	}
	return string(content), command.ProcessState.ExitCode()
}

// readOutputs reads NAME=VALUE lines, the only form in use.
func (j *job) readOutputs(file string) map[string]string {
	content, err := os.ReadFile(file)
	if err != nil {
		j.t.Fatal(err)
	}
	outputs := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			j.t.Fatalf("output %q", line)
		}
		outputs[name] = value
	}
	return outputs
}

// commands are those that the runner takes out of a log: lines that begin with :: and, of the old form, lines with ##[.
func commands(output string) []string {
	var found []string
	stopped := ""
	for scanner := bufio.NewScanner(strings.NewReader(output)); scanner.Scan(); {
		line := strings.TrimSpace(scanner.Text())
		switch {
		case stopped != "":
			if line == "::"+stopped+"::" {
				stopped = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			stopped = strings.TrimPrefix(line, "::stop-commands::")
		case strings.HasPrefix(line, "::"), strings.Contains(line, "##["):
			found = append(found, line)
		}
	}
	return found
}

func (j *job) restore(with map[string]string) {
	keys, err := filepath.Glob(filepath.Join(j.cache, with["restore-keys"]+"*"))
	if err != nil {
		j.t.Fatal(err)
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	os.RemoveAll(with["path"])
	if err := os.CopyFS(with["path"], os.DirFS(keys[len(keys)-1])); err != nil {
		j.t.Fatal(err)
	}
}

func (j *job) save(with map[string]string) {
	if !strings.HasPrefix(with["key"], "mallow-history-") {
		j.t.Fatalf("key %q", with["key"])
	}
	if _, err := os.Stat(with["path"]); err != nil {
		return // the runner warns
	}
	j.saved = append(j.saved, with["key"])
	if err := os.CopyFS(filepath.Join(j.cache, with["key"]), os.DirFS(with["path"])); err != nil {
		j.t.Fatal(err)
	}
}

var hidden = regexp.MustCompile(`^<!-- mallow [a-z]+ run [0-9]+\.[0-9]+ -->\n## mallow gate: `)

// standIn is a mallow whose gate has found what the test says, and whose programs print what they should not; publish is
// the true one.
const standIn = `#!/bin/bash
case "$1 $2" in
  "version ") echo stand-in ;;
  "history import") cp "$3" "$STAND_IN/points" ;;
  "history export") { cat "$STAND_IN/points" 2>/dev/null; echo "$GITHUB_RUN_ID$CI_JOB_ID"; } >"$4" ;;
  "gate --save")
    printf '%s\n' "${@:4}" >"$STAND_IN/arguments"
    pwd >"$STAND_IN/folder"
    env >"$STAND_IN/environment"
    echo "::error file=src/forged.c,line=1::a program says so"
    echo "##[error]and so"
    [ -z "$STAND_IN_RESULT" ] || sed "s|/src/demo|${GITHUB_WORKSPACE:-$CI_PROJECT_DIR}|g" "$STAND_IN_RESULT" >"$3"
    echo -n "its last line has no end"
    exit "$STAND_IN_STATUS" ;;
  *) exec "$MALLOW_ITSELF" "$@" ;;
esac
`

// useStandIn gives the job a mallow whose gate ends with that status and result, one of internal/report/ci/testdata.
func useStandIn(t *testing.T, variables map[string]string, result string, status int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "mallow"), []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	variables["STAND_IN"] = folder
	variables["STAND_IN_STATUS"] = fmt.Sprint(status)
	variables["STAND_IN_RESULT"] = ""
	if result != "" {
		variables["STAND_IN_RESULT"] = filepath.Join(harness.Root(), "internal", "report", "ci", "testdata", result+".json")
	}
	variables["MALLOW_ITSELF"] = harness.CLI(t)
	return folder
}

func (j *job) standIn(result string, status int) (folder string) {
	folder = useStandIn(j.t, j.variables, result, status)
	j.inputs["mallow"] = filepath.Join(folder, "mallow")
	return folder
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

func lacks(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s has %q:\n%s", what, part, text)
		}
	}
}

const headline = "## mallow gate: 1 check failed, 2 regressions, 1 improvement, 1 target reached, 2 kept\n"

func TestRegressionsOfAPullRequest(t *testing.T) {
	server := forgetest.GitHub(t)
	server.Anonymous = true
	j := newJob(t, server, "pull_request")
	stand := j.standIn("regressions", 2)
	j.inputs["arguments"] = "insert\n--base\na branch; touch bad\n"
	j.run()
	if j.status != 2 || j.outputs["status"] != "2" {
		t.Errorf("status %d, output %q\n%s", j.status, j.outputs["status"], j.log)
	}
	contains(t, "the summary", j.summary, headline, "[`make_row src/row.c:118`](https://github.example/demo/demo/blob/2222222222222222222222222222222222222222/src/row.c#L118)")
	own := server.Own()
	if len(own) != 1 || !hidden.MatchString(own[0]) {
		t.Fatalf("comments %q\n%s", own, j.log)
	}
	contains(t, "the comment", own[0], headline, "[log](https://github.example/demo/demo/actions/runs/100)", "commit `222222222222`")
	if len(j.annotations) != 6 {
		t.Errorf("%d annotations: %q", len(j.annotations), j.annotations)
	}
	for _, a := range j.annotations {
		if !strings.HasPrefix(a, "::error ") && !strings.HasPrefix(a, "::notice ") || strings.Contains(a, "forged") {
			t.Errorf("annotation %q", a)
		}
	}
	contains(t, "JUnit's file", read(t, j.outputs["junit"]), `tests="7" failures="2" errors="1"`)
	contains(t, "the result", read(t, j.outputs["result"]), `"mallow.gate/1"`)
	if got, want := read(t, stand, "arguments"), "insert\n--base\na branch; touch bad\n"; got != want {
		t.Errorf("arguments %q, and not %q", got, want)
	}
	lacks(t, "the environment of the benchmarks", read(t, stand, "environment"), forgetest.Token, "GITHUB_OUTPUT=", "GITHUB_ENV=", "GITHUB_STEP_SUMMARY=")
	lacks(t, "the log", j.log, forgetest.Token)
	if len(j.saved) > 0 {
		t.Errorf("a pull request saved %q", j.saved)
	}
}

// Re-runs and later pushes leave one comment, which says what the last one found.
func TestRunsAgain(t *testing.T) {
	server := forgetest.GitHub(t)
	j := newJob(t, server, "pull_request")
	for _, again := range []struct{ run, attempt, result, headline string }{
		{"100", "1", "kept", ""}, // nobody wants to be told
		{"100", "2", "regressions", headline},
		{"101", "1", "regressions", headline},
		{"100", "3", "none", headline}, // an old run that is run again
		{"102", "1", "kept", "## mallow gate: 1 kept\n"},
	} {
		j.variables["GITHUB_RUN_ID"], j.variables["GITHUB_RUN_ATTEMPT"] = again.run, again.attempt
		j.standIn(again.result, 0)
		j.run()
		own := server.Own()
		switch {
		case j.status != 0:
			t.Fatalf("status %d\n%s", j.status, j.log)
		case again.headline == "" && len(own) == 0:
		case len(own) != 1 || !strings.Contains(own[0], again.headline):
			t.Errorf("after run %s.%s: %q", again.run, again.attempt, own)
		}
	}
	if all := server.Comments(); len(all) != 1 {
		t.Errorf("%d comments", len(all))
	}
}

// The token of a change from a fork may not write: the summary has it all, and says why there is no comment.
func TestForks(t *testing.T) {
	server := forgetest.GitHub(t)
	server.ReadOnly, server.Anonymous = true, true
	j := newJob(t, server, "pull_request_fork")
	j.standIn("regressions", 2)
	j.run()
	if j.status != 2 || len(server.Comments()) > 0 {
		t.Errorf("status %d, comments %v", j.status, server.Comments())
	}
	contains(t, "the summary", j.summary, headline, "no comment: the forge does not allow it: Resource not accessible by integration (status 403)")
	contains(t, "the log", j.log, "mallow: no comment: ")
}

func TestNoPullRequest(t *testing.T) {
	server := forgetest.GitHub(t)
	j := newJob(t, server, "push")
	j.standIn("regressions", 2)
	j.run()
	if j.status != 2 || len(server.Requests()) > 0 {
		t.Errorf("status %d, requests %q", j.status, server.Requests())
	}
	contains(t, "the summary", j.summary, headline)
	lacks(t, "the summary", j.summary, "no comment")
}

func TestForgeIsDown(t *testing.T) {
	server := forgetest.GitHub(t)
	server.Broken = "<html>"
	j := newJob(t, server, "pull_request")
	j.standIn("kept", 0)
	j.run()
	if j.status != 0 {
		t.Errorf("status %d\n%s", j.status, j.log)
	}
	contains(t, "the summary", j.summary, "no comment: the forge does not answer: ")
}

// The history of the branch comes with the cache, and goes on in it.
func TestHistoryIsCarried(t *testing.T) {
	server := forgetest.GitHub(t)
	j := newJob(t, server, "push")
	for _, run := range []string{"100", "101", "102"} {
		j.variables["GITHUB_RUN_ID"] = run
		j.temp = t.TempDir() // another machine
		j.variables["RUNNER_TEMP"] = j.temp
		j.standIn("kept", 0)
		j.run()
		if j.status != 0 {
			t.Fatalf("status %d\n%s", j.status, j.log)
		}
	}
	if len(j.saved) != 3 {
		t.Fatalf("saved %q", j.saved)
	}
	if got := read(t, j.cache, j.saved[2], "points"); got != "100\n101\n102\n" {
		t.Errorf("the history is %q", got)
	}
}

func TestSettings(t *testing.T) {
	server := forgetest.GitHub(t)
	j := newJob(t, server, "pull_request")
	stand := j.standIn("regressions", 4)
	if err := os.Mkdir(filepath.Join(j.workspace, "a b"), 0o755); err != nil {
		t.Fatal(err)
	}
	maps.Copy(j.inputs, map[string]string{"strict": "true", "comment": "false", "history": "false", "directory": "a b", "name": "gate.gcc-12"})
	j.run()
	if j.status != 4 || len(server.Requests()) > 0 {
		t.Errorf("status %d, requests %q\n%s", j.status, server.Requests(), j.log)
	}
	if got := read(t, stand, "arguments"); got != "--strict\n" {
		t.Errorf("arguments %q", got)
	}
	if got := read(t, stand, "folder"); got != filepath.Join(j.workspace, "a b")+"\n" {
		t.Errorf("folder %q", got)
	}
	contains(t, "JUnit's file", read(t, j.outputs["junit"]), `tests="7" failures="3" errors="1"`)
}

func TestGateWithoutResult(t *testing.T) {
	server := forgetest.GitHub(t)
	j := newJob(t, server, "pull_request")
	j.standIn("", 1)
	j.run()
	if j.status != 1 || j.outputs["result"] != "" || j.summary != "" || len(server.Requests()) > 0 {
		t.Errorf("status %d, result %q, summary %q, requests %q", j.status, j.outputs["result"], j.summary, server.Requests())
	}
	contains(t, "the log", j.log, "mallow gate left no result: its step says why.")
}

func TestNoMallow(t *testing.T) {
	j := newJob(t, forgetest.GitHub(t), "pull_request")
	j.inputs["mallow"] = "no/such/mallow"
	j.run()
	if j.status == 0 {
		t.Error("status 0")
	}
	contains(t, "the log", j.log, "no/such/mallow: No such file or directory")
}
