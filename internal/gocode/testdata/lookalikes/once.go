package lookalikes

import (
	"errors"
	"fmt"
	"regexp"
)

func variableText(text string) error {
	return errors.New(text) // refuse: errors.New
}

func formatted(n int) error {
	return fmt.Errorf("%d is wrong", n) // refuse: fmt.Errorf
}

func percent() error {
	return fmt.Errorf("100%% wrong") // refuse: fmt.Errorf
}

// The package compares two errors, so that it may matter which one it is.
func compared() error {
	return errors.New("compared") // refuse: errors.New
}

func same(a, b error) bool { return a == b }

func badPattern() *regexp.Regexp {
	return regexp.MustCompile("(") // refuse: regexp.MustCompile
}

func variablePattern(p string) bool {
	return regexp.MustCompile(p).MatchString("x") // refuse: regexp.MustCompile
}

func longest(text string) string {
	p := regexp.MustCompile("a|ab") // refuse: regexp.MustCompile
	p.Longest()
	return p.FindString(text)
}

func handedOut() *regexp.Regexp {
	p := regexp.MustCompile("a|ab") // refuse: regexp.MustCompile
	return p
}

func mayFail() bool {
	p, err := regexp.Compile("a|ab") // refuse: regexp.Compile
	return err == nil && p.MatchString("a")
}
