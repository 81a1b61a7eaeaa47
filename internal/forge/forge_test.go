package forge

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mallow/internal/forge/forgetest"
)

// github is the environment of a run that an event has begun.
func github(s *forgetest.Server, event string, more map[string]string) Environment {
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": s.URL, "GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "demo/demo",
		"GITHUB_WORKSPACE": "/src/demo", "GITHUB_SHA": "5555555555555555555555555555555555555555", "GITHUB_REF": "refs/heads/x",
		"GITHUB_RUN_ID": "100", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_TOKEN": forgetest.Token, "GITHUB_EVENT_PATH": filepath.Join("testdata", event+".json"),
	}
	return with(env, more)
}

func gitlab(s *forgetest.Server, more map[string]string) Environment {
	env := map[string]string{
		"GITLAB_CI": "true", "CI_API_V4_URL": s.URL, "CI_PROJECT_ID": "42", "CI_PROJECT_URL": "https://gitlab.example/demo/demo", "CI_MERGE_REQUEST_IID": "7",
		"CI_MERGE_REQUEST_PROJECT_ID": "42", "CI_PROJECT_DIR": "/builds/demo/demo", "CI_COMMIT_SHA": "5555555555555555555555555555555555555555",
		"CI_PIPELINE_ID": "100", "CI_JOB_ID": "1", "CI_JOB_URL": "https://gitlab.example/demo/demo/-/jobs/1", "MALLOW_GITLAB_TOKEN": forgetest.Token,
		"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "2222222222222222222222222222222222222222", "CI_MERGE_REQUEST_SOURCE_PROJECT_URL": "https://gitlab.example/stranger/demo",
	}
	return with(env, more)
}

func with(env, more map[string]string) Environment {
	for name, value := range more {
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

// forges are both of them, each with a run of the order given.
var forges = map[string]struct {
	start func(testing.TB) *forgetest.Server
	find  func(t *testing.T, s *forgetest.Server, run, attempt string) *Request
}{
	"github": {forgetest.GitHub, func(t *testing.T, s *forgetest.Server, run, attempt string) *Request {
		return found(t)(GitHub(context.Background(), github(s, "pull_request", map[string]string{"GITHUB_RUN_ID": run, "GITHUB_RUN_ATTEMPT": attempt})))
	}},
	"gitlab": {forgetest.GitLab, func(t *testing.T, s *forgetest.Server, run, attempt string) *Request {
		return found(t)(GitLab(context.Background(), gitlab(s, map[string]string{"CI_PIPELINE_ID": run, "CI_JOB_ID": attempt})))
	}},
}

func found(t *testing.T) func(*Request, error) *Request {
	return func(r *Request, err error) *Request {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		impatient(r)
		return r
	}
}

// impatient waits for no busy server.
func impatient(r *Request) {
	wait := func(context.Context, time.Duration) error { return nil }
	switch in := r.in.(type) {
	case *githubPullRequest:
		in.wait = wait
	case *gitlabMergeRequest:
		in.wait = wait
	}
}

func put(t *testing.T, r *Request, name, body string, want Outcome) {
	t.Helper()
	got, err := r.Put(context.Background(), name, body)
	if err != nil || got != want {
		t.Fatalf("%v, %v, and not %v", got, err, want)
	}
}

func each(t *testing.T, test func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request)) {
	for name, f := range forges {
		t.Run(name, func(t *testing.T) {
			s := f.start(t)
			test(t, s, func(run, attempt string) *Request { return f.find(t, s, run, attempt) })
		})
	}
}

func own(t *testing.T, s *forgetest.Server, want ...string) {
	t.Helper()
	if got := s.Own(); !slices.Equal(got, want) {
		t.Errorf("comments %q, and not %q", got, want)
	}
}

func TestOneCommentIsUpdated(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		s.Add("somebody", "Nice.")
		put(t, find("100", "1"), "gate", "one", Created)
		s.Add("somebody", "What is this?")
		put(t, find("100", "1"), "gate", "one", Unchanged)
		put(t, find("100", "2"), "gate", "two", Updated)
		put(t, find("101", "1"), "gate", "three", Updated)
		own(t, s, "<!-- mallow gate run 101.1 -->\nthree")
		if got := len(s.Comments()); got != 3 {
			t.Errorf("%d comments", got)
		}
	})
}

