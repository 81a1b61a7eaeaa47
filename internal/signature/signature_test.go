package signature

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for name, want := range map[string]string{
		"main":                               "main",
		"std::vector<int, A<B> >::at(int)":   "std :: vector < int@1 ,@1  @1 A@1 <@1 B@2 >@1  @1 > :: at ( int@1 )",
		"bool operator< <int>(A)":            "bool   operator<   < int@1 > ( A@1 )",
		"A::operator()<B>(int)":              "A :: operator() < B@1 > ( int@1 )",
		"A::operator->*(B)":                  "A :: operator->* ( B@1 )",
		"A::operator<=>(B)":                  "A :: operator<=> ( B@1 )",
		"A::operator unsigned long()":        "A :: operator unsigned long ( )",
		"A::operator F<void (int)>() const":  "A :: operator F<void (int)> ( )   const",
		"A::operator newer()":                "A :: operator newer ( )",
		"A::operator new[](unsigned long)":   "A :: operator new[] ( unsigned@1  @1 long@1 )",
		`operator"" _km(long double)`:        `operator"" _km ( long@1  @1 double@1 )`,
		"operators<int>()":                   "operators < int@1 > ( )",
		"(anonymous namespace)::f(int)":      "(anonymous namespace) :: f ( int@1 )",
		"f<fn(u8) -> u8>":                    "f < fn@1 (@1 u8@2 )@1  @1 ->@1  @1 u8@1 >",
		"f<(a > b)>()":                       "f < (@1 a@2  @2 >@2  @2 b@2 )@1 > ( )",
		"f((a < b), c)":                      "f ( (@1 a@2  @2 <@2  @3 b@3 )@1 ,@1  @1 c@1 )",
		">)x(":                               "> ) x (",
		"main::{lambda(int)#1}::operator&&(": "main :: { lambda@1 (@1 int@2 )@1 #1@1 } :: operator&& (",
	} {
		var got []string
		for p := range Parts(name) {
			text := p.Text
			if p.Depth > 0 {
				text = fmt.Sprintf("%s@%d", text, p.Depth)
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, " "), want)
		}
	}
}

func TestPath(t *testing.T) {
	for name, want := range map[string][]Name{
		"main":                                  {{"main", ""}},
		"int std::vector<A, B<C> >::at<D>(int)": {{"std", ""}, {"vector", "A, B<C> "}, {"at", "D"}},
		"a::Node<int>::operator new[](unsigned long)":   {{"a", ""}, {"Node", "int"}, {"operator new[]", ""}},
		"alloc::vec::Vec<T>::push::<u8>":                {{"alloc", ""}, {"vec", ""}, {"Vec", "T"}, {"push", ""}, {"", "u8"}},
		"(anonymous namespace)::A<(B)1>::f()":           {{"(anonymous namespace)", ""}, {"A", "(B)1"}, {"f", ""}},
		"decltype (f(a).b) std::construct_at<A>(A*)":    {{"std", ""}, {"construct_at", "A"}},
		"decltype(a) std::construct_at<A>(A*)":          {{"std", ""}, {"construct_at", "A"}},
		"std::f[abi:cxx11]::f(int)":                     {{"std", ""}, {"f", ""}, {"f", ""}},
		"parse.isra.0":                                  {{"parse", ""}},
		"parse [clone .cold]":                           {{"parse", ""}},
		"std::ostream& std::operator<< <T>(S&, T)":      {{"std", ""}, {"operator<<", "T"}},
		"main::{lambda(A<b>, c)#1}::operator()() const": {{"main", ""}, {"{lambda(A<b>, c)#1}", ""}, {"operator()", ""}},
		"": {{"", ""}},
	} {
		if got := Path(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestMethod(t *testing.T) {
	for name, want := range map[string][2]string{
		"main": {"", "main"},
		"void std::vector<int>::push_back(int&&)": {"std::vector", "push_back"},
		"bool Key::operator<(Key const&) const":   {"Key", "operator<"},
		"net::(anonymous namespace)::Key::Key()":  {"net::Key", "Key"},
		"core::ptr::drop_in_place::<Key>":         {"core::ptr", "drop_in_place"},
	} {
		if class, method := Method(name); class != want[0] || method != want[1] {
			t.Errorf("%s: %q and %q, want %q", name, class, method, want)
		}
	}
}

func TestCutBrackets(t *testing.T) {
	for text, want := range map[string][2]string{
		"<A<B> as C>::d":  {"A<B> as C", "::d"},
		"<fn(A) -> B>::c": {"fn(A) -> B", "::c"},
		"<A":              {"", "<A"},
		"A<B>":            {"", "A<B>"},
		"":                {"", ""},
	} {
		inner, rest, ok := CutBrackets(text)
		if inner != want[0] || rest != want[1] || ok != (want[0] != "") {
			t.Errorf("%s: %q, %q and %v, want %q", text, inner, rest, ok, want)
		}
	}
}

// FuzzParts holds that parts are all of a name, and that nothing which is made
// of them is longer.
func FuzzParts(f *testing.F) {
	for _, name := range []string{
		"int std::vector<A, B<C> >::at<D>(int) const", "<T as Map<K>>::get::<u8>", "a<<<>>::(::", "operator operator<(", `operator""`, "}>])",
		"decltype(a(b)c", "strings.(*Builder).Grow", strings.Repeat("operator ", 20),
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		var all strings.Builder
		for p := range Parts(name) {
			if p.Text == "" || p.Start != all.Len() || p.Depth < 0 {
				t.Fatalf("%q: %+v", name, p)
			}
			all.WriteString(p.Text)
		}
		if all.String() != name {
			t.Errorf("%q: %q", name, all.String())
		}
		for _, less := range []string{Qualified(name), WithoutParameters(name), WithoutReturnType(name), strings.Join(Arguments(name), "")} {
			if len(less) > len(name) {
				t.Errorf("%q: %q", name, less)
			}
		}
		if inner, rest, ok := CutBrackets(name); ok && name[:1]+inner+name[1+len(inner):2+len(inner)]+rest != name {
			t.Errorf("%q: %q and %q", name, inner, rest)
		}
	})
}
