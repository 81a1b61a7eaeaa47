package log

import (
	"fmt"
	"path/filepath"

	"mallow/internal/eventlog"
	"mallow/internal/profile"
	"mallow/internal/recording"
)

// call is what is printed of every event of one stack.
type call struct {
	wanted         bool
	site           profile.Frame
	stack          []profile.Frame // with Options.Stack
	called         recording.Function
	name           string // of called
	before, behind []byte // of the event's own numbers
	function       []byte // of the site, in text
}

// calls keeps the calls that came by.
type calls struct {
	namer    *profile.Namer
	options  Options
	describe func(c *call)
	images   map[*recording.Image]*imageCalls
	last     *imageCalls // of the image of the latest event
	image    *recording.Image
	unknown  call
}

// imageCalls are the calls by stack and, of those that release, by node.
type imageCalls struct{ births, deaths []*call }

func newCalls(namer *profile.Namer, o Options) *calls {
	return &calls{namer: namer, options: o, images: make(map[*recording.Image]*imageCalls)}
}

func (c *calls) of(e *eventlog.Event) *call {
	list, id := c.list(e)
	if uint64(id) < uint64(len(*list)) && (*list)[id] != nil {
		return (*list)[id]
	}
	return &c.unknown
}

func (c *calls) list(e *eventlog.Event) (list *[]*call, id uint32) {
	if e.Image != c.image {
		c.image, c.last = e.Image, c.images[e.Image]
		if c.last == nil {
			c.last = new(imageCalls)
			c.images[e.Image] = c.last
		}
	}
	if e.Kind == eventlog.Death || e.Kind == eventlog.NullRelease {
		return &c.last.deaths, e.Caller
	}
	return &c.last.births, e.Stack
}

// prepare finds out about the calls of events that are new.
func (c *calls) prepare(events []eventlog.Event) {
	var fresh []*call
	var stacks []profile.StackRef
	for i := range events {
		e := &events[i]
		list, id := c.list(e)
		if uint64(id) < uint64(len(*list)) && (*list)[id] != nil || !inRecording(e) {
			continue
		}
		for uint64(len(*list)) <= uint64(id) {
			*list = append(*list, nil)
		}
		k, stack := newCall(e)
		(*list)[id] = k
		fresh = append(fresh, k)
		stacks = append(stacks, stack)
	}
	if len(fresh) > 0 {
		c.name(fresh, stacks)
	}
	if c.unknown.before == nil {
		c.unknown = call{wanted: c.options.Site == nil, name: "unknown"}
		c.describe(&c.unknown)
	}
}

// inRecording tells whether the recording has the stack of an event, or it is
// the one of those that have none. Others may come from damage, or from after
// the recording was read.
func inRecording(e *eventlog.Event) bool {
	if e.Kind == eventlog.Death || e.Kind == eventlog.NullRelease {
		_, holder := e.Image.Node(e.Caller)
		return holder != nil || e.Caller == 0
	}
	return e.Image.StackNode(e.Stack) != 0 || e.Stack == 0
}

func newCall(e *eventlog.Event) (*call, profile.StackRef) {
	if e.Kind == eventlog.Death || e.Kind == eventlog.NullRelease {
		return &call{name: "free"}, profile.StackRef{Image: e.Image, Node: e.Caller}
	}
	tail, holder := e.Image.Node(e.Image.StackNode(e.Stack))
	k := &call{name: "unknown"}
	if holder == nil || tail.Tag() != recording.TagFunction {
		// The stack had no room in the recording.
		return k, profile.StackRef{Image: e.Image}
	}
	if f := tail.Function(); f != 0 && f != recording.FreeNull {
		k.called = f
		k.name = f.String()
	}
	return k, profile.StackRef{Image: holder, Node: tail.Parent}
}

func (c *calls) name(fresh []*call, stacks []profile.StackRef) {
	sites := c.namer.Sites(stacks)
	var frames [][]profile.Frame
	if c.options.Stack {
		frames = c.namer.Stacks(stacks)
	}
	for i, k := range fresh {
		k.site = sites[i]
		if frames != nil {
			k.stack = frames[i]
		}
		k.wanted = c.options.matches(&k.site)
		c.describe(k)
	}
}

func (o *Options) matches(f *profile.Frame) bool {
	return o.Site == nil || profile.MatchesName(o.Site, f.Function) || o.Site.MatchString(place(f))
}

// place is the file and line of a frame, else its module and 0.
func place(f *profile.Frame) string {
	switch {
	case f.File != "":
		return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	case f.Module != "":
		return filepath.Base(f.Module) + ":0"
	}
	return "?:0"
}
