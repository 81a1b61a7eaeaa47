// Package loopback shows one page to the browsers of this machine.
//
// Other users of the machine can reach the port, and any site that a browser
// visits can make it send requests there. So a page is only given out for a
// path that holds a random token, and only to who asked for the address by its
// number: a name that somebody points at 127.0.0.1 does not get it.
package loopback

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// Server shows a page.
type Server struct {
	listener net.Listener
	token    string
	page     []byte
	policy   string
}

// Listen opens a free port of 127.0.0.1. policy is the
// Content-Security-Policy of the page.
func Listen(page []byte, policy string) (*Server, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Server{listener: listener, token: rand.Text(), page: page, policy: policy}, nil
}

// URL is where the page is, with the token.
func (s *Server) URL() string { return "http://" + s.host() + "/" + s.token + "/" }

func (s *Server) host() string { return s.listener.Addr().String() }

// Serve answers until ctx is done.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           http.HandlerFunc(s.answer),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(patience) != nil {
			server.Close()
		}
	}()
	err := server.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-ended
		return nil
	}
	return err
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	known := subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
	switch {
	case r.Host != s.host() || !known:
		http.Error(w, "403: the address that mallow printed has the token that is missing here", http.StatusForbidden)
	case rest != "":
		http.Error(w, "404: there is one page", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405: the page can only be read", http.StatusMethodNotAllowed)
	default:
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", s.policy+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.Method == http.MethodGet {
			w.Write(s.page)
		}
	}
}
