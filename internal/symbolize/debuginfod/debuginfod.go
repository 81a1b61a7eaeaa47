// Package debuginfod fetches debug files by build id from the servers that
// DEBUGINFOD_URLS names, and from no others. What it fetches lies where the
// reference client keeps it, in a form that both read.
package debuginfod

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is what of a program is asked for.
type Kind string

// The kinds that servers know and mallow uses.
const (
	Debuginfo  Kind = "debuginfo"
	Executable Kind = "executable"
)

// Settings are those of debuginfod clients.
type Settings struct {
	URLs     []*url.URL
	Ignored  []Ignored     // what the variables have and cannot be taken
	Folder   string        // of the cache
	Timeout  time.Duration // within which 100 KiB must arrive, or the answer
	MostTime time.Duration // of one file; 0: no limit
	MostSize int64         // bytes of one file
}

// Ignored is what a variable has and cannot be taken, and what it is not.
type Ignored struct{ Name, Text, Isnt string }

const (
	defaultTimeout  = 90 * time.Second
	defaultMostSize = 4 << 30
	leastProgress   = 100 << 10 // bytes within Timeout
	signatures      = "ima"     // how those that come behind sign what they send
)

// FromEnvironment reads the settings that debuginfod clients have in common.
// ok is false where DEBUGINFOD_URLS names no server, or where there is no
// folder for the files.
func FromEnvironment() (s Settings, ok bool) {
	for _, text := range strings.Fields(os.Getenv("DEBUGINFOD_URLS")) {
		u, err := url.Parse(text)
		switch {
		case err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
			s.URLs = append(s.URLs, u)
		case err != nil || u.Scheme != signatures:
			s.Ignored = append(s.Ignored, Ignored{"DEBUGINFOD_URLS", text, "address of a server, http://... or https://..."})
		}
	}
	if len(s.URLs) == 0 {
		return s, false
	}
	s.Folder = cacheFolder()
	s.Timeout = s.seconds("DEBUGINFOD_TIMEOUT", defaultTimeout)
	s.MostTime = s.seconds("DEBUGINFOD_MAXTIME", 0)
	s.MostSize = s.number("DEBUGINFOD_MAXSIZE", "bytes", defaultMostSize)
	return s, s.Folder != ""
}

func (s *Settings) seconds(name string, otherwise time.Duration) time.Duration {
	return time.Duration(min(s.number(name, "seconds", int64(otherwise/time.Second)), math.MaxInt32)) * time.Second
}

// number reads a variable; without one, and for what is no number above 0,
// there is otherwise.
func (s *Settings) number(name, of string, otherwise int64) int64 {
	text := os.Getenv(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 0 {
		return n
	}
	if text != "" && (err != nil || n != otherwise) {
		s.Ignored = append(s.Ignored, Ignored{name, text, "number of " + of + " above 0"})
	}
	return otherwise
}

// Client fetches files. It is safe for concurrent use.
type Client struct {
	settings Settings
	http     *http.Client
	say      func(string)

	mu       sync.Mutex
	silent   map[string]error // servers that did not answer, and are not asked again
	cleaning sync.Once
}

// New makes a client. say is told in a few words what takes time; it may be
// called from several goroutines, and nil.
func New(s Settings, say func(text string)) *Client {
	if say == nil {
		say = func(string) {}
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DisableCompression:    true,
		ResponseHeaderTimeout: s.Timeout,
		TLSHandshakeTimeout:   s.Timeout,
		MaxIdleConnsPerHost:   2,
	}
	return &Client{settings: s, say: say, silent: map[string]error{}, http: &http.Client{Transport: transport, CheckRedirect: checkRedirect}}
}

var errUnsafeRedirect = errors.New("leads away from https")

func checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("leads on and on")
	}
	if via[0].URL.Scheme == "https" && request.URL.Scheme != "https" {
		return errUnsafeRedirect
	}
	return nil
}

// ErrNotFound is the error for what no server has.
var ErrNotFound = errors.New("no debuginfod server has it")

// Find returns the path of a file, fetching it if it is not in the cache.
// check is called with what was fetched; what it refuses is thrown away. name
// is what people call the module. Other errors than ErrNotFound may be gone the
// next time.
func (c *Client) Find(id []byte, kind Kind, name string, check func(path string) error) (string, error) {
	if len(id) == 0 {
		return "", ErrNotFound
	}
	c.cleaning.Do(func() { clean(c.settings.Folder, time.Now()) })
	text := hex.EncodeToString(id)
	path := filepath.Join(c.settings.Folder, text, string(kind))
	switch found, err := cached(c.settings.Folder, path); {
	case err != nil:
		return "", err
	case found:
		return path, nil
	}
	missing := 0
	var failure error
	for _, server := range c.settings.URLs {
		err := c.fetch(server, text, kind, name, path, check)
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, ErrNotFound):
			missing++
		default:
			failure = err
		}
	}
	if missing < len(c.settings.URLs) {
		return "", failure
	}
	remember(path)
	return "", ErrNotFound
}

// fetch asks one server.
func (c *Client) fetch(server *url.URL, id string, kind Kind, name, path string, check func(string) error) error {
	c.mu.Lock()
	err := c.silent[server.Host]
	c.mu.Unlock()
	if err != nil {
		return err
	}
	within, cancel := context.WithCancel(context.Background())
	defer cancel()
	if c.settings.MostTime > 0 {
		within, cancel = context.WithTimeout(within, c.settings.MostTime)
		defer cancel()
	}
	// The clock begins anew with every 100 KiB.
	clock := time.AfterFunc(c.settings.Timeout, cancel)
	defer clock.Stop()
	waiting := time.AfterFunc(patience, func() { c.say(fmt.Sprintf("waiting for %s", server.Host)) })
	defer waiting.Stop()

	request, err := http.NewRequestWithContext(within, http.MethodGet, fileURL(server, id, kind), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "mallow")
	response, err := c.http.Do(request)
	waiting.Stop()
	if err != nil {
		return c.silence(server, err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return ErrNotFound
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers with status %d", server.Host, response.StatusCode)
	case response.ContentLength > c.settings.MostSize:
		return fmt.Errorf("%s has it, but it is too large (%d bytes)", server.Host, response.ContentLength)
	}
	c.say(fetching(response.ContentLength, kind, name, server.Host))
	d := download{body: response.Body, most: c.settings.MostSize, progress: func() { clock.Reset(c.settings.Timeout) }}
	if err := d.to(path, check); err != nil {
		return fmt.Errorf("%s: %w", server.Host, err)
	}
	return nil
}

// patience is how long a server may keep silent before the user hears of it.
const patience = 2 * time.Second

// silence notes that a server does not answer, so that the next module does
// not wait for it again.
func (c *Client) silence(server *url.URL, err error) error {
	var cause *url.Error
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("no answer in time")
	}
	err = fmt.Errorf("%s: %w", server.Host, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent[server.Host] = err
	return err
}

func fetching(size int64, kind Kind, name, host string) string {
	amount := ""
	if size > 0 {
		amount = fmt.Sprintf("%.1f MB of ", float64(size)/1e6)
	}
	what := "debug information"
	if kind == Executable {
		what = "the program"
	}
	return fmt.Sprintf("fetching %s%s for %s from %s", amount, what, name, host)
}

func fileURL(server *url.URL, id string, kind Kind) string {
	base := strings.TrimRight(server.String(), "/")
	if !strings.HasSuffix(base, "/buildid") {
		base += "/buildid"
	}
	return base + "/" + id + "/" + string(kind)
}
