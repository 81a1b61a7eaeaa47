package debuginfod

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var id = []byte{0xab, 0xcd, 1, 2, 3, 4, 5, 6}

const idText = "abcd010203040506"

// ask runs Find against servers with a cache of its own, or one that is given.
type ask struct {
	settings Settings
	said     []string
	refuse   error
}

func newAsk(t *testing.T, servers ...*httptest.Server) *ask {
	t.Helper()
	a := &ask{settings: Settings{Folder: filepath.Join(t.TempDir(), "cache"), Timeout: time.Minute, MostSize: 1 << 20}}
	for _, server := range servers {
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		a.settings.URLs = append(a.settings.URLs, u)
	}
	return a
}

func (a *ask) find() (string, error) {
	c := New(a.settings, func(text string) {
		if !strings.HasPrefix(text, "waiting for ") { // a busy machine
			a.said = append(a.said, text)
		}
	})
	return c.Find(id, Debuginfo, "libdemo.so", func(string) error { return a.refuse })
}

func (a *ask) path() string { return filepath.Join(a.settings.Folder, idText, "debuginfo") }

func serve(t *testing.T, f http.HandlerFunc) (server *httptest.Server, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		f(w, r)
	}))
	t.Cleanup(server.Close)
	return server, asked
}

func TestFetch(t *testing.T) {
	content := bytes.Repeat([]byte("elf"), 1e5)
	server, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buildid/"+idText+"/debuginfo" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content)
	})
	a := newAsk(t, server)
	for range 2 {
		path, err := a.find()
		if err != nil || path != a.path() {
			t.Fatalf("%s, %v", path, err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	if len(a.said) != 1 || !strings.HasPrefix(a.said[0], "fetching 0.3 MB of debug information for libdemo.so from 127.0.0.1:") {
		t.Errorf("said %q", a.said)
	}
	left, _ := os.ReadDir(filepath.Dir(a.path()))
	if len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

func TestNotFoundIsRemembered(t *testing.T) {
	server, asked := serve(t, http.NotFound)
	a := newAsk(t, server)
	for range 2 {
		if _, err := a.find(); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	if info, err := os.Stat(a.path()); err != nil || info.Size() != 0 || info.Mode().Perm() != 0 {
		t.Errorf("%v, %v", info, err)
	}
	// Until the time is over that the user has set, or that is usual.
	old := time.Now().Add(-11 * time.Minute)
	if err := os.Chtimes(a.path(), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.settings.Folder, missName), []byte("100000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _ = a.find()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	if err := os.Remove(filepath.Join(a.settings.Folder, missName)); err != nil {
		t.Fatal(err)
	}
	_, _ = a.find()
	if asked.Load() != 2 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestSecondServer(t *testing.T) {
	without, _ := serve(t, http.NotFound)
	ill, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "\x1b[31mill", http.StatusInternalServerError)
	})
	with, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "content") })
	if _, err := newAsk(t, without, ill, with).find(); err != nil {
		t.Error(err)
	}
	a := newAsk(t, without, ill)
	_, err := a.find()
	if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "status 500") || strings.Contains(err.Error(), "ill") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(a.path()); err == nil {
		t.Error("remembered as if it were nowhere")
	}
}

// Whatever a server does, the answer is an error in time and nothing stays.
func TestHostileServers(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
	wait := func(r *http.Request) { // until the client has gone
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Minute):
		}
	}
	tests := map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"endless":    {endless, "too large"},
		"says large": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "999999999999") }, "too large"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "x")
		}, "broken off"},
		"refused":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "refuse me") }, "no such thing"},
		"silent":   {func(_ http.ResponseWriter, r *http.Request) { wait(r) }, ""},
		"trickles": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "x"); w.(http.Flusher).Flush(); wait(r) }, "broken off"},
		"leads on": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "leads on"},
		"leads to a file": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "unsupported protocol"},
		"hangs up": {func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				c.Close()
			}
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, _ := serve(t, test.serve)
			a := newAsk(t, server)
			switch name {
			case "silent", "trickles":
				a.settings.Timeout = time.Second
			case "refused":
				a.refuse = errors.New("no such thing")
			}
			_, err := a.find()
			for name == "trickles" && tooBusy(err) && a.settings.Timeout < time.Minute {
				a.settings.Timeout *= 4
				_, err = a.find()
			}
			if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if left, _ := os.ReadDir(filepath.Dir(a.path())); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// tooBusy tells that the machine gave the server no time to begin its answer.
func tooBusy(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "no answer in time") || errors.Is(err, context.DeadlineExceeded))
}

