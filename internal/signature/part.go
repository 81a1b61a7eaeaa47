// Package signature takes the demangled names of functions apart: "void
// std::vector<int>::push_back(int&&)" of C++, "<Table<K> as Map<K>>::get::<u8>" of
// Rust. Names come from hostile files: all that does not fit is text.
package signature

import (
	"iter"
	"strings"
)

// Kind tells what a part of a name is.
type Kind uint8

// The kinds. Anonymous is "(anonymous namespace)"; Text is everything else, the
// whole name of an operator too.
const (
	Text Kind = iota
	Open
	Close
	Scope // ::
	Comma
	Space
	Anonymous
)

// Part is a piece of a name.
type Part struct {
	Kind  Kind
	Text  string
	Start int // in the name, in bytes
	Depth int // of brackets that are open around it; of a bracket, around both of the pair
}

const anonymous = "(anonymous namespace)"

// Parts divides a name, without gaps. Brackets are <>, (), [] and {}; those of
// "operator<" and "->" are text, and so is one that closes nothing.
func Parts(name string) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		open := make([]byte, 0, 32)
		for at := 0; at < len(name); {
			part := Part{Text: name[at : at+length(name[at:])], Start: at, Depth: len(open)}
			part.Kind = kindOf(part.Text)
			switch part.Kind {
			case Open:
				open = append(open, part.Text[0])
			case Close:
				if part.Depth = opening(open, part.Text[0]); part.Depth < 0 {
					part.Kind, part.Depth = Text, len(open)
				}
				open = open[:part.Depth]
			}
			if !yield(part) {
				return
			}
			at += len(part.Text)
		}
	}
}

// Outside divides a name without what lies in brackets that are left out, and
// without these. leaveOut is asked at each opening one that is not within others
// of them.
func Outside(name string, leaveOut func(open Part) bool) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		const nowhere = -1
		within := nowhere // the depth of the brackets that are left out
		for p := range Parts(name) {
			switch {
			case within != nowhere:
				if p.Kind == Close && p.Depth == within {
					within = nowhere
				}
			case p.Kind == Open && leaveOut(p):
				within = p.Depth
			case !yield(p):
				return
			}
		}
	}
}

func kindOf(part string) Kind {
	switch part {
	case "<", "(", "[", "{":
		return Open
	case ">", ")", "]", "}":
		return Close
	case "::":
		return Scope
	case ",":
		return Comma
	case " ":
		return Space
	case anonymous:
		return Anonymous
	}
	return Text
}

// opening returns the index of the bracket that the closing one belongs to, or
// -1. In "(a > b)" and "f(a < b)" < and > are no brackets.
func opening(open []byte, closing byte) int {
	want := "<([{"[strings.IndexByte(">)]}", closing)]
	last := len(open) - 1
	for want != '<' && last >= 0 && open[last] == '<' {
		last--
	}
	if last >= 0 && open[last] == want {
		return last
	}
	return -1
}

const special = "<>()[]{}:, -"

// length returns how long the part is with which a rest of a name begins.
func length(rest string) int {
	for _, whole := range []string{anonymous, "::", "->"} {
		if strings.HasPrefix(rest, whole) {
			return len(whole)
		}
	}
	if n := operatorLength(rest); n > 0 {
		return n
	}
	if strings.IndexByte(special, rest[0]) >= 0 {
		return 1
	}
	if n := strings.IndexAny(rest, special); n > 0 {
		return n
	}
	return len(rest)
}

// operators are those whose names have something in them that means something
// else elsewhere, longer ones first.
var operators = []string{
	"()", "[]", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "->*", "->", "<", ">", "-=", "--", "-", ",",
	" new[]", " new", " delete[]", " delete",
}

// operatorLength returns how long the name of the operator is with which a rest
// of a name begins, 0 where none does: "operator<<", "operator new[]", "operator
// unsigned long", `operator"" _km`.
func operatorLength(rest string) int {
	const word = "operator"
	behind, ok := strings.CutPrefix(rest, word)
	if !ok || behind == "" || isOfIdentifier(behind[0]) {
		return 0
	}
	for _, symbol := range operators {
		if strings.HasPrefix(behind, symbol) && !(symbol[0] == ' ' && len(behind) > len(symbol) && isOfIdentifier(behind[len(symbol)])) {
			return len(word) + len(symbol)
		}
	}
	if behind[0] == ' ' || behind[0] == '"' {
		return len(word) + conversionLength(behind)
	}
	if n := strings.IndexAny(behind, special); n >= 0 {
		return len(word) + n
	}
	return len(rest)
}

// conversionLength returns how long the type is before its parameters: "
// std::function<void (int)>" of " std::function<void (int)>() const".
func conversionLength(behind string) int {
	depth := 0
	for i := range len(behind) {
		switch behind[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(behind)
}

func isOfIdentifier(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
