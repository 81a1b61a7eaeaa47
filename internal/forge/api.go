package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"mallow/internal/term"
)

const (
	attempts      = 4                // of a request that the server could not answer
	longestWait   = 20 * time.Second // between two of them
	longestAnswer = 16 << 20
	pageSize      = 100
	mostPages     = 100
)

// api speaks JSON with a server.
type api struct {
	base    string // without a slash at its end
	token   string
	headers map[string]string
	client  http.Client
	wait    func(ctx context.Context, d time.Duration) error
}

func newAPI(base, token string, headers map[string]string) *api {
	return &api{base: base, token: token, headers: headers, wait: sleep, client: http.Client{
		Timeout: 30 * time.Second,
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			if to.URL.Host != via[0].URL.Host || len(via) > 3 {
				return errors.New("it leads to another server")
			}
			return nil
		},
	}}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// statusError is an answer other than success.
type statusError struct {
	code int
	what string
}

func (e *statusError) Error() string { return fmt.Sprintf("%s (status %d)", e.what, e.code) }

// isStatus tells whether the server answered with that code.
func isStatus(err error, code int) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == code
}

// call sends a request and reads the answer into answer, unless that is nil. What
// the server is too busy for is asked again; creating something only where it
// surely was not done.
func (a *api) call(ctx context.Context, method, path string, body, answer any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		again, err := a.once(ctx, method, path, content, answer)
		if err == nil {
			return nil
		}
		if again < 0 || attempt == attempts || a.wait(ctx, max(again, time.Second<<(attempt-1))) != nil {
			return outside(err)
		}
	}
}

// outside marks an error as one of the server, unless it says so itself.
func outside(err error) error {
	var denied *DeniedError
	if errors.As(err, &denied) {
		return err
	}
	return &ServerError{err}
}

// once sends a request once. again is how long to wait at least before the
// next attempt, less than 0 where there is no use in one.
func (a *api) once(ctx context.Context, method, path string, content []byte, answer any) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(content))
	if err != nil {
		return -1, err
	}
	for name, value := range a.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", "mallow")
	if a.token != "" {
		request.Header.Set("Authorization", "Bearer "+a.token)
	}
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.client.Do(request)
	if err != nil {
		if method == http.MethodPost || ctx.Err() != nil {
			return -1, err
		}
		return 0, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return -1, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return refusal(method, response, received)
	}
	if answer == nil {
		return -1, nil
	}
	if err := json.Unmarshal(received, answer); err != nil {
		return -1, fmt.Errorf("an answer that is not understood: %s", term.Safe(err.Error()))
	}
	return -1, nil
}

// refusal reads an answer other than success.
func refusal(method string, response *http.Response, received []byte) (again time.Duration, err error) {
	what := http.StatusText(response.StatusCode)
	var said struct{ Message any }
	if json.Unmarshal(received, &said) == nil {
		if message, ok := said.Message.(string); ok && message != "" {
			what = message
		}
	}
	if what = term.Safe(what); len(what) > 200 {
		what = what[:200] + "..."
	}
	status := &statusError{response.StatusCode, what}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		if wait := time.Duration(seconds) * time.Second; wait <= longestWait {
			return wait, status
		}
		return -1, status
	}
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests, code >= 500 && method != http.MethodPost:
		return 0, status
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return -1, &DeniedError{status.Error()}
	}
	return -1, status
}

// pages reads a list that is given in pages.
func pages[T any](ctx context.Context, a *api, path string) ([]T, error) {
	var all []T
	for page := 1; page <= mostPages; page++ {
		var some []T
		if err := a.call(ctx, http.MethodGet, fmt.Sprintf("%sper_page=%d&page=%d", path, pageSize, page), nil, &some); err != nil {
			return nil, err
		}
		if all = append(all, some...); len(some) < pageSize {
			break
		}
	}
	return all, nil
}
