package diff

import (
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/signature"
)

// numbered are the parts of a name that a compiler makes up, and numbers or
// hashes anew in each build: copies of functions, lambdas, closures, unnamed
// types, Rust's hashes and crate ids.
var numbered = []struct {
	part *regexp.Regexp
	with string
}{
	{regexp.MustCompile(` ?\[clone [^\]]*\]`), ""},
	{regexp.MustCompile(`\.(isra|constprop|part|cold|lto_priv|llvm|clone|localalias)\b(\.[0-9]+)*`), ""},
	{regexp.MustCompile(`::h[0-9a-f]{16}$`), ""},
	{regexp.MustCompile(`\b(\w+)\[[0-9a-f]{6,16}\]`), "$1"},
	{regexp.MustCompile(`#[0-9]+\}`), "}"},
	{regexp.MustCompile(`\$_[0-9]+`), "$$_"},
	{regexp.MustCompile(`'(lambda|unnamed)[0-9]*'`), "'$1'"},
}

// stableName is the name of a function without what another build numbers
// otherwise.
func stableName(function string) string {
	if !strings.ContainsAny(function, "[.#$':") {
		return function
	}
	for _, n := range numbered {
		function = n.part.ReplaceAllString(function, n.with)
	}
	return function
}

// bareName leaves out parameters, template arguments and the return type too:
// what a function is called when its signature has changed.
func bareName(function string) string {
	if strings.HasPrefix(function, "<") { // a Rust implementation is named so
		return function
	}
	function = strings.TrimSuffix(function, " const")
	var bare strings.Builder
	isLeftOut := func(open signature.Part) bool { return open.Text == "<" || open.Text == "(" }
	for p := range signature.Outside(function, isLeftOut) {
		switch {
		case p.Kind == signature.Anonymous:
		case p.Kind == signature.Space && strings.HasPrefix(function[p.Start:], " <"):
		case p.Kind == signature.Space && p.Depth == 0:
			bare.Reset() // what stood before was the return type
		default:
			bare.WriteString(p.Text)
		}
	}
	return bare.String()
}

// offset returns the start of the code of a function without a name.
func offset(f *profile.Frame) uint64 {
	_, hex, _ := strings.Cut(f.Function, "+0x")
	n, _ := strconv.ParseUint(hex, 16, 64)
	return n
}

func fileName(f *profile.Frame) string {
	if f.File == "" {
		return ""
	}
	return path.Base(filepath.ToSlash(f.File))
}

var versions = regexp.MustCompile(`[-._]?[0-9]+(\.[0-9]+)*`)

// moduleFamily is the name of a module without what says which version it is:
// "libfoo-2.so.1.4" becomes "libfoo.so".
func moduleFamily(module string) string {
	name := path.Base(module)
	if stem, _, library := strings.Cut(name, ".so"); library {
		name = stem + ".so"
	}
	return versions.ReplaceAllString(name, "")
}
