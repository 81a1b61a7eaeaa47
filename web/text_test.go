package web

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// evaluate lets node evaluate an expression over the names of a module.
func evaluate(t *testing.T, module, expression string, value any) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (nodejs): the script is only seen as a whole, in test/html")
	}
	path, err := filepath.Abs("js/" + module + ".js")
	if err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("import * as m from %q; process.stdout.write(JSON.stringify((%s)(m)))", "file://"+path, expression)
	out, err := exec.Command(node, "--no-warnings", "--input-type=module", "-e", program).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	if err := json.Unmarshal(out, value); err != nil {
		t.Fatal(err)
	}
}

func TestBareNames(t *testing.T) {
	names := [][2]string{
		{"main", "main"},
		{"walk(tree_node**, tree_node* (*)(tree_node**, int*, void*))", "walk"},
		{"(anonymous namespace)::Parser::Parse(std::istream&) const", "Parser::Parse"},
		{"void std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_construct<char*>(char*, char*)", "std::string::_M_construct<char*>"},
		{"operator new(unsigned long)", "operator new"},
		{"Thing::operator()(int) const", "Thing::operator()"},
		{"Thing::operator unsigned long() const", "Thing::operator unsigned long"},
		{"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
		{"run()::{lambda(int)#1}::operator()(int) const", "run()::{lambda(int)#1}::operator()"},
		{"<alloc::vec::Vec<T> as core::clone::Clone>::clone", "<alloc::vec::Vec<T> as core::clone::Clone>::clone"},
		{"f(int) [clone .cold]", "f"},
		{"(unknown in libz.so.1)", "(unknown in libz.so.1)"},
		{"cc1plus+0x9b2ca0", "cc1plus+0x9b2ca0"},
		{"a name (of nothing", "a name (of nothing"}, {"two words", "two words"},
		{"()", "()"}, {"(", "("}, {")", ")"}, {" ", " "}, {"", ""},
	}
	input, _ := json.Marshal(names)
	var got []string
	evaluate(t, "text", fmt.Sprintf("(m) => %s.map(([name]) => m.bareName(name))", input), &got)
	for i, name := range names {
		if got[i] != name[1] {
			t.Errorf("%q is %q, want %q", name[0], got[i], name[1])
		}
	}
}

// TestShortNames holds names to their room, and to keep what tells them apart.
func TestShortNames(t *testing.T) {
	names := []struct {
		Name string
		Most int
		Want string
	}{
		{"short", 10, "short"},
		{"std::map<std::string, std::vector<int>>::insert", 30, "std::map<…>::insert"},
		{"a<b<cccccccccccccccccccc>, d>::f<ee>", 24, "a<b<…>, d>::f<ee>"},
		{"operator<<<std::vector<int, std::allocator<int>>>", 28, "operator<<<std::vector<…>>"},
		{"a_function", 5, "a_fu…"},
		{strings.Repeat("<", 500), 40, ""},
		{strings.Repeat(">", 500), 40, ""},
		{strings.Repeat("a<", 300) + strings.Repeat(">", 300), 40, ""},
	}
	input, _ := json.Marshal(names)
	var got []string
	evaluate(t, "text", fmt.Sprintf("(m) => %s.map((n) => m.shorten(n.Name, n.Most))", input), &got)
	for i, name := range names {
		if n := len([]rune(got[i])); n > name.Most {
			t.Errorf("%.60q takes %d, has %d: %q", name.Name, n, name.Most, got[i])
		}
		if name.Want != "" && got[i] != name.Want {
			t.Errorf("%q is %q, want %q", name.Name, got[i], name.Want)
		}
	}
}

func TestNumbers(t *testing.T) {
	var got []string
	evaluate(t, "text", `(m) => [m.count(1234567), m.size(0), m.size(999), m.size(1000), m.size(999_999), m.size(1.92e6), m.size(-5e9),
		m.percent(999, 1000), m.percent(1, 1e6), m.percent(0, 5), m.percent(1, 0), m.factor(34167, 79), m.factor(10, 12), m.factor(0, 5), m.factor(5, 0)]`, &got)
	want := []string{"1,234,567", "0 B", "999 B", "1.00 kB", "1.00 MB", "1.92 MB", "-5.00 GB", "99 %", "<0.1 %", "0 %", "-", "432 times fewer", "20 % more", "new", "gone"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("number %d: %q, want %q", i, got[i], want[i])
		}
	}
}
