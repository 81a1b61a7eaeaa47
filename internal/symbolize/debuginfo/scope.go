package debuginfo

import (
	"slices"
	"sort"
	"strings"
)

// Compilers leave the linkage name out for functions that the linker never
// sees by name: in anonymous namespaces, of local classes, lambdas. Then the
// scopes around the declaration tell what it is called.

// scope is an entry that others are named within.
type scope struct {
	entry, end int
	parent     int // index, -1 for none
	name       value
	tag        tag
}

// scopedLanguage tells whether names of this unit are qualified by "::". The
// units that dwz makes of shared entries do not say their language.
func (u *unit) scopedLanguage() bool {
	switch u.language {
	case 0, 0x04, 0x1a, 0x1c, 0x21, 0x2b, 0x3a, 0x3b: // C++, C++11, Rust, C++14, C++17, C++20, C++23
		return true
	}
	return false
}

// qualified puts the names of the scopes around the entry in front of name.
func (u *unit) qualified(entry int, name string) string {
	return u.qualifiedWithin(entry, name, maxHops)
}

// qualifiedWithin follows so many functions to where they are declared, at most.
func (u *unit) qualifiedWithin(entry int, name string, hops int) string {
	if !u.scopedLanguage() || name == "" {
		return name
	}
	scopes := u.scopeIndex()
	parts := []string{name}
	i := sort.Search(len(scopes), func(i int) bool { return scopes[i].entry >= entry }) - 1
	for ; i >= 0; i = scopes[i].parent {
		if scopes[i].end <= entry {
			continue
		}
		if scopes[i].tag == tagSubprogram {
			parts = append(parts, u.functionScope(scopes[i], hops))
			break
		}
		parts = append(parts, u.scopeName(scopes[i], name))
	}
	slices.Reverse(parts)
	return strings.Join(parts, "::")
}

// functionScope returns the name of a function around something local, with the
// scopes around the function's declaration: that of a member is in its class.
func (u *unit) functionScope(s scope, hops int) string {
	_, plain, at := entryRef{u.data, uint64(s.entry)}.follow()
	if declared := at.data.unitAt(at.off); declared != nil && hops > 0 {
		plain = declared.qualifiedWithin(int(at.off), plain, hops-1)
	}
	return plain + "()"
}

// scopeName returns the name of a scope around member that is no function.
func (u *unit) scopeName(s scope, member string) string {
	name := u.text(s.name)
	switch {
	case s.tag == tagNamespace && name == "":
		return "(anonymous namespace)"
	case name == "" && (member == "operator()" || strings.HasSuffix(member, "<lambda>")):
		return "{lambda}"
	case name == "":
		return "(anonymous)"
	}
	return name
}

func (t tag) isScope() bool {
	switch t {
	case tagNamespace, tagClassType, tagStructureType, tagUnionType, tagSubprogram:
		return true
	}
	return false
}

// scopeIndex returns the scopes of the unit in the order of their entries.
func (u *unit) scopeIndex() []scope {
	if u.scopes != nil {
		return u.scopes
	}
	u.scopes = []scope{}
	table := u.abbrevs()
	c := cursor{data: u.data.s.Info[:u.end], off: u.entries}
	const noScope = -1
	type level struct{ own, around int } // the entry's own scope, the scope around it
	var open []level
	around := noScope
	for c.off < u.end && !c.bad {
		at := c.off
		code := c.uleb()
		if code == 0 {
			if len(open) == 0 {
				break
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if last.own != noScope {
				u.scopes[last.own].end = at
			}
			around = last.around
			continue
		}
		a := table.get(code)
		if a == nil {
			break
		}
		own := noScope
		if a.children && a.tag.isScope() {
			own = len(u.scopes)
			u.scopes = append(u.scopes, scope{entry: at, end: u.end, parent: around, name: u.readName(&c, a), tag: a.tag})
		} else {
			a.skip(&c, u.encoding)
		}
		if a.children {
			open = append(open, level{own, around})
			if own != noScope {
				around = own
			}
		}
	}
	u.data.spend(c.off - u.entries)
	return u.scopes
}

func (u *unit) readName(c *cursor, a *abbrev) (name value) {
	for _, s := range a.attrs {
		if s.name == attrName {
			name = u.read(c, s)
		} else {
			u.skipForm(c, s.form)
		}
	}
	return name
}
