// Package start calls, when it is initialized, functions in a way that the
// compiler does not see: what they need must be there before.
package start

import (
	"errors"
	"regexp"
)

type checker interface{ check(text string) error }

type strict struct{}

func (strict) check(text string) error {
	if text == "" {
		return errors.New("the text is empty") // refuse: errors.New
	}
	return nil
}

func matches(text string) bool {
	return regexp.MustCompile("^a").MatchString(text) // refuse: regexp.MustCompile
}

var checkers = []checker{strict{}}

var first = checkAll("")

func checkAll(text string) error {
	for _, c := range checkers {
		if err := c.check(text); err != nil {
			return err
		}
	}
	return nil
}