func TestALaterRunStays(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		put(t, find("101", "1"), "gate", "new", Created)
		put(t, find("100", "3"), "gate", "old", Newer)
		own(t, s, "<!-- mallow gate run 101.1 -->\nnew")
	})
}

func TestNamesHaveCommentsOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		put(t, find("1", "1"), "gate", "a", Created)
		put(t, find("1", "1"), "gate.gcc-12", "b", Created)
		put(t, find("2", "1"), "gate", "c", Updated)
		own(t, s, "<!-- mallow gate run 2.1 -->\nc", "<!-- mallow gate.gcc-12 run 1.1 -->\nb")
		for _, name := range []string{"", "a b", "-->", "a\n", "-", "é"} {
			if _, err := find("1", "1").Put(context.Background(), name, "x"); err == nil {
				t.Errorf("%q is a name", name)
			}
		}
	})
}

func TestCommentsOfOthersStay(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		s.Add("somebody", "<!-- mallow gate run 1.1 -->\nforged")
		s.Add(forgetest.Me, "> <!-- mallow gate run 1.1 -->\n> quoted")
		put(t, find("2", "1"), "gate", "true", Created)
		if all := s.Comments(); len(all) != 3 || all[0].Body != "<!-- mallow gate run 1.1 -->\nforged" || !strings.HasPrefix(all[1].Body, ">") {
			t.Errorf("%v", all)
		}
	})
}

func TestReplaceBeginsNone(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		for _, want := range []Outcome{None, Updated} {
			got, err := find("2", "1").Replace(context.Background(), "gate", "nothing changed")
			if got != want || err != nil {
				t.Errorf("%v, %v, and not %v", got, err, want)
			}
			if want == None {
				own(t, s)
				put(t, find("1", "1"), "gate", "something changed", Created)
			}
		}
		own(t, s, "<!-- mallow gate run 2.1 -->\nnothing changed")
	})
}

// A forged number must not silence the gate for ever: only own comments count.
func TestForgedOrder(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		s.Add("somebody", "<!-- mallow gate run 99999999999999999999999999.1 -->\nforged")
		put(t, find("2", "1"), "gate", "true", Created)
		put(t, find("2", "2"), "gate", "truer", Updated)
	})
}

func TestRunsAtTheSameTime(t *testing.T) {
	for _, other := range []struct{ mark, want, left string }{
		{"<!-- mallow gate run 99.1 -->\nother", "created", "<!-- mallow gate run 100.1 -->\nmine"},
		{"<!-- mallow gate run 101.1 -->\nother", "newer", "<!-- mallow gate run 101.1 -->\nother"},
	} {
		each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
			s.BeforeCreate = func(s *forgetest.Server) { s.Add(forgetest.Me, other.mark) }
			put(t, find("100", "1"), "gate", "mine", Outcome(other.want))
			own(t, s, other.left)
		})
	}
}

func TestManyComments(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		for range 250 {
			s.Add("somebody", "+1")
		}
		put(t, find("1", "1"), "gate", "a", Created)
		put(t, find("2", "1"), "gate", "b", Updated)
		own(t, s, "<!-- mallow gate run 2.1 -->\nb")
	})
}

func TestDenied(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		s.ReadOnly = true
		_, err := find("1", "1").Put(context.Background(), "gate", "a")
		var denied *DeniedError
		if !errors.As(err, &denied) || !IsOutside(err) || !strings.Contains(err.Error(), "Resource not accessible by integration (status 403)") {
			t.Errorf("%v", err)
		}
		own(t, s)
	})
}

