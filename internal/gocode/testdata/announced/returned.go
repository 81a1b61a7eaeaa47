package announced

type thing struct{ next *thing }

type keeper interface{ keep(*thing) }

type owner struct {
	all  []*thing
	last *thing
}

func newThing() *thing { return &thing{} }

func tryThing() (*thing, error) { return &thing{}, nil }

func (o *owner) callers(k keeper, done chan *thing) *thing {
	o.last = newThing()               // takes: newThing kept
	o.all = append(o.all, newThing()) // takes: newThing kept
	t := newThing()                   // takes: newThing kept
	o.all = append(o.all, t)
	u, err := tryThing() // takes: tryThing kept
	if err == nil {
		o.last = u
	}
	v := newThing() // takes: newThing kept
	o.all = []*thing{u, v}
	k.keep(newThing()) // takes: newThing given
	w := newThing()    // takes: newThing given
	w.next = t
	k.keep(w)
	x := newThing() // takes: newThing looked at
	if x.next == o.last {
		look(x)
	}
	look(newThing()) // takes: newThing looked at
	y := newThing()  // takes: newThing looked at
	return y
}

func look(t *thing) bool { return t.next == nil }
