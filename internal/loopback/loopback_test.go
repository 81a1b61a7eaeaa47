package loopback_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"mallow/internal/loopback"
)

// serve returns the address of a page, host and path.
func serve(t *testing.T) (host, path string) {
	t.Helper()
	s, err := loopback.Listen([]byte("the page"), "default-src 'none'")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	host, path, _ = strings.Cut(strings.TrimPrefix(s.URL(), "http://"), "/")
	return host, "/" + path
}

// ask sends a request with that Host, as no client would by itself.
func ask(t *testing.T, address, method, path, host string) *http.Response {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, method+" "+path+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body = io.NopCloser(strings.NewReader(string(body)))
	return response
}

func TestWhoGetsThePage(t *testing.T) {
	host, path := serve(t)
	_, port, _ := net.SplitHostPort(host)
	for name, test := range map[string]struct {
		method, path, host string
		want               int
	}{
		"the address":        {"GET", path, host, 200},
		"without the slash":  {"GET", strings.TrimSuffix(path, "/"), host, 200},
		"the head of it":     {"HEAD", path, host, 200},
		"no token":           {"GET", "/", host, 403},
		"another token":      {"GET", "/AAAAAAAAAAAAAAAAAAAAAAAAAA/", host, 403},
		"part of the token":  {"GET", path[:len(path)-3] + "/", host, 403},
		"more than it":       {"GET", strings.TrimSuffix(path, "/") + "A/", host, 403},
		"a name for it":      {"GET", path, "evil.example:" + port, 403},
		"localhost":          {"GET", path, "localhost:" + port, 403},
		"another port":       {"GET", path, "127.0.0.1:1", 403},
		"no host":            {"GET", path, "", 403},
		"something beside":   {"GET", path + "favicon.ico", host, 404},
		"beside, no token":   {"GET", "/favicon.ico", host, 403},
		"out of it":          {"GET", path + "../../etc/passwd", host, 404},
		"a change":           {"POST", path, host, 405},
		"a change, no token": {"POST", "/", host, 403},
	} {
		t.Run(name, func(t *testing.T) {
			response := ask(t, host, test.method, test.path, test.host)
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != test.want {
				t.Errorf("%s %s of %q: %s", test.method, test.path, test.host, response.Status)
			}
			if got := string(body) == "the page"; got != (test.want == 200 && test.method == "GET") {
				t.Errorf("the body is %q", body)
			}
			if test.want == 200 && !strings.Contains(response.Header.Get("Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'") {
				t.Errorf("policy %q", response.Header.Get("Content-Security-Policy"))
			}
		})
	}
}

func TestOnlyThisMachine(t *testing.T) {
	host, path := serve(t)
	if !strings.HasPrefix(host, "127.0.0.1:") || len(path) < 22 {
		t.Errorf("http://%s%s", host, path)
	}
	other, otherPath := serve(t)
	if host == other || path == otherPath {
		t.Error("two servers have the same port or token")
	}
}
