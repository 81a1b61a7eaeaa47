package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Sentences of the library that reads flags, which speak of its own matters.
var (
	exclusive   = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
	superfluous = regexp.MustCompile(`^unknown command (".*") for "(mallow [a-z ]+)"$`)
	flagValue   = regexp.MustCompile(`^(invalid argument ".*" for "(?:-\w, )?--[\w-]+" flag): (strconv\.Parse\w+|time): (.*)$`)
)

// plainly says what is wrong with flags in words of mallow; anything else it
// returns as it is.
func plainly(text string) string {
	if found := exclusive.FindStringSubmatch(text); found != nil {
		return "--" + strings.ReplaceAll(found[1], " ", " and --") + " do not go together: give one of them"
	}
	if found := superfluous.FindStringSubmatch(text); found != nil {
		return found[2] + " takes no arguments, and " + found[1] + " is one"
	}
	found := flagValue.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	takes := map[string]string{
		"strconv.ParseInt": "a whole number", "strconv.ParseUint": "a whole number from 0 up", "strconv.ParseFloat": "a number",
		"strconv.ParseBool": "true or false", "time": "a time with its unit, such as 90s or 10m",
	}[found[2]]
	if takes == "" || strings.HasSuffix(found[3], "value out of range") {
		return text
	}
	return found[1] + ": it takes " + takes
}

// optionalValue is how the library writes a value that may be left out.
var optionalValue = regexp.MustCompile(`(--[\w-]+) (\S+)\[=[^\]]*\]`)

// optional writes --flag[=VALUE] for such values: behind a blank they would be
// another argument. What comes after keeps its place.
func optional(usages string) string {
	return optionalValue.ReplaceAllStringFunc(usages, func(text string) string {
		return fmt.Sprintf("%-*s", len(text), optionalValue.ReplaceAllString(text, "$1[=$2]"))
	})
}

// filled is the value of a flag that says something. An empty one is that of a
// variable which a script did not set: it would choose everything, or nothing,
// or be as if the flag were not there.
type filled struct{ pflag.Value }

func (v filled) Set(s string) error {
	if s == "" {
		return errors.New("it is empty; leave the flag out where there is nothing to say")
	}
	return v.Value.Set(s)
}

// mayBeEmpty are flags to which "" says something: no benchmark, the build
// without a name; and the one that says itself what is wrong with it.
var mayBeEmpty = []string{"bench", "benchtime", "build", "platform", "vs"}

// refuseEmptyValues lets no flag of c and its commands have an empty text. The
// forms that gate publish writes come from variables of CI, empty for none.
func refuseEmptyValues(c *cobra.Command) {
	for _, inner := range c.Commands() {
		refuseEmptyValues(inner)
	}
	if c.Name() == "publish" {
		return
	}
	refuse := func(f *pflag.Flag) {
		if f.DefValue == "[]" {
			f.DefValue = "" // help would call it a default
		}
		kind := f.Value.Type()
		if !strings.HasPrefix(kind, "string") || slices.Contains(mayBeEmpty, f.Name) {
			return
		}
		if _, done := f.Value.(filled); !done {
			f.Value = filled{f.Value}
		}
	}
	c.Flags().VisitAll(refuse)
	c.PersistentFlags().VisitAll(refuse)
}