func TestBusy(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		s.Busy = 2
		put(t, find("1", "1"), "gate", "a", Created)
		s.Busy = 1000
		_, err := find("1", "1").Put(context.Background(), "gate", "b")
		if !IsOutside(err) || err.Error() != "the forge does not answer: Bad Gateway (status 502)" {
			t.Errorf("%v", err)
		}
		own(t, s, "<!-- mallow gate run 1.1 -->\na")
	})
}

// What is created is not created twice because the answer got lost.
func TestCreatedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		s.BeforeCreate = func(s *forgetest.Server) { s.Busy = 5 }
		_, err := find("1", "1").Put(context.Background(), "gate", "a")
		if !IsOutside(err) {
			t.Errorf("%v", err)
		}
		own(t, s, "<!-- mallow gate run 1.1 -->\na")
	})
}

func TestStrangeAnswers(t *testing.T) {
	for _, answer := range []string{"[]", "{}", "<html>", "null", `[{"id":-1}]`, "\x00", `{"login":3}`} {
		each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
			s.Broken = answer
			if _, err := find("1", "1").Put(context.Background(), "gate", "a"); err != nil && !IsOutside(err) {
				t.Errorf("%q: %v", answer, err)
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		put(t, find("18446744073709551615", "18446744073709551615"), "gate", strings.Repeat("x", PutRoom("gate")), Created)
		if _, err := find("1", "1").Put(context.Background(), "gate", strings.Repeat("x", LongestComment)); err == nil {
			t.Error("no error")
		}
	})
}

func TestWhichPullRequest(t *testing.T) {
	pulls, err := os.ReadFile("testdata/pulls.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		event string
		more  map[string]string
		want  string // error; "" for pull request 7
	}{
		{event: "pull_request"},
		{event: "pull_request_fork"},
		{event: "issue_comment"},
		{event: "workflow_run"},
		{event: "push", want: ErrNoRequest.Error()},
		{event: "push", more: map[string]string{"GITHUB_REF": "refs/pull/7/merge"}},
		{event: "none", more: map[string]string{"GITHUB_EVENT_PATH": ""}, want: ErrNoRequest.Error()},
		{event: "none", want: "the event of this run: open testdata/none.json: no such file or directory"},
		{event: "pull_request", more: map[string]string{"GITHUB_TOKEN": ""}, want: "the forge does not allow it: GITHUB_TOKEN is not set"},
		{event: "pull_request", more: map[string]string{"GITHUB_TOKEN": "", "GH_TOKEN": forgetest.Token}},
		{event: "pull_request", more: map[string]string{"GITHUB_REPOSITORY": "../x"}, want: `GITHUB_REPOSITORY is "../x", and not OWNER/NAME: this is no run of GitHub Actions`},
	} {
		s := forgetest.GitHub(t)
		s.Pulls = string(pulls)
		r, err := GitHub(context.Background(), github(s, test.event, test.more))
		switch {
		case test.want != "":
			if err == nil || err.Error() != test.want {
				t.Errorf("%s: %v, and not %s", test.event, err, test.want)
			}
		case err != nil:
			t.Errorf("%s: %v", test.event, err)
		default:
			put(t, r, "gate", "a", Created)
			if want := "POST /repos/demo/demo/issues/7/comments"; !slices.Contains(s.Requests(), want) {
				t.Errorf("%s: %q", test.event, s.Requests())
			}
		}
	}
}

// The token of a workflow may not ask who it is.
func TestTokenOfAWorkflow(t *testing.T) {
	s := forgetest.GitHub(t)
	s.Anonymous = true
	s.Add("somebody", "<!-- mallow gate run 1.1 -->\nforged")
	for run, want := range []Outcome{Created, Updated} {
		put(t, forges["github"].find(t, s, "10", string(rune('1'+run))), "gate", string(want), want)
	}
	own(t, s, "<!-- mallow gate run 10.2 -->\nupdated")
}

