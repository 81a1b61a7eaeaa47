package regex

import (
	"fmt"
	"strings"

	"mallow/internal/advise/rule"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/signature"
)

// libraries are those of expressions that are no part of the language's own. Unlike
// that their lines are sites: who has them compile is further out.
var libraries = []struct {
	name     string
	scopes   []string // that its functions are in
	compiles func(class, method string) bool
	instead  string
}{
	{
		"RE2", []string{"re2::"},
		func(class, method string) bool { return class == "re2::RE2" && (method == "RE2" || method == "Init") },
		"static const RE2",
	},
	{
		"Boost.Regex", []string{"boost::basic_regex<", "boost::re_detail"},
		func(class, method string) bool {
			return class == "boost::basic_regex" && (method == "basic_regex" || strings.HasSuffix(method, "assign"))
		},
		"static const boost::regex",
	},
	{
		"the crate regex", []string{"regex::", "regex_automata::", "regex_syntax::", "aho_corasick::"},
		func(class, method string) bool {
			return strings.HasPrefix(class, "regex::") && (method == "new" || method == "from_str" || method == "try_from" || strings.HasPrefix(method, "build"))
		},
		"a static LazyLock<Regex>",
	},
}

// libraryOf returns the index of the library that a function is of, -1 for none.
func libraryOf(function string) int {
	name := strings.TrimLeft(function, "<&") // a Rust implementation begins so
	for i := range libraries {
		for _, scope := range libraries[i].scopes {
			if strings.HasPrefix(name, scope) {
				return i
			}
		}
	}
	return -1
}

// compiles tells whether a function of a library makes an expression.
func compiles(library int, function string) bool {
	class, method := signature.Method(function)
	if of, implementation := strings.CutPrefix(function, "<"); implementation {
		class, _, _ = strings.Cut(of, " as ")
	}
	return libraries[library].compiles(class, method)
}

// compiled are the calls for expressions that a line has a library compile.
type compiled struct {
	library int
	by      profile.Frame
	parts   []*rule.Site // by who allocates
	sum     recording.Counters
}

func byLibraries(c *rule.Case) []rule.Finding {
	var found []rule.Finding
	for _, x := range compiledBy(c) {
		n := &x.sum
		if !c.IsWorthAWord(n.Calls) || !rule.AreReleased(n) || !isRepeated(x.parts...) {
			continue
		}
		of := &libraries[x.library]
		f := rule.Finding{
			Named:    true,
			Means:    rule.Avoid,
			Title:    title(n.Calls),
			Remedy:   fmt.Sprintf("compile the expression once: %s, or a member, outside of the loop; where it is not always the same, keep those that were compiled by their text", of.instead),
			Evidence: evidence(n, of.name),
			Places:   []profile.Frame{x.by},
		}
		for _, part := range x.parts {
			f.Claims = append(f.Claims, part.Claim(part.Counters.Calls))
		}
		found = append(found, f)
	}
	return found
}

// compiledBy finds the lines that have a library compile, those first that do for
// the sites with the most calls.
func compiledBy(c *rule.Case) []*compiled {
	var inside []*rule.Site
	for _, s := range c.Profile.Sites {
		if libraryOf(s.Function) >= 0 {
			inside = append(inside, c.Whole(s))
		}
	}
	var all []*compiled
	known := make(map[profile.Frame]*compiled)
	for len(inside) > 0 {
		var further []*rule.Site
		for _, s := range inside {
			for _, caller := range s.AllCallers() {
				if len(caller.Way) == len(s.Way) {
					continue // nobody's
				}
				library := libraryOf(s.Way[len(s.Way)-1].Function)
				switch {
				case libraryOf(caller.Function) >= 0:
					further = append(further, caller)
				case compiles(library, s.Way[len(s.Way)-1].Function):
					x := known[caller.Frame]
					if x == nil {
						x = &compiled{library: library, by: caller.Frame}
						known[caller.Frame], all = x, append(all, x)
					}
					x.parts = append(x.parts, caller)
					x.sum.Add(&caller.Counters)
				}
			}
		}
		inside = further
	}
	return all
}
