// Package forgetest plays the API of GitHub and of GitLab on loopback, as far
// as comments need it.
package forgetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Token is the one that the server knows.
const Token = "token-of-the-test"

// Comment of a pull or merge request.
type Comment struct {
	ID     uint64
	Body   string
	Author string // Me, or somebody else
	System bool   // made by GitLab itself
}

// Me is who the token belongs to.
const Me = "mallow-bot"

// Server is one pull or merge request of the number 7 and its comments.
type Server struct {
	URL string

	lock     sync.Mutex
	comments []Comment
	requests []string
	next     uint64

	// What the token may do, and how the server feels. Set before the first
	// request.
	ReadOnly  bool   // no writing: the token of a change from a fork
	Anonymous bool   // may not ask who it is: the token of a workflow
	Busy      int    // so many requests are answered with 502
	Broken    string // answer to everything, of status 200
	Pulls     string // answer for open pull requests
	// BeforeCreate is called when a comment is about to be created.
	BeforeCreate func(s *Server)
}

// GitHub starts a server that plays GitHub's API.
func GitHub(t testing.TB) *Server { return start(t, (*Server).github) }

// GitLab starts a server that plays GitLab's API.
func GitLab(t testing.TB) *Server { return start(t, (*Server).gitlab) }

func start(t testing.TB, handle func(s *Server, r *http.Request, body string) (int, any)) *Server {
	s := &Server{next: 1001}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, answer := s.answer(r, handle)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		if text, raw := answer.(string); raw {
			io.WriteString(w, text)
		} else if answer != nil {
			json.NewEncoder(w).Encode(answer)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func message(text string) map[string]any { return map[string]any{"message": text} }

func (s *Server) answer(r *http.Request, handle func(s *Server, r *http.Request, body string) (int, any)) (int, any) {
	content, _ := io.ReadAll(r.Body)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	switch {
	case s.Broken != "":
		return http.StatusOK, s.Broken
	case s.Busy > 0:
		s.Busy--
		return http.StatusBadGateway, "<html>502</html>"
	case r.Header.Get("Authorization") != "Bearer "+Token:
		return http.StatusUnauthorized, message("Bad credentials")
	case r.Method != http.MethodGet && s.ReadOnly:
		return http.StatusForbidden, message("Resource not accessible by integration")
	}
	body := ""
	if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		var sent struct{ Body *string }
		if json.Unmarshal(content, &sent) != nil || sent.Body == nil || r.Header.Get("Content-Type") != "application/json" {
			return http.StatusUnprocessableEntity, message("Validation Failed")
		}
		if body = *sent.Body; len(body) > 65536 {
			return http.StatusUnprocessableEntity, message("body is too long (maximum is 65536 characters)")
		}
	}
	return handle(s, r, body)
}

var (
	githubList = regexp.MustCompile(`^/repos/demo/demo/issues/7/comments$`)
	githubOne  = regexp.MustCompile(`^/repos/demo/demo/issues/comments/([0-9]+)$`)
	gitlabList = regexp.MustCompile(`^/projects/42/merge_requests/7/notes$`)
	gitlabOne  = regexp.MustCompile(`^/projects/42/merge_requests/7/notes/([0-9]+)$`)
)

func (s *Server) github(r *http.Request, body string) (int, any) {
	if r.Header.Get("Accept") != "application/vnd.github+json" {
		return http.StatusUnsupportedMediaType, message("Accept")
	}
	switch {
	case r.URL.Path == "/user" && s.Anonymous:
		return http.StatusForbidden, message("Resource not accessible by integration")
	case r.URL.Path == "/user":
		return http.StatusOK, map[string]any{"login": Me, "id": 41898282, "type": "Bot", "name": nil}
	case r.URL.Path == "/repos/demo/demo/pulls":
		return http.StatusOK, s.Pulls
	}
	return s.discuss(r, body, githubList, githubOne, http.MethodPatch, func(c Comment) map[string]any {
		kind := "User"
		if c.Author == Me {
			kind = "Bot"
		}
		return map[string]any{
			"id": c.ID, "body": c.Body, "node_id": fmt.Sprintf("IC_%d", c.ID), "author_association": "NONE",
			"html_url":   fmt.Sprintf("https://github.example/demo/demo/pull/7#issuecomment-%d", c.ID),
			"user":       map[string]any{"login": c.Author, "type": kind, "id": 1, "site_admin": false},
			"created_at": "2026-11-22T01:00:00Z", "updated_at": "2026-11-22T01:00:00Z", "performed_via_github_app": nil,
		}
	})
}

func (s *Server) gitlab(r *http.Request, body string) (int, any) {
	author := map[string]int{Me: 5}
	if r.URL.Path == "/user" {
		return http.StatusOK, map[string]any{"id": 5, "username": Me, "bot": true, "state": "active"}
	}
	return s.discuss(r, body, gitlabList, gitlabOne, http.MethodPut, func(c Comment) map[string]any {
		return map[string]any{
			"id": c.ID, "body": c.Body, "system": c.System, "noteable_type": "MergeRequest", "noteable_iid": 7, "attachment": nil,
			"author":     map[string]any{"id": author[c.Author], "username": c.Author, "state": "active"},
			"created_at": "2026-11-22T01:00:00.000Z", "updated_at": "2026-11-22T01:00:00.000Z", "resolvable": false, "confidential": false,
		}
	})
}

// discuss answers what is about comments.
func (s *Server) discuss(r *http.Request, body string, list, one *regexp.Regexp, change string, form func(Comment) map[string]any) (int, any) {
	if list.MatchString(r.URL.Path) {
		switch r.Method {
		case http.MethodGet:
			return http.StatusOK, s.page(r, form)
		case http.MethodPost:
			if s.BeforeCreate != nil {
				s.BeforeCreate(s)
			}
			return http.StatusCreated, form(s.add(Me, body))
		}
	}
	if m := one.FindStringSubmatch(r.URL.Path); m != nil {
		id, _ := strconv.ParseUint(m[1], 10, 64)
		at := slices.IndexFunc(s.comments, func(c Comment) bool { return c.ID == id })
		switch {
		case at < 0:
		case r.Method == change:
			s.comments[at].Body = body
			return http.StatusOK, form(s.comments[at])
		case r.Method == http.MethodDelete:
			s.comments = slices.Delete(s.comments, at, at+1)
			return http.StatusNoContent, nil
		}
	}
	return http.StatusNotFound, message("Not Found")
}

func (s *Server) page(r *http.Request, form func(Comment) map[string]any) []map[string]any {
	size, page := 30, 1
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		size = min(n, 100)
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		page = n
	}
	from := min((page-1)*size, len(s.comments))
	shown := []map[string]any{}
	for _, c := range s.comments[from:min(from+size, len(s.comments))] {
		shown = append(shown, form(c))
	}
	return shown
}

func (s *Server) add(author, body string) Comment {
	c := Comment{ID: s.next, Body: body, Author: author}
	s.next++
	s.comments = append(s.comments, c)
	return c
}

// Add puts a comment of somebody there. BeforeCreate may call it.
func (s *Server) Add(author, body string) { s.add(author, body) }

// Comments are those there are now.
func (s *Server) Comments() []Comment {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Clone(s.comments)
}

// Own are the bodies of those that mallow has written.
func (s *Server) Own() []string {
	var own []string
	for _, c := range s.Comments() {
		if c.Author == Me && strings.HasPrefix(c.Body, "<!-- mallow ") {
			own = append(own, c.Body)
		}
	}
	return own
}

// Requests are the method and path of each request that came.
func (s *Server) Requests() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Clone(s.requests)
}
