package ci_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// expression evaluates what workflows of GitHub Actions may hold between ${{ and }}: names, texts, ==, !=, && and ||.
// The rest of that language is not used in packaging/, and fails the test.
type expression struct {
	t     *testing.T
	names func(name string) (string, bool)
	rest  string
}

var templates = regexp.MustCompile(`\$\{\{(.*?)\}\}`)

// expand evaluates all expressions in a text.
func expand(t *testing.T, text string, names func(name string) (string, bool)) string {
	t.Helper()
	return templates.ReplaceAllStringFunc(text, func(found string) string {
		return evaluate(t, templates.FindStringSubmatch(found)[1], names)
	})
}

func evaluate(t *testing.T, text string, names func(name string) (string, bool)) string {
	t.Helper()
	e := &expression{t, names, text}
	value := e.or()
	if strings.TrimSpace(e.rest) != "" {
		t.Fatalf("in %q: what is %q?", text, e.rest)
	}
	return value
}

func (e *expression) take(token string) bool {
	rest := strings.TrimLeft(e.rest, " \n")
	if !strings.HasPrefix(rest, token) {
		return false
	}
	e.rest = rest[len(token):]
	return true
}

func truth(value string) bool { return value != "" && value != "false" && value != "0" }

func (e *expression) or() string {
	value := e.and()
	for e.take("||") {
		if other := e.and(); !truth(value) {
			value = other
		}
	}
	return value
}

func (e *expression) and() string {
	value := e.equality()
	for e.take("&&") {
		if other := e.equality(); truth(value) {
			value = other
		}
	}
	return value
}

func (e *expression) equality() string {
	value := e.operand()
	switch {
	case e.take("=="):
		return fmt.Sprint(strings.EqualFold(value, e.operand()))
	case e.take("!="):
		return fmt.Sprint(!strings.EqualFold(value, e.operand()))
	}
	return value
}

var name = regexp.MustCompile(`^[a-z_][A-Za-z0-9_.-]*`)

func (e *expression) operand() string {
	e.rest = strings.TrimLeft(e.rest, " \n")
	if e.take("'") {
		text, rest, closed := strings.Cut(e.rest, "'")
		if !closed {
			e.t.Fatalf("%q has no end", e.rest)
		}
		e.rest = rest
		return text
	}
	if e.take("always()") {
		return "true"
	}
	found := name.FindString(e.rest)
	e.rest = e.rest[len(found):]
	value, known := e.names(found)
	if !known {
		e.t.Fatalf("%q is not known", found)
	}
	return value
}