// A server that does not answer is not waited for once for each module.
func TestSilentServerIsAskedOnce(t *testing.T) {
	server, asked := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	a := newAsk(t, server)
	c := New(a.settings, nil)
	for i := range byte(5) {
		if _, err := c.Find([]byte{i, 2, 3, 4, 5, 6, 7, 8}, Executable, "x", nil); err == nil {
			t.Error("found")
		}
	}
	if asked.Load() > 2 { // the transport tries a connection again
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestLimitOfTime(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, leastProgress))
			time.Sleep(time.Millisecond)
		}
	})
	a := newAsk(t, server)
	a.settings.MostSize = 1 << 40
	a.settings.MostTime = 300 * time.Millisecond
	_, err := a.find()
	for tooBusy(err) && a.settings.MostTime < time.Minute {
		a.settings.MostTime *= 4
		_, err = a.find()
	}
	if err == nil || !strings.Contains(err.Error(), "broken off") {
		t.Errorf("%v", err)
	}
}

func TestFromEnvironment(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"DEBUGINFOD_URLS", "DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME", "DEBUGINFOD_MAXSIZE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	for _, urls := range []string{"", "  ", "ftp://x", "file:///etc", "nonsense", "http://"} {
		t.Setenv("DEBUGINFOD_URLS", urls)
		ignored := func(s Settings) (texts []string) {
			for _, one := range s.Ignored {
				texts = append(texts, one.Text)
			}
			return texts
		}
		if s, ok := FromEnvironment(); ok || strings.Join(ignored(s), " ") != strings.TrimSpace(urls) {
			t.Errorf("%q is taken, %q not", urls, s.Ignored)
		}
	}
	t.Setenv("DEBUGINFOD_URLS", "ima:enforcing https://a.example/ http://user:secret@b.example:8002/x/buildid")
	s, ok := FromEnvironment()
	if !ok || len(s.URLs) != 2 || s.Timeout != defaultTimeout || s.MostTime != 0 || s.MostSize != defaultMostSize || len(s.Ignored) != 0 {
		t.Fatalf("%+v", s)
	}
	if got := fileURL(s.URLs[0], "ab", Debuginfo); got != "https://a.example/buildid/ab/debuginfo" {
		t.Error(got)
	}
	if got := fileURL(s.URLs[1], "ab", Executable); !strings.HasSuffix(got, "@b.example:8002/x/buildid/ab/executable") {
		t.Error(got)
	}
	if want := filepath.Join(home, ".cache", "debuginfod_client"); s.Folder != want {
		t.Errorf("%s, want %s", s.Folder, want)
	}
	old := filepath.Join(home, ".debuginfod_client_cache")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DEBUGINFOD_TIMEOUT", "3")
	t.Setenv("DEBUGINFOD_MAXTIME", "9")
	t.Setenv("DEBUGINFOD_MAXSIZE", "99000000000000")
	if s, _ = FromEnvironment(); s.MostSize != 99000000000000 {
		t.Errorf("%+v", s)
	}
	t.Setenv("DEBUGINFOD_MAXTIME", "99000000000000")
	if s, _ = FromEnvironment(); s.MostTime < 24*365*time.Hour {
		t.Errorf("%+v", s)
	}
	for name, texts := range map[string][]string{
		"DEBUGINFOD_TIMEOUT": {"90s", "0", "-1", "3.5", "99999999999999999999"}, "DEBUGINFOD_MAXTIME": {"soon", "-1"}, "DEBUGINFOD_MAXSIZE": {"1G", "0"},
	} {
		t.Setenv("DEBUGINFOD_MAXTIME", "0") // no limit
		for _, text := range texts {
			before := os.Getenv(name)
			os.Setenv(name, text)
			s, ok := FromEnvironment()
			if !ok || len(s.Ignored) != 1 || s.Ignored[0].Name != name || s.Ignored[0].Text != text || s.Timeout <= 0 || s.MostTime != 0 || s.MostSize <= 0 {
				t.Errorf("%s=%s: %+v", name, text, s)
			}
			os.Setenv(name, before)
		}
	}
	t.Setenv("DEBUGINFOD_MAXTIME", "9")
	t.Setenv("DEBUGINFOD_MAXSIZE", "1000")
	if s, _ = FromEnvironment(); s.Folder != old || s.Timeout != 3*time.Second || s.MostTime != 9*time.Second || s.MostSize != 1000 {
		t.Errorf("%+v", s)
	}
	t.Setenv("DEBUGINFOD_CACHE_PATH", "/var/x")
	if s, _ = FromEnvironment(); s.Folder != "/var/x" {
		t.Errorf("%+v", s)
	}
}

func TestCleaning(t *testing.T) {
	folder := t.TempDir()
	put := func(name string, age time.Duration) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("86400"), 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	old := put("abcd/debuginfo", 8*day)
	used := put("abce/debuginfo", 3*day)
	others := put("photos/me", 99*day)
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }

	clean(folder, time.Now()) // the first time it only starts the clock
	if !exists(old) || !exists(filepath.Join(folder, cleanName)) {
		t.Error("cleaned at once")
	}
	put(cleanName, 2*day)
	clean(folder, time.Now())
	if exists(old) || exists(filepath.Dir(old)) || !exists(used) || !exists(others) {
		t.Errorf("old %v, used %v, others %v", exists(old), exists(used), exists(others))
	}
	put("abcd/debuginfo", 8*day)
	clean(folder, time.Now())
	if !exists(old) {
		t.Error("cleaned again right away")
	}
}
