package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// belongs is a flag that only some forms of a report know.
type belongs struct {
	flag  string
	forms []string
	to    string // the forms, as flags and words
}

var reportFlags = []belongs{
	{"metric", []string{"folded"}, "--format folded"},
	{"stacks", []string{"json"}, "--json"},
	{"no-source", []string{"html"}, "--html, --web and --format html"},
	{"advice", []string{"text"}, "text"},
	{"by", []string{"text", "json", "csv"}, "text, --json and --format csv"},
	{"top", []string{"text", "json", "cpu", "csv"}, "text, --json, --cpu and --format csv"},
}

var diffFlags = []belongs{
	{"stacks", []string{"json"}, "--json"},
	{"no-source", []string{"html"}, "--html"},
	{"top", []string{"text", "json"}, "text and --json"},
}

// checkBelonging tells whether flags that were given belong to the form.
func checkBelonging(f *pflag.FlagSet, flags []belongs, form string) error {
	for _, b := range flags {
		if f.Changed(b.flag) && !slices.Contains(b.forms, form) {
			return fmt.Errorf("--%s is a flag of %s, and this report is %s", b.flag, b.to, form)
		}
	}
	return nil
}
