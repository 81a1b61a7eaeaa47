package debuginfo

// Name is what a function is called. Linkage tells that Text is the mangled
// name that the linker saw; else it is the name as in the source, without the
// scopes around it.
type Name struct {
	Text    string
	Linkage bool
}

// maxHops bounds the chain from an inlined call over its abstract instance to
// the declaration in a class. Compilers make chains of three, dwz of four.
const maxHops = 16

// name returns the name of the function entry at ref, following its abstract
// origin and specification, which may lie in other units or files. A linkage
// name anywhere on the way is preferred, because it is unique.
func (r entryRef) name() Name {
	if n, ok := r.data.names[r.off]; ok {
		return n
	}
	n := r.findName()
	r.data.names[r.off] = n
	return n
}

func (r entryRef) findName() Name {
	var plain string
	for range maxHops {
		u := r.data.unitAt(r.off)
		if u == nil {
			break
		}
		c := cursor{data: r.data.s.Info[:u.end], off: int(r.off)}
		a := u.abbrevs().get(c.uleb())
		if a == nil {
			break
		}
		var linkage, name, origin, specification value
		for _, s := range a.attrs {
			switch s.name {
			case attrLinkageName, attrMIPSLinkage:
				linkage = u.read(&c, s)
			case attrName:
				name = u.read(&c, s)
			case attrAbstractOrigin:
				origin = u.read(&c, s)
			case attrSpecification:
				specification = u.read(&c, s)
			default:
				u.skipForm(&c, s.form)
			}
		}
		if c.bad {
			break
		}
		if text := u.text(linkage); text != "" {
			return Name{text, true}
		}
		if plain == "" {
			plain = u.text(name)
		}
		next, ok := u.reference(origin)
		if !ok {
			next, ok = u.reference(specification)
		}
		if !ok {
			break
		}
		r = next
	}
	return Name{plain, false}
}
