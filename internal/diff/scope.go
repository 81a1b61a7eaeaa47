package diff

import (
	"cmp"
	"slices"
	"strings"
)

// renameScopes gives the functions left of b the names of a where the
// outermost scope that they are in was renamed as a whole: a namespace, or a
// Rust crate.
func (m *matcher) renameScopes() {
	inA, inB := scopes(m.a.entries), scopes(m.b.entries)
	for _, scope := range outermost(inB) {
		if inA[scope] != nil {
			continue
		}
		was := ""
		most := 1 // one function alone may just be called the same
		for _, candidate := range outermost(inA) {
			if inB[candidate] != nil {
				continue
			}
			if n := common(inA[candidate], inB[scope]); n > most {
				was, most = candidate, n
			}
		}
		if was == "" {
			continue
		}
		delete(inA, was) // it is taken
		for _, e := range m.b.entries {
			if e.pair == nil {
				e.name = inScope(e.name, scope, was)
			}
		}
	}
}

// scopes are the names within each outermost scope.
func scopes(entries []*entry) map[string]map[string]bool {
	by := make(map[string]map[string]bool)
	for _, e := range entries {
		scope, name, found := strings.Cut(e.name, "::")
		if !found || !isIdentifier(scope) {
			continue
		}
		if by[scope] == nil {
			by[scope] = make(map[string]bool)
		}
		by[scope][name] = true
	}
	return by
}

func isIdentifier(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !isWord(r) })
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// outermost are the names of scopes, those with most functions first.
func outermost(scopes map[string]map[string]bool) []string {
	names := make([]string, 0, len(scopes))
	for name := range scopes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(scopes[b]), len(scopes[a])), cmp.Compare(a, b))
	})
	return names
}

func common(a, b map[string]bool) (n int) {
	for name := range a {
		if b[name] {
			n++
		}
	}
	return n
}

// inScope writes another scope wherever a name speaks of one.
func inScope(name, scope, other string) string {
	var b strings.Builder
	for {
		at := strings.Index(name, scope+"::")
		if at < 0 {
			b.WriteString(name)
			return b.String()
		}
		b.WriteString(name[:at])
		if before := b.String(); before == "" || !isWord(rune(before[len(before)-1])) && !strings.HasSuffix(before, "::") {
			b.WriteString(other)
		} else {
			b.WriteString(scope)
		}
		name = name[at+len(scope):]
	}
}
