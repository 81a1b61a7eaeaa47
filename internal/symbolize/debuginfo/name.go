package debuginfo

import "strings"

// Name is what a function is called. Linkage tells that Text is the mangled
// name that the linker saw; else it is the name as in the source, with the
// scopes around it where the language has them.
type Name struct {
	Text    string
	Linkage bool
}

// maxHops bounds the chain from an inlined call over its abstract instance to
// the declaration in a class. Compilers make chains of three, dwz of four.
const maxHops = 16

// name returns the name of the function entry at r, following its abstract
// origin and specification, which may lie in other units or files. A mangled
// linkage name anywhere on the way is preferred, because it is unique.
func (r entryRef) name() Name {
	if n, ok := r.data.names[r.off]; ok {
		return n
	}
	linkage, plain, at := r.follow()
	n := Name{linkage, true}
	if linkage == "" {
		n = Name{plain, false}
		if u := at.data.unitAt(at.off); u != nil {
			n.Text = u.qualified(int(at.off), plain)
		}
	}
	r.data.names[r.off] = n
	return n
}

// follow returns the first mangled name on the chain, and the first plain name
// with the entry from which the chain does not go on: the declaration.
func (r entryRef) follow() (linkage, plain string, last entryRef) {
	for range maxHops {
		e, ok := r.functionEntry()
		if !ok {
			break
		}
		last = r
		if plain == "" {
			plain = e.name
		}
		if mangled(e.linkage) {
			return e.linkage, plain, last
		}
		if plain == "" {
			plain = e.linkage
		}
		if e.next.data == nil {
			break
		}
		r = e.next
	}
	if last.data == nil {
		last = r
	}
	return "", plain, last
}

// mangled tells whether a linkage name says more than the plain name: in C it
// is an alias that only the linker sees, such as __GI_abort for abort.
func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_D")
}

// functionEntry is what an entry itself says of its name. next is the entry
// that it is an instance of or completes, without data when there is none.
type functionEntry struct {
	linkage, name string
	next          entryRef
}

func (r entryRef) functionEntry() (e functionEntry, ok bool) {
	u := r.data.unitAt(r.off)
	if u == nil {
		return e, false
	}
	c := cursor{data: r.data.s.Info[:u.end], off: int(r.off)}
	a := u.abbrevs().get(c.uleb())
	if a == nil {
		return e, false
	}
	for _, s := range a.attrs {
		switch s.name {
		case attrLinkageName, attrMIPSLinkage:
			e.linkage = u.text(u.read(&c, s))
		case attrName:
			e.name = u.text(u.read(&c, s))
		case attrAbstractOrigin, attrSpecification:
			if next, ok := u.reference(u.read(&c, s)); ok {
				e.next = next
			}
		default:
			u.skipForm(&c, s.form)
		}
	}
	return e, !c.bad
}
