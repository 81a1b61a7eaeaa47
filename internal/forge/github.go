package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"mallow/internal/term"
)

// githubEvent are the parts of an event's payload that tell what a run is
// about.
type githubEvent struct {
	PullRequest *githubPull `json:"pull_request"`
	Issue       *struct {
		Number      uint64          `json:"number"`
		PullRequest json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	WorkflowRun *struct {
		ID             uint64           `json:"id"`
		Attempt        uint64           `json:"run_attempt"`
		Event          string           `json:"event"`
		HeadSHA        string           `json:"head_sha"`
		HeadBranch     string           `json:"head_branch"`
		HeadRepository githubRepository `json:"head_repository"`
		URL            string           `json:"html_url"`
	} `json:"workflow_run"`
}

type githubPull struct {
	Number uint64 `json:"number"`
	Head   struct {
		SHA        string           `json:"sha"`
		Repository githubRepository `json:"repo"`
	} `json:"head"`
}

type githubRepository struct {
	FullName string `json:"full_name"`
	Owner    struct {
		Login string `json:"login"`
	} `json:"owner"`
}

const largestEvent = 16 << 20

// readGitHubEvent reads the event file of a run; an empty event where there is
// none.
func readGitHubEvent(env Environment) (*githubEvent, error) {
	event := new(githubEvent)
	path := env("GITHUB_EVENT_PATH")
	if path == "" {
		return event, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the event of this run: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, largestEvent))
	if err != nil {
		return nil, fmt.Errorf("the event of this run: %w", err)
	}
	if err := json.Unmarshal(content, event); err != nil {
		return nil, fmt.Errorf("the event of this run, %s: %s", term.Safe(path), term.Safe(err.Error()))
	}
	return event, nil
}

// GitHubRun tells what is known of a run of GitHub Actions.
func GitHubRun(env Environment) (Run, error) {
	event, err := readGitHubEvent(env)
	if err != nil {
		return Run{}, err
	}
	server, repository := strings.TrimSuffix(env("GITHUB_SERVER_URL"), "/"), env("GITHUB_REPOSITORY")
	r := Run{Root: env("GITHUB_WORKSPACE"), Commit: env("GITHUB_SHA"), Order: parseOrder(env("GITHUB_RUN_ID"), env("GITHUB_RUN_ATTEMPT"))}
	if server != "" && repository != "" && r.Order.Run > 0 {
		r.URL = fmt.Sprintf("%s/%s/actions/runs/%d", server, repository, r.Order.Run)
	}
	if p := event.PullRequest; p != nil && isCommit(p.Head.SHA) {
		r.Commit = p.Head.SHA
		repository = p.Head.Repository.FullName
	}
	if w := event.WorkflowRun; w != nil {
		r.Order = Order{w.ID, w.Attempt}
		if isCommit(w.HeadSHA) {
			r.Commit = w.HeadSHA
			repository = w.HeadRepository.FullName
		}
		if strings.HasPrefix(w.URL, server+"/") {
			r.URL = w.URL
		}
	}
	if server != "" && isCommit(r.Commit) && isRepository(repository) {
		r.source = fmt.Sprintf("%s/%s/blob/%s", server, repository, r.Commit)
	}
	return r, nil
}

// Source returns the address of a line of a file below Root, "" where none is
// known.
func (r *Run) Source(file string, line int) string {
	if r.source == "" {
		return ""
	}
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(parts[i]))
	}
	return fmt.Sprintf("%s/%s#L%d", r.source, strings.Join(parts, "/"), line)
}

var (
	commitName     = regexp.MustCompile(`^[0-9a-f]{40,64}$`)
	repositoryName = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	dots           = regexp.MustCompile(`(^|/)[.]+(/|$)`)
)

func isCommit(s string) bool     { return commitName.MatchString(s) }
func isRepository(s string) bool { return repositoryName.MatchString(s) && !dots.MatchString(s) }

// githubPullRequest is a pull request whose comments are those of the issue of
// its number.
type githubPullRequest struct {
	*api
	path   string // "/repos/OWNER/NAME/issues"
	number uint64
}

