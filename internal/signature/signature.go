package signature

import "strings"

// Name is one name of a qualified one, with its template arguments.
type Name struct{ Name, Arguments string }

// Path returns the names of a function, without return type, parameters, tags
// and marks of clones: "int std::vector<A, B>::at<C>[abi:cxx11](int)" is std,
// vector<A, B>, at<C>. The last one is the function, which is always there.
func Path(function string) []Name {
	var path []Name
	var name, arguments strings.Builder
	end := func() {
		path = append(path, Name{name.String(), arguments.String()})
		name.Reset()
		arguments.Reset()
	}
	into := &name
	isLeftOut := func(open Part) bool {
		if open.Depth > 0 {
			return false
		}
		ofReturnType := open.Text == "(" && len(path) == 0 && (name.Len() == 0 || name.String() == "decltype")
		if ofReturnType {
			name.Reset()
		}
		return ofReturnType || open.Text == "[" // a tag
	}
	for p := range Outside(function, isLeftOut) {
		switch {
		case p.Depth > 0:
			into.WriteString(p.Text)
		case p.Kind == Open && p.Text == "<":
			into = &arguments
		case p.Kind == Close && p.Text == ">":
			into = &name
		case p.Kind == Open && p.Text == "(":
			end()
			return path
		case p.Kind == Space && endsReturnType(function, p):
			path = path[:0]
			name.Reset()
			arguments.Reset()
		case p.Kind == Space:
		case p.Kind == Scope:
			if name.Len() > 0 {
				end()
			}
		default:
			text, _, cloned := strings.Cut(p.Text, ".")
			if name.WriteString(text); cloned {
				end()
				return path
			}
		}
	}
	end()
	return path
}

// endsReturnType tells whether a space outside of brackets stands before a
// function's name, and not before its template arguments or its marks.
func endsReturnType(function string, space Part) bool {
	rest := function[space.Start+1:]
	return !strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "[")
}

// Qualified returns the names of a function without anything else, and without
// namespaces that have none: "void std::vector<int>::push_back(int&&)" is
// "std::vector::push_back".
func Qualified(function string) string {
	var names []string
	for _, n := range Path(function) {
		if n.Name != "" && n.Name != anonymous {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, "::")
}

// Method divides what Qualified returns: "void std::vector<int>::push_back(int&&)"
// is "std::vector" and "push_back".
func Method(function string) (class, method string) { return Split(Qualified(function)) }

// Split divides a name without anything else at its last scope.
func Split(name string) (scope, last string) {
	if at := strings.LastIndex(name, "::"); at >= 0 {
		return name[:at], name[at+len("::"):]
	}
	return "", name
}

// Arguments divides a list at the commas that stand in no brackets.
func Arguments(list string) []string {
	var arguments []string
	from := 0
	for p := range Parts(list) {
		if p.Kind == Comma && p.Depth == 0 {
			arguments = append(arguments, strings.TrimSpace(list[from:p.Start]))
			from = p.Start + 1
		}
	}
	if rest := strings.TrimSpace(list[from:]); rest != "" {
		arguments = append(arguments, rest)
	}
	return arguments
}

// CutBrackets divides "<inner>rest".
func CutBrackets(text string) (inner, rest string, ok bool) {
	for p := range Parts(text) {
		if p.Start == 0 && p.Kind != Open {
			break
		}
		if p.Kind == Close && p.Depth == 0 {
			return text[1:p.Start], text[p.Start+1:], true
		}
	}
	return "", text, false
}

// WithoutAnonymous leaves namespaces without a name out of a function's, as
// people and reports do.
func WithoutAnonymous(name string) string {
	return strings.ReplaceAll(name, anonymous+"::", "")
}

// WithoutParameters leaves parameters out, also those of functions that the
// name lies within, and namespaces without a name: "main()::{lambda(int)#1}::
// operator()(int) const" becomes "main::{lambda(int)#1}::operator()".
func WithoutParameters(function string) string {
	function = WithoutAnonymous(function)
	var name strings.Builder
	behind := 0 // the parameters that are left out, or len(function) within them
	for p := range Parts(function) {
		switch {
		case p.Kind == Close && p.Depth == 0 && behind == len(function):
			rest := strings.TrimPrefix(function[p.Start+1:], " const")
			if !strings.HasPrefix(rest, "::") {
				return name.String()
			}
			behind = len(function) - len(rest)
		case p.Start < behind:
		case p.Kind == Open && p.Text == "(" && p.Depth == 0 && p.Start > 0 && !isReceiver(function, p.Start):
			behind = len(function)
		default:
			name.WriteString(p.Text)
		}
	}
	return name.String()
}

// isReceiver tells what Go puts into brackets: "strings.(*Builder).Grow".
func isReceiver(function string, at int) bool {
	return strings.HasPrefix(function[at:], "(*") && strings.HasSuffix(function[:at], ".")
}

// WithoutReturnType leaves out what C++ puts before the name of a template
// function.
func WithoutReturnType(name string) string {
	start := 0
	for p := range Parts(name) {
		if p.Kind == Space && p.Depth == 0 && endsReturnType(name, p) {
			start = p.Start + 1
		}
	}
	return name[start:]
}