func TestNoMergeRequest(t *testing.T) {
	s := forgetest.GitLab(t)
	for _, test := range []struct {
		more map[string]string
		want string
	}{
		{map[string]string{"CI_MERGE_REQUEST_IID": ""}, ErrNoRequest.Error()},
		{map[string]string{"MALLOW_GITLAB_TOKEN": ""}, "the forge does not allow it: MALLOW_GITLAB_TOKEN is not set"},
		{map[string]string{"CI_API_V4_URL": ""}, "CI_API_V4_URL is not set: this is no job of GitLab's CI"},
	} {
		if _, err := GitLab(context.Background(), gitlab(s, test.more)); err == nil || err.Error() != test.want {
			t.Errorf("%v, and not %s", err, test.want)
		}
	}
	s.Add(forgetest.Me, "x") // a note that GitLab makes itself never counts
	put(t, found(t)(GitLab(context.Background(), gitlab(s, map[string]string{"MALLOW_GITLAB_TOKEN": "", "GITLAB_TOKEN": forgetest.Token}))), "gate", "a", Created)
}

func TestNoServer(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, find func(run, attempt string) *Request) {
		r := find("1", "1")
		s.URL = "" // the request keeps the address of a server that is gone
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := r.Put(ctx, "gate", "a"); !IsOutside(err) {
			t.Errorf("%v", err)
		}
	})
}

func TestRun(t *testing.T) {
	s := forgetest.GitHub(t)
	for _, test := range []struct{ event, commit, source, url string }{
		{"pull_request", "2222222222222222222222222222222222222222", "https://github.example/demo/demo/blob/2222222222222222222222222222222222222222/src/a%20b%28c%29%23%3F.c#L3", "https://github.example/demo/demo/actions/runs/100"},
		{"pull_request_fork", "2222222222222222222222222222222222222222", "https://github.example/stranger/demo/blob/2222222222222222222222222222222222222222/src/a%20b%28c%29%23%3F.c#L3", "https://github.example/demo/demo/actions/runs/100"},
		{"workflow_run", "2222222222222222222222222222222222222222", "https://github.example/stranger/demo/blob/2222222222222222222222222222222222222222/src/a%20b%28c%29%23%3F.c#L3", "https://github.example/demo/demo/actions/runs/500"},
		{"push", "5555555555555555555555555555555555555555", "https://github.example/demo/demo/blob/5555555555555555555555555555555555555555/src/a%20b%28c%29%23%3F.c#L3", "https://github.example/demo/demo/actions/runs/100"},
	} {
		r, err := GitHubRun(github(s, test.event, nil))
		if err != nil {
			t.Fatal(err)
		}
		if r.Root != "/src/demo" || r.Commit != test.commit || r.Source("src/a b(c)#?.c", 3) != test.source || r.URL != test.url {
			t.Errorf("%s: %+v, %s", test.event, r, r.Source("src/a b(c)#?.c", 3))
		}
	}
	g := GitLabRun(gitlab(s, nil))
	if want := "https://gitlab.example/stranger/demo/-/blob/2222222222222222222222222222222222222222/a.c#L1"; g.Source("a.c", 1) != want {
		t.Error(g.Source("a.c", 1))
	}
	if empty := GitLabRun(func(string) string { return "" }); empty.Source("a.c", 1) != "" {
		t.Error(empty)
	}
}

// A token is not sent to a server that another one points at.
func TestRedirects(t *testing.T) {
	other := forgetest.GitHub(t)
	here := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer here.Close()
	a := newAPI(here.URL, forgetest.Token, nil)
	a.wait = func(context.Context, time.Duration) error { return nil }
	if err := a.call(context.Background(), http.MethodGet, "/user", nil, nil); !IsOutside(err) {
		t.Error(err)
	}
	if got := other.Requests(); len(got) > 0 {
		t.Error(got)
	}
}
