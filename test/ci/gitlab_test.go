package ci_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/forge/forgetest"
)

// template is the job of packaging/gitlab that others extend.
type template struct {
	Variables map[string]string
	Script    []string
	Rules     []struct {
		If        string
		Variables map[string]string
	}
	Cache struct {
		Key, Policy string
		Paths       []string
	}
	Artifacts struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

// gitlabJob is a job of GitLab's CI that extends the template.
type gitlabJob struct {
	t         *testing.T
	template  template
	project   string
	variables map[string]string
	log       string
	status    int
}

func newGitLabJob(t *testing.T, server *forgetest.Server) *gitlabJob {
	t.Helper()
	var jobs map[string]template
	readYAML(t, &jobs, "packaging", "gitlab", "mallow.gitlab-ci.yml")
	j := &gitlabJob{t: t, template: jobs[".mallow-gate"], project: t.TempDir()}
	j.variables = map[string]string{
		"CI": "true", "GITLAB_CI": "true", "CI_API_V4_URL": server.URL, "CI_PROJECT_ID": "42", "CI_PROJECT_URL": "https://gitlab.example/demo/demo",
		"CI_PROJECT_DIR": j.project, "CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_PROJECT_ID": "42",
		"CI_COMMIT_SHA": "5555555555555555555555555555555555555555", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "2222222222222222222222222222222222222222",
		"CI_PIPELINE_ID": "100", "CI_JOB_ID": "1", "CI_JOB_URL": "https://gitlab.example/demo/demo/-/jobs/1",
		"CI_MERGE_REQUEST_SOURCE_PROJECT_URL": "https://gitlab.example/demo/demo", "MALLOW_GITLAB_TOKEN": forgetest.Token,
	}
	return j
}

// run runs the script as the runner does: all lines in one shell that ends at the first that fails.
func (j *gitlabJob) run() {
	j.t.Helper()
	environment := maps.Clone(j.template.Variables)
	maps.Copy(environment, j.variables)
	script := "set -eo pipefail\n" + strings.Join(j.template.Script, "\n")
	j.log, j.status = shell(j.t, j.project, environment, "-c", script)
}

func (j *gitlabJob) file(path string) string { return read(j.t, j.project, path) }

func TestRegressionsOfAMergeRequest(t *testing.T) {
	server := forgetest.GitLab(t)
	j := newGitLabJob(t, server)
	stand := useStandIn(t, j.variables, "regressions", 2)
	j.variables["MALLOW"] = filepath.Join(stand, "mallow")
	j.variables["MALLOW_ARGUMENTS"] = "insert --strict"
	j.run()
	if j.status != 2 {
		t.Errorf("status %d\n%s", j.status, j.log)
	}
	own := server.Own()
	if len(own) != 1 || !hidden.MatchString(own[0]) {
		t.Fatalf("notes %q\n%s", own, j.log)
	}
	contains(t, "the note", own[0], headline, "(https://gitlab.example/demo/demo/-/blob/2222222222222222222222222222222222222222/src/row.c#L118)")
	contains(t, "the page", j.file(".mallow/gate.md"), headline)
	contains(t, "JUnit's file", j.file(j.template.Artifacts.Reports["junit"]), `tests="7" failures="2" errors="1"`)
	contains(t, "the metrics", j.file(j.template.Artifacts.Reports["metrics"]), "mallow_allocations{benchmark=\"insert\"} 204998\n", "# EOF\n")
	var issues []struct {
		Location struct{ Path string }
	}
	if err := json.Unmarshal([]byte(j.file(j.template.Artifacts.Reports["codequality"])), &issues); err != nil || len(issues) != 4 || issues[1].Location.Path != "src/row.c" {
		t.Errorf("%v: %+v", err, issues)
	}
	if got, want := read(t, stand, "arguments"), "insert\n--strict\n"; got != want {
		t.Errorf("arguments %q, and not %q", got, want)
	}
	lacks(t, "the environment of the benchmarks", read(t, stand, "environment"), forgetest.Token)
	for _, path := range append(j.template.Artifacts.Paths, j.template.Cache.Paths...) {
		if _, err := os.Stat(filepath.Join(j.project, path)); err != nil {
			t.Error(err)
		}
	}
}

func TestMergeRequestAgain(t *testing.T) {
	server := forgetest.GitLab(t)
	j := newGitLabJob(t, server)
	for _, again := range []struct{ pipeline, job, result, headline string }{
		{"100", "1", "regressions", headline},
		{"100", "2", "regressions", headline},
		{"101", "3", "kept", "## mallow gate: 1 kept\n"},
		{"100", "4", "regressions", "## mallow gate: 1 kept\n"},
	} {
		j.variables["CI_PIPELINE_ID"], j.variables["CI_JOB_ID"] = again.pipeline, again.job
		j.variables["MALLOW"] = filepath.Join(useStandIn(t, j.variables, again.result, 0), "mallow")
		j.run()
		if own := server.Own(); j.status != 0 || len(own) != 1 || !strings.Contains(own[0], again.headline) {
			t.Errorf("after pipeline %s: status %d, %q\n%s", again.pipeline, j.status, own, j.log)
		}
	}
	if got := j.file(".mallow/history/points"); got != "1\n2\n3\n4\n" {
		t.Errorf("the history is %q", got)
	}
}

// The pipelines of forks have no token, and a token may be too weak.
func TestGitLabWithoutToken(t *testing.T) {
	for token, why := range map[string]string{
		"": "MALLOW_GITLAB_TOKEN is not set", "wrong": "Bad credentials (status 401)",
	} {
		server := forgetest.GitLab(t)
		j := newGitLabJob(t, server)
		j.variables["MALLOW"] = filepath.Join(useStandIn(t, j.variables, "regressions", 2), "mallow")
		j.variables["MALLOW_GITLAB_TOKEN"] = token
		j.run()
		if j.status != 2 || len(server.Comments()) > 0 {
			t.Errorf("status %d, notes %v\n%s", j.status, server.Comments(), j.log)
		}
		contains(t, "the page", j.file(".mallow/gate.md"), headline, "no comment: the forge does not allow it:")
		contains(t, "the log", j.log, why)
	}
}

func TestGitLabGateWithoutResult(t *testing.T) {
	server := forgetest.GitLab(t)
	j := newGitLabJob(t, server)
	j.variables["MALLOW"] = filepath.Join(useStandIn(t, j.variables, "", 1), "mallow")
	j.run()
	if j.status != 1 || len(server.Requests()) > 0 {
		t.Errorf("status %d, requests %q\n%s", j.status, server.Requests(), j.log)
	}
}

// Only the default branch writes the cache.
func TestWhoKeepsTheHistory(t *testing.T) {
	j := newGitLabJob(t, forgetest.GitLab(t))
	if policy := j.template.Variables["MALLOW_CACHE_POLICY"]; policy != "pull" || j.template.Cache.Policy != "$MALLOW_CACHE_POLICY" {
		t.Errorf("policy %q", policy)
	}
	for _, rule := range j.template.Rules {
		if policy, set := rule.Variables["MALLOW_CACHE_POLICY"]; set && (policy != "pull-push" || rule.If != "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH") {
			t.Errorf("%+v", rule)
		}
	}
}
