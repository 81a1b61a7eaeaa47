package diff

import "testing"

func TestStableName(t *testing.T) {
	for name, want := range map[string]string{
		"parse":                              "parse",
		"parse.isra.0":                       "parse",
		"parse.part.0.constprop.1":           "parse",
		"parse.cold":                         "parse",
		"parse(int) [clone .isra.0]":         "parse(int)",
		"app::parse::h0123456789abcdef":      "app::parse",
		"app[8f1c2d3e4a5b6c7d]::parse":       "app::parse",
		"app::run::{closure#12}":             "app::run::{closure}",
		"run()::{lambda(int)#2}::operator()": "run()::{lambda(int)}::operator()",
		"run()::$_3::operator()":             "run()::$_::operator()",
		"run()::'lambda0'(int)":              "run()::'lambda'(int)",
		"v1.coldstart":                       "v1.coldstart",
		"array[3]":                           "array[3]",
		"":                                   "",
	} {
		if got := stableName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestBareName(t *testing.T) {
	for name, want := range map[string]string{
		"parse":                        "parse",
		"net::parse(char const*, int)": "net::parse",
		"void net::Pool<int, std::less<int> >::get()": "net::Pool::get",
		"net::parse() const":                          "net::parse",
		"(anonymous namespace)::parse(int)":           "::parse",
		"A::operator()(int) const":                    "A::operator()",
		"bool operator< <int>(A<int> const&)":         "operator<",
		"std::ostream& operator<<(std::ostream&, A)":  "operator<<",
		"<T as Trait>::run":                           "<T as Trait>::run",
		"run()::{lambda(int)}::operator()(int) const": "run::{lambda}::operator()",
		"(((((":                      "",
		">>>>x":                      ">>>>x",
		"Key::operator bool() const": "Key::operator bool",
	} {
		if got := bareName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestModuleFamily(t *testing.T) {
	for name, want := range map[string]string{
		"/usr/lib/libfoo.so.1.4":     "libfoo.so",
		"/usr/lib/libfoo-2.so.1":     "libfoo.so",
		"libpython3.11.so.1.0":       "libpython.so",
		"/opt/server-1.2/bin/server": "server",
		"server-1.2":                 "server",
	} {
		if got := moduleFamily(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