// GitHub finds the pull request that a run of GitHub Actions is about. The
// token is GITHUB_TOKEN's or GH_TOKEN's.
func GitHub(ctx context.Context, env Environment) (*Request, error) {
	run, err := GitHubRun(env)
	if err != nil {
		return nil, err
	}
	event, err := readGitHubEvent(env)
	if err != nil {
		return nil, err
	}
	base, repository := strings.TrimSuffix(env("GITHUB_API_URL"), "/"), env("GITHUB_REPOSITORY")
	if base == "" {
		base = "https://api.github.com"
	}
	if !isRepository(repository) {
		return nil, fmt.Errorf("GITHUB_REPOSITORY is %q, and not OWNER/NAME: this is no run of GitHub Actions", repository)
	}
	token := env("GITHUB_TOKEN")
	if token == "" {
		token = env("GH_TOKEN")
	}
	if token == "" {
		return nil, &DeniedError{"GITHUB_TOKEN is not set"}
	}
	a := newAPI(base, token, map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"})
	number, err := githubNumber(ctx, a, repository, event, env)
	if err != nil {
		return nil, err
	}
	return &Request{Order: run.Order, in: &githubPullRequest{a, "/repos/" + repository + "/issues", number}}, nil
}

var pullRef = regexp.MustCompile(`^refs/pull/([0-9]+)/(merge|head)$`)

// githubNumber finds the number of the pull request.
func githubNumber(ctx context.Context, a *api, repository string, e *githubEvent, env Environment) (uint64, error) {
	switch {
	case e.PullRequest != nil && e.PullRequest.Number > 0:
		return e.PullRequest.Number, nil
	case e.Issue != nil && e.Issue.PullRequest != nil && e.Issue.Number > 0:
		return e.Issue.Number, nil
	case e.WorkflowRun != nil:
		return githubNumberOf(ctx, a, repository, e)
	}
	if m := pullRef.FindStringSubmatch(env("GITHUB_REF")); m != nil {
		return strconv.ParseUint(m[1], 10, 64)
	}
	return 0, ErrNoRequest
}

// githubNumberOf finds the open pull request of a workflow run that has ended.
// Its event names none where the change comes from a fork; the branch may be
// called anything, so that the commit must be the same, too.
func githubNumberOf(ctx context.Context, a *api, repository string, e *githubEvent) (uint64, error) {
	w := e.WorkflowRun
	if w.HeadRepository.Owner.Login == "" || w.HeadBranch == "" {
		return 0, ErrNoRequest
	}
	head := url.QueryEscape(w.HeadRepository.Owner.Login + ":" + w.HeadBranch)
	pulls, err := pages[githubPull](ctx, a, "/repos/"+repository+"/pulls?state=open&head="+head+"&")
	if err != nil {
		return 0, err
	}
	for _, p := range pulls {
		if p.Head.SHA == w.HeadSHA && p.Head.Repository.FullName == w.HeadRepository.FullName {
			return p.Number, nil
		}
	}
	return 0, ErrNoRequest
}

func (p *githubPullRequest) comments(ctx context.Context) ([]comment, error) {
	me, err := p.login(ctx)
	if err != nil {
		return nil, err
	}
	type written struct {
		ID   uint64 `json:"id"`
		Body string `json:"body"`
		User struct {
			Login string `json:"login"`
			Type  string `json:"type"`
		} `json:"user"`
	}
	all, err := pages[written](ctx, p.api, fmt.Sprintf("%s/%d/comments?", p.path, p.number))
	if err != nil {
		return nil, err
	}
	comments := make([]comment, len(all))
	for i, c := range all {
		own := c.User.Login == me
		if me == "" {
			own = c.User.Type == "Bot"
		}
		comments[i] = comment{c.ID, c.Body, own}
	}
	return comments, nil
}

// login is who the token belongs to; "" for the token of a workflow or an app,
// which is a bot and may not ask.
func (p *githubPullRequest) login(ctx context.Context) (string, error) {
	var user struct {
		Login string `json:"login"`
	}
	err := p.call(ctx, http.MethodGet, "/user", nil, &user)
	var denied *DeniedError
	if errors.As(err, &denied) || isStatus(err, http.StatusNotFound) {
		return "", nil
	}
	return user.Login, err
}

type bodyKey struct {
	Body string `json:"body"`
}

func (p *githubPullRequest) create(ctx context.Context, body string) error {
	return p.call(ctx, http.MethodPost, fmt.Sprintf("%s/%d/comments", p.path, p.number), bodyKey{body}, nil)
}

func (p *githubPullRequest) update(ctx context.Context, id uint64, body string) error {
	return p.call(ctx, http.MethodPatch, fmt.Sprintf("%s/comments/%d", p.path, id), bodyKey{body}, nil)
}

func (p *githubPullRequest) remove(ctx context.Context, id uint64) error {
	err := p.call(ctx, http.MethodDelete, fmt.Sprintf("%s/comments/%d", p.path, id), nil, nil)
	if isStatus(err, http.StatusNotFound) { // another run was faster
		return nil
	}
	return err
}
