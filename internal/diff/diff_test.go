package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"mallow/internal/diff"
	"mallow/internal/diff/difftest"
)

// described is a comparison in a line a site: status, how it was matched,
// where, and the calls.
func described(d *diff.Diff) string {
	var b strings.Builder
	for _, s := range d.Sites {
		f := s.Frame()
		fmt.Fprintf(&b, "%s %s %s:%d %d->%d", s.Status, s.Match, f.Function, f.Line, s.OldCounters().Calls, s.NewCounters().Calls)
		for _, k := range s.Kinds() {
			fmt.Fprintf(&b, " %s", k)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestMatching(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{
			"lines that shifted do not show",
			"3 malloc 16: f a.c:10 < main m.c:1\n2 calloc 8: f a.c:20 < main m.c:1",
			"3 malloc 16: f a.c:110 < main m.c:5\n2 calloc 8: f a.c:125 < main m.c:6",
			"same name f:110 3->3\nsame name f:125 2->2\n",
		},
		{
			"a cured loop is gone, its neighbours stay",
			"5 malloc 16: f a.c:10 < main m.c:1\n900 malloc 16: f a.c:20 < main m.c:1\n4 malloc 64: f a.c:30 < main m.c:1",
			"5 malloc 16: f a.c:12 < main m.c:1\n4 malloc 64: f a.c:29 < main m.c:1",
			"gone  f:20 900->0\nsame name f:12 5->5\nsame name f:29 4->4\n",
		},
		{
			"of several that were alike, the one that realloc takes over",
			"20 malloc 16 grown: f a.c:10 < main m.c:1\n20 malloc 16: f a.c:11 < main m.c:1\n20 malloc 16: f a.c:12 < main m.c:1",
			"20 malloc 16 grown: f a.c:14 < main m.c:1",
			"gone  f:11 20->0\ngone  f:12 20->0\nsame name f:14 20->20\nsame name grow:1 20->20\n",
		},
		{
			"one taken away and one added elsewhere in the function",
			"5 malloc 16: f a.c:10 < main m.c:1\n9 calloc 7: f a.c:20 < main m.c:1\n4 malloc 64: f a.c:30 < main m.c:1",
			"9 calloc 7: f a.c:20 < main m.c:1\n4 malloc 64: f a.c:30 < main m.c:1\n6 strdup 3: f a.c:40 < main m.c:1",
			"new  f:40 0->6\ngone  f:10 5->0\nsame name f:20 9->9\nsame name f:30 4->4\n",
		},
		{
			"one put before another, of which it takes the number",
			"14 strdup 4: f a.c:28 < main m.c:1\n14 malloc 64: f a.c:32 < main m.c:1",
			"14 strdup 4: f a.c:28 < main m.c:1\n14 malloc 32: f a.c:32 < main m.c:1\n14 malloc 64: f a.c:33 < main m.c:1",
			"new  f:32 0->14\nsame name f:28 14->14\nsame name f:33 14->14\n",
		},
		{
			"and one that is but a little smaller",
			"14 strdup 4: f a.c:28 < main m.c:1\n14 malloc 64: f a.c:32 < main m.c:1",
			"14 strdup 4: f a.c:28 < main m.c:1\n14 malloc 63: f a.c:32 < main m.c:1\n14 malloc 64: f a.c:33 < main m.c:1",
			"new  f:32 0->14\nsame name f:28 14->14\nsame name f:33 14->14\n",
		},
		{
			"lines that calls elsewhere in the function show to be where they were",
			"800 new 24: f a.c:17 < main m.c:1\n800 new 24: f a.c:60 < main m.c:1\n1 new 39300: f a.c:60 < main m.c:1\n800 new 48: f a.c:72 < main m.c:1\n800 new 96: f a.c:72 < main m.c:1\n" +
				"9 new 30: g b.c:1 < f a.c:24 < main m.c:1\n9 new 30: g b.c:1 < f a.c:44 < main m.c:1\n9 new 30: g b.c:1 < f a.c:81 < main m.c:1",
			"800 new 192: f a.c:10 < main m.c:1\n800 new 24: f a.c:17 < main m.c:1\n1 new 39300: f a.c:60 < main m.c:1\n" +
				"9 new 30: g b.c:1 < f a.c:24 < main m.c:1\n9 new 30: g b.c:1 < f a.c:44 < main m.c:1\n9 new 30: g b.c:1 < f a.c:81 < main m.c:1",
			"gone  f:72 1600->0\nnew  f:10 0->800\nchanged name f:60 801->1 fewer bigger\nsame name f:17 800->800\nsame name g:1 27->27\n",
		},
		{
			"of several that were alike, the one at the same line",
			"14 malloc 144: f a.c:83 < main m.c:1\n14 malloc 20: f a.c:111 < main m.c:1\n14 malloc 20: f a.c:116 < main m.c:1\n14 malloc 20: f a.c:121 < main m.c:1\n14 malloc 20: f a.c:149 < main m.c:1",
			"14 malloc 144: f a.c:83 < main m.c:1\n14 malloc 80: f a.c:111 < main m.c:1",
			"gone  f:116 14->0\ngone  f:121 14->0\ngone  f:149 14->0\nchanged name f:111 14->14 bigger\nsame name f:83 14->14\n",
		},
		{
			"two that changed places",
			"14 malloc 16: f a.c:10 < main m.c:1\n14 malloc 32: f a.c:11 < main m.c:1",
			"14 malloc 32: f a.c:10 < main m.c:1\n14 malloc 16: f a.c:11 < main m.c:1",
			"same name f:10 14->14\nsame name f:11 14->14\n",
		},
		{
			"three that changed places, beside one that changed",
			"14 malloc 16: f a.c:10 < main m.c:1\n14 malloc 32: f a.c:11 < main m.c:1\n14 malloc 48: f a.c:12 < main m.c:1\n5 malloc 64: f a.c:13 < main m.c:1",
			"14 malloc 32: f a.c:10 < main m.c:1\n14 malloc 48: f a.c:11 < main m.c:1\n14 malloc 16: f a.c:12 < main m.c:1\n6 malloc 64: f a.c:13 < main m.c:1",
			"changed name f:13 5->6 more\nsame name f:10 14->14\nsame name f:11 14->14\nsame name f:12 14->14\n",
		},
		{
			"one that has the figures of another, which changed",
			"14 malloc 16: f a.c:10 < main m.c:1\n14 malloc 32: f a.c:11 < main m.c:1",
			"14 malloc 32: f a.c:10 < main m.c:1\n15 malloc 32: f a.c:11 < main m.c:1",
			"changed name f:11 14->15 more\nchanged name f:10 14->14 bigger\n",
		},
		{
			"for other amounts of work, one caller's more and another one's less",
			"3 malloc 16 kept: f a.c:10 < run m.c:1 < main m.c:1\nunit request 2",
			"2 malloc 16 kept: f a.c:10 < run m.c:1 < main m.c:1\n1 malloc 16: f a.c:10 < walk m.c:2 < main m.c:1\nunit request 3",
			"changed name f:10 3->3 fewer never freed\n",
		},
		{
			"the only site of a function is the same whatever became of it",
			"40000 malloc 16: f a.c:10 < main m.c:1",
			"12 calloc 4096: f a.c:99 < main m.c:1",
			"changed name f:99 40000->12 fewer bigger\n",
		},
		{
			"a file that was renamed",
			"7 malloc 16: f old.c:10 < main m.c:1",
			"7 malloc 16: f new.c:3 < main m.c:1",
			"same function f:3 7->7\n",
		},
		{
			"functions of one name in two files",
			"7 malloc 16: init a.c:10 < main m.c:1\n9 malloc 99: init b.c:10 < main m.c:1",
			"9 malloc 99: init b.c:1 < main m.c:1\n8 malloc 16: init a.c:11 < main m.c:1",
			"changed name init:11 7->8 more\nsame name init:1 9->9\n",
		},
		{
			"a program of another name",
			"program /bin/demo-1\n7 malloc 16: f a.c:10 < main m.c:1",
			"program /bin/sample\n7 malloc 16: f a.c:10 < main m.c:1",
			"same name f:10 7->7\n",
		},
		{
			"a library of another version",
			"7 malloc 16: f in /lib/libfoo.so.1 a.c:10 < main m.c:1\n1 malloc 5: main m.c:2",
			"7 malloc 16: f in /opt/libfoo.so.2 a.c:10 < main m.c:1\n1 malloc 5: main m.c:2",
			"same name f:10 7->7\nsame name main:2 1->1\n",
		},
		{
			"a function that went to a library",
			"7 malloc 16: f a.c:10 < main m.c:1\n1 malloc 5: main m.c:2",
			"7 malloc 16: f in libfoo.so a.c:10 < main m.c:1\n1 malloc 5: main m.c:2",
			"same function f:10 7->7\nsame name main:2 1->1\n",
		},
		{
			"clones, Rust's hashes and numbered lambdas",
			"7 malloc 16: f.isra.0 a.c:10 < main m.c:1\n2 malloc 3: app::g::h0123456789abcdef g.rs:5 < main m.c:1\n4 new 8: h()::{lambda()#1}::operator() h.cc:4 < main m.c:1",
			"7 malloc 16: f.constprop.1 a.c:10 < main m.c:1\n2 malloc 3: app::g::hfedcba9876543210 g.rs:5 < main m.c:1\n4 new 8: h()::{lambda()#2}::operator() h.cc:9 < main m.c:1",
			"same name f.constprop.1:10 7->7\nsame name h()::{lambda()#2}::operator():9 4->4\nsame name app::g:5 2->2\n",
		},
		{
			"another signature",
			"7 new 16: net::parse(char const*) a.cc:10 < main m.c:1\n3 new 8: Pool<int>::get() p.h:4 < main m.c:1",
			"9 new 16: net::parse(std::string_view, int) a.cc:12 < main m.c:1\n3 new 8: Pool<long>::get() p.h:4 < main m.c:1",
			"changed signature net::parse(std::string_view, int):12 7->9 more\nsame signature Pool<long>::get():4 3->3\n",
		},
		{
			"overloads are not taken for each other",
			"7 new 16: put(int) a.cc:10 < main m.c:1\n3 new 8: put(char) a.cc:20 < main m.c:1",
			"5 new 16: put(long) a.cc:10 < main m.c:1\n4 new 8: put(short) a.cc:20 < main m.c:1",
			"gone  put(int):10 7->0\nnew  put(long):10 0->5\nnew  put(short):20 0->4\ngone  put(char):20 3->0\n",
		},
		{
			"a renamed function with equal figures and callers",
			"7 malloc 16: parse_old a.c:10 < run a.c:50 < main m.c:1",
			"7 malloc 16: parse_new a.c:12 < run a.c:52 < main m.c:1",
			"same figures parse_new:12 7->7\n",
		},
		{
			"renamed with its callers",
			"7 malloc 16: old_grow a.c:10 < old_put a.c:50 < main m.c:1\n3 malloc 9: old_open b.c:7 < main m.c:2",
			"7 malloc 16: new_grow a.c:12 < new_put a.c:52 < main m.c:1\n3 malloc 9: new_open b.c:7 < main m.c:2",
			"same figures new_grow:12 7->7\nsame figures new_open:7 3->3\n",
		},
		{
			"with other callers is not sure",
			"7 malloc 16: f a.c:10 < run a.c:50 < main m.c:1\n2 malloc 9: put a.c:60 < main m.c:1",
			"7 malloc 16: g a.c:12 < put a.c:60 < main m.c:1\n2 malloc 9: put a.c:61 < main m.c:1",
			"gone  f:10 7->0\nnew  g:12 0->7\nsame name put:61 2->2\n",
		},
		{
			"a renamed function with other figures is not sure",
			"7 malloc 16: parse_old a.c:10 < run a.c:50 < main m.c:1",
			"8 malloc 16: parse_new a.c:12 < run a.c:52 < main m.c:1",
			"new  parse_new:12 0->8\ngone  parse_old:10 7->0\n",
		},
		{
			"two of equal figures are not sure",
			"7 malloc 16: f a.c:10 < run a.c:50\n7 malloc 16: g a.c:20 < run a.c:51",
			"7 malloc 16: h a.c:10 < run a.c:50\n7 malloc 16: i a.c:20 < run a.c:51",
			"gone  f:10 7->0\nnew  h:10 0->7\ngone  g:20 7->0\nnew  i:20 0->7\n",
		},
		{
			"two of equal figures, by their callers",
			"7 malloc 16: f a.c:10 < run a.c:50\n7 malloc 16: g a.c:20 < walk a.c:51",
			"7 malloc 16: h a.c:10 < run a.c:50\n7 malloc 16: i a.c:20 < walk a.c:51",
			"same figures h:10 7->7\nsame figures i:20 7->7\n",
		},
		{
			"inlined into its caller",
			"7 malloc 16: helper in p < run in p < main in p",
			"7 malloc 16: run in p < main in p",
			"same figures run:0 7->7\n",
		},
		{
			"taken out of its caller",
			"7 malloc 16: run r.c:9 < main m.c:1",
			"7 malloc 16: helper h.c:2 < run r.c:10 < main m.c:1",
			"same figures helper:2 7->7\n",
		},
		{
			"no lines on one side",
			"7 malloc 16: f a.c:10 < main m.c:1\n3 malloc 9: f a.c:20 < main m.c:1",
			"10 malloc 16: f < main",
			"changed function f:0 10->10 bigger\n",
		},
		{
			"no symbols: by order and likeness",
			"7 malloc 16: libz.so+0x100 in libz.so < main m.c:1\n90 malloc 99: libz.so+0x200 in libz.so < main m.c:1\n5 strdup 3: libz.so+0x300 in libz.so < main m.c:1",
			"7 malloc 16: libz.so+0x140 in libz.so < main m.c:1\n5 strdup 3: libz.so+0x280 in libz.so < main m.c:1",
			"gone  libz.so+0x200:0 90->0\nsame order libz.so+0x140:0 7->7\nsame order libz.so+0x280:0 5->5\n",
		},
		{
			"imported logs know files and lines only",
			"7 malloc 16:  url.c:10\n3 strdup 5:  url.c:20\n2 malloc 100:  dyn.c:10",
			"7 malloc 16:  url.c:15\n2 malloc 100:  dyn.c:8",
			"gone  :20 3->0\nsame name :15 7->7\nsame name :8 2->2\n",
		},
		{
			"bytes, blocks never freed",
			"7 malloc 16: f a.c:10\n3 malloc 8: g a.c:20\n2 malloc 8: h a.c:30",
			"7 malloc 32: f a.c:10\n3 malloc 8 kept: g a.c:20\n2 malloc 8: h a.c:30",
			"changed name f:10 7->7 bigger\nchanged name g:20 3->3 more never freed\nsame name h:30 2->2\n",
		},
		{
			"a crate of another name",
			"2 malloc 8: shop::cart a.rs:1\n3 malloc 9: shop::item a.rs:9\n4 malloc 9: <shop::Row as core::fmt::Debug>::fmt a.rs:20\n5 malloc 7: workshop::tool w.rs:1",
			"2 malloc 8: store::cart b.rs:1\n3 malloc 9: store::item b.rs:9\n4 malloc 9: <store::Row as core::fmt::Debug>::fmt b.rs:20\n5 malloc 7: workshop::tool w.rs:1",
			"same name workshop::tool:1 5->5\nsame function <store::Row as core::fmt::Debug>::fmt:20 4->4\nsame function store::item:9 3->3\nsame function store::cart:1 2->2\n",
		},
		{
			"a common name in other files is no match unless it resembles",
			"7 malloc 16: init a.c:10\n9 malloc 99: init b.c:10\n5 malloc 50: init c.c:1",
			"9 malloc 99: init b.c:1\n800 calloc 4000: init d.c:11\n5 malloc 50: init e.c:7",
			"new  init:11 0->800\ngone  init:10 7->0\nsame name init:1 9->9\nsame function init:7 5->5\n",
		},
		{
			"symbols on one side only",
			"7 malloc 16: f in p a.c:1 < main in p m.c:1\n9 malloc 99: f in p a.c:10 < main in p m.c:2\n5 malloc 50: g in p c.c:1 < main in p m.c:3\n6 malloc 50: h in p c.c:9 < main in p m.c:3",
			"7 malloc 16: p+0x10 in p < p+0x90 in p\n9 malloc 99: p+0x10 in p < p+0x90 in p\n5 malloc 50: p+0x20 in p < p+0x90 in p\n8 malloc 50: p+0x30 in p < p+0x90 in p",
			"new  p+0x30:0 0->8\ngone  h:9 6->0\nsame figures p+0x10:0 16->16\nsame figures p+0x20:0 5->5\n",
		},
		{
			"nothing against something",
			"unit nothing 1",
			"7 malloc 16: f a.c:10",
			"new  f:10 0->7\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := diff.Compare(difftest.Profile(c.old), difftest.Profile(c.new), diff.Options{All: true})
			if got := described(d); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}
