package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// GitLabRun tells what is known of a job of GitLab's CI.
func GitLabRun(env Environment) Run {
	r := Run{
		Root: env("CI_PROJECT_DIR"), Commit: env("CI_COMMIT_SHA"), URL: env("CI_JOB_URL"),
		Order: parseOrder(env("CI_PIPELINE_ID"), env("CI_JOB_ID")),
	}
	// In a pipeline of merged results that is the commit of the branch.
	if source := env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"); isCommit(source) {
		r.Commit = source
	}
	project := strings.TrimSuffix(env("CI_PROJECT_URL"), "/")
	if source := strings.TrimSuffix(env("CI_MERGE_REQUEST_SOURCE_PROJECT_URL"), "/"); source != "" {
		project = source
	}
	if project != "" && isCommit(r.Commit) {
		r.source = fmt.Sprintf("%s/-/blob/%s", project, r.Commit)
	}
	return r
}

// gitlabMergeRequest is a merge request, whose comments GitLab calls notes.
type gitlabMergeRequest struct {
	*api
	path string // "/projects/ID/merge_requests/NUMBER/notes"
}

// GitLab finds the merge request that a job of GitLab's CI is about. The token
// is MALLOW_GITLAB_TOKEN's or GITLAB_TOKEN's: that of the job itself may not
// write comments.
func GitLab(_ context.Context, env Environment) (*Request, error) {
	base := strings.TrimSuffix(env("CI_API_V4_URL"), "/")
	if base == "" {
		return nil, fmt.Errorf("CI_API_V4_URL is not set: this is no job of GitLab's CI")
	}
	number, err := strconv.ParseUint(env("CI_MERGE_REQUEST_IID"), 10, 64)
	if err != nil {
		return nil, ErrNoRequest
	}
	project := env("CI_MERGE_REQUEST_PROJECT_ID")
	if project == "" {
		project = env("CI_PROJECT_ID")
	}
	token := env("MALLOW_GITLAB_TOKEN")
	if token == "" {
		token = env("GITLAB_TOKEN")
	}
	if token == "" {
		return nil, &DeniedError{"MALLOW_GITLAB_TOKEN is not set"}
	}
	return &Request{Order: GitLabRun(env).Order, in: &gitlabMergeRequest{
		newAPI(base, token, nil), fmt.Sprintf("/projects/%s/merge_requests/%d/notes", url.PathEscape(project), number),
	}}, nil
}

func (m *gitlabMergeRequest) comments(ctx context.Context) ([]comment, error) {
	var me struct {
		ID uint64 `json:"id"`
	}
	if err := m.call(ctx, http.MethodGet, "/user", nil, &me); err != nil {
		return nil, err
	}
	type note struct {
		ID     uint64 `json:"id"`
		Body   string `json:"body"`
		System bool   `json:"system"`
		Author struct {
			ID uint64 `json:"id"`
		} `json:"author"`
	}
	all, err := pages[note](ctx, m.api, m.path+"?sort=asc&order_by=created_at&")
	if err != nil {
		return nil, err
	}
	comments := make([]comment, len(all))
	for i, n := range all {
		comments[i] = comment{n.ID, n.Body, n.Author.ID == me.ID && !n.System}
	}
	return comments, nil
}

func (m *gitlabMergeRequest) create(ctx context.Context, body string) error {
	return m.call(ctx, http.MethodPost, m.path, bodyKey{body}, nil)
}

func (m *gitlabMergeRequest) update(ctx context.Context, id uint64, body string) error {
	return m.call(ctx, http.MethodPut, fmt.Sprintf("%s/%d", m.path, id), bodyKey{body}, nil)
}

func (m *gitlabMergeRequest) remove(ctx context.Context, id uint64) error {
	err := m.call(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", m.path, id), nil, nil)
	if isStatus(err, http.StatusNotFound) { // another job was faster
		return nil
	}
	return err
}
