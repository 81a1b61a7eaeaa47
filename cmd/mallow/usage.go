package main

import (
	"regexp"
	"strings"
)

// Sentences of the library that reads flags, which speak of its own matters.
var (
	exclusive = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
	flagValue = regexp.MustCompile(`^(invalid argument ".*" for "(?:-\w, )?--[\w-]+" flag): (strconv\.Parse\w+|time): (.*)$`)
)

// plainly says what is wrong with flags in words of mallow; anything else it
// returns as it is.
func plainly(text string) string {
	if found := exclusive.FindStringSubmatch(text); found != nil {
		return "--" + strings.ReplaceAll(found[1], " ", " and --") + " do not go together: give one of them"
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
