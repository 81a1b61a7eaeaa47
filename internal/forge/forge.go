// Package forge keeps one comment on the pull or merge request that a run of
// continuous integration is about, at GitHub or GitLab.
//
// Which request that is, and where the API is, say the environment variables
// and the event file of the run. They come from the forge; what a change may
// choose in them, such as the name of its branch, is only ever sent as a
// value. A comment is known again by a mark at its beginning that readers do
// not see, and only if its author is the one who asks: a copy in somebody
// else's comment is left alone.
package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Environment looks up a variable; "" where it is not set.
type Environment func(name string) string

// Order tells which of two runs began later: by their number, and of the same
// one by the attempt.
type Order struct{ Run, Attempt uint64 }

func (o Order) after(other Order) bool {
	return o.Run > other.Run || o.Run == other.Run && o.Attempt > other.Attempt
}

// Run is what is known of the run that this process belongs to.
type Run struct {
	Root   string // folder of the source tree
	Commit string // that is measured; of a pull request its last one, not the merge
	URL    string // where its log is
	Order  Order
	source string // address of the source tree at Commit; "" where it is not known
}

// ErrNoRequest tells that a run is about no pull or merge request.
var ErrNoRequest = errors.New("this run is about no pull or merge request")

// DeniedError tells that the forge lets this run not comment, as those of
// changes from forks may not.
type DeniedError struct{ Why string }

func (e *DeniedError) Error() string { return "the forge does not allow it: " + e.Why }

// ServerError tells that the forge did not answer as it should.
type ServerError struct{ err error }

func (e *ServerError) Error() string { return "the forge does not answer: " + e.err.Error() }

func (e *ServerError) Unwrap() error { return e.err }

// IsOutside tells whether err is the affair of the forge: nothing is wrong with
// how it was asked.
func IsOutside(err error) bool {
	var denied *DeniedError
	var server *ServerError
	return errors.Is(err, ErrNoRequest) || errors.As(err, &denied) || errors.As(err, &server)
}

// comment of a request.
type comment struct {
	id   uint64
	body string
	own  bool // written by the one who asks
}

// discussion of one request. Its methods are requests to a server and return a
// *DeniedError where that refuses.
type discussion interface {
	comments(ctx context.Context) ([]comment, error)
	create(ctx context.Context, body string) error
	update(ctx context.Context, id uint64, body string) error
	remove(ctx context.Context, id uint64) error
}

// Outcome tells what became of a comment.
type Outcome string

const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged" // it said the same before
	None      Outcome = "none"      // there was none, and nothing to say
	Newer     Outcome = "newer"     // a later run has already said its word, which stays
)

// Request is a pull or merge request.
type Request struct {
	Order Order
	in    discussion
}

// LongestComment is what either forge takes, in bytes.
const LongestComment = 65536

// Put makes body the comment of that name: it replaces what an earlier run has
// written, or begins a new one. Of several, such as two runs at the same time
// may leave, it keeps the oldest. Names are words of letters, digits, "-", "_"
// and ".".
func (r *Request) Put(ctx context.Context, name, body string) (Outcome, error) {
	return r.put(ctx, name, body, true)
}

// Replace is Put where there is a comment already: it begins none.
func (r *Request) Replace(ctx context.Context, name, body string) (Outcome, error) {
	return r.put(ctx, name, body, false)
}

func (r *Request) put(ctx context.Context, name, body string, begin bool) (Outcome, error) {
	if !IsName(name) {
		return "", fmt.Errorf("%q is no name of a comment: letters, digits, -, _ and . are", name)
	}
	body = mark(name, r.Order) + "\n" + body
	if len(body) > LongestComment {
		return "", fmt.Errorf("a comment of %d bytes is too long: %d are the most", len(body), LongestComment)
	}
	marked, err := r.marked(ctx, name)
	if err != nil {
		return "", err
	}
	outcome := Updated
	if len(marked) == 0 {
		if !begin {
			return None, nil
		}
		outcome = Created
		if err := r.in.create(ctx, body); err != nil {
			return "", err
		}
		if marked, err = r.marked(ctx, name); err != nil {
			return "", err
		}
	}
	return r.settle(ctx, marked, body, outcome)
}

// PutRoom is how many bytes are left for the body of a comment of that name.
func PutRoom(name string) int {
	return LongestComment - len(mark(name, Order{^uint64(0), ^uint64(0)})) - 1
}

// settle leaves one comment: the oldest, saying what this run says, or that of a
// later run.
func (r *Request) settle(ctx context.Context, marked []markedComment, body string, outcome Outcome) (Outcome, error) {
	if len(marked) == 0 {
		return outcome, nil // somebody else has removed it at once
	}
	kept := 0
	for i, c := range marked {
		if c.order.after(r.Order) && (outcome != Newer || c.order.after(marked[kept].order)) {
			kept, outcome = i, Newer
		}
	}
	switch {
	case outcome == Newer:
	case marked[kept].body != body:
		if err := r.in.update(ctx, marked[kept].id, body); err != nil {
			return "", err
		}
	case outcome == Updated:
		outcome = Unchanged
	}
	for i, c := range marked {
		if i == kept {
			continue
		}
		if err := r.in.remove(ctx, c.id); err != nil {
			return "", err
		}
	}
	return outcome, nil
}

type markedComment struct {
	comment
	order Order
}

// marked are the own comments with the mark of that name, the oldest first.
func (r *Request) marked(ctx context.Context, name string) ([]markedComment, error) {
	all, err := r.in.comments(ctx)
	if err != nil {
		return nil, err
	}
	var marked []markedComment
	for _, c := range all {
		if order, ok := readMark(c.body, name); ok && c.own {
			marked = append(marked, markedComment{c, order})
		}
	}
	slices.SortFunc(marked, func(a, b markedComment) int { return cmp.Compare(a.id, b.id) })
	return marked, nil
}

var (
	commentName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	markLine    = regexp.MustCompile(`^<!-- mallow ([A-Za-z0-9_.-]+) run ([0-9]+)\.([0-9]+) -->`)
)

// IsName tells whether a comment can have that name.
func IsName(name string) bool { return commentName.MatchString(name) }

// mark is what a comment begins with.
func mark(name string, o Order) string {
	return fmt.Sprintf("<!-- mallow %s run %d.%d -->", name, o.Run, o.Attempt)
}

func readMark(body, name string) (Order, bool) {
	m := markLine.FindStringSubmatch(body)
	if m == nil || m[1] != name {
		return Order{}, false
	}
	run, _ := strconv.ParseUint(m[2], 10, 64) // what is no number is an early run
	attempt, _ := strconv.ParseUint(m[3], 10, 64)
	return Order{run, attempt}, true
}

func parseOrder(run, attempt string) Order {
	var o Order
	o.Run, _ = strconv.ParseUint(strings.TrimSpace(run), 10, 64)
	o.Attempt, _ = strconv.ParseUint(strings.TrimSpace(attempt), 10, 64)
	return o
}
