package gocode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// markedLine is the number of the line that ends with a comment.
func markedLine(t *testing.T, file, comment string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(content), "// "+comment+"\n")
	if at < 0 {
		t.Fatalf("%s has no line of %q", file, comment)
	}
	return 1 + strings.Count(string(content)[:at], "\n")
}

func TestEscapesAreFollowedIntoOtherModules(t *testing.T) {
	cache, err := goOutput("env", "GOCACHE")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	t.Chdir("testdata/follow")
	toolchain, err := FindToolchain()
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Toolchain: toolchain}
	s, e := b.understand([]string{"."}, false)
	file, err := filepath.Abs("follow.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line   string
		object string // "" for a slice
		why    string
		rule   string
		flow   string
	}{
		{"checked", "int", "it is an argument of dep.Check, which may keep it, in dep/dep.go:15: it is an argument of fmt.", "callee", "in dep.Check, dep.go:15: from p (interface-converted)"},
		{"kept", "int", "it is an argument of dep.Keep, which may keep it, in dep/dep.go:23: it is stored by kept = p", "pointer", "in dep.Keep, dep.go:23: from kept = p (assign)"},
		{"passed", "int", "it is an argument of dep.Pass, which may keep it, in dep/dep.go:30: it is an argument of again, which may keep it, in dep/dep.go:33: it is an argument of store.Put, which may keep it, in store/store.go:8: it is stored by append(all, p)", "pointer", "in store.Put, store.go:8:"},
		{"acted", "", "it is an argument of a.apply, which may keep it, in follow/follow.go:36: it is stored by append(l.kept, groups)", "", "push).apply, follow.go:36:"},
		{"embedded", "", "which may keep it, in follow/follow.go:36: it is stored by append(l.kept, groups)", "", ""},
		{"read", "", "it is an argument of r.into, which may keep it", "scratch", ""},
		{"some", "", "it is an argument of r.into, which may keep it", "size", ""},
		{"stored", "", "it is stored by l.made[n] = make([]int, 4)", "", ""},
	} {
		l := &Line{Frame: Frame{Function: "example.org/follow.F", File: file, Line: markedLine(t, file, test.line), Origin: OriginOwn}, Callee: "runtime.newobject", Type: test.object, Allocs: 1, Bytes: 32}
		if test.object == "" {
			l.Callee = "runtime.makeslice"
		}
		explain([]*Line{l}, s, e)
		if !strings.Contains(l.Why, test.why) || l.Rule != test.rule || !strings.Contains(strings.Join(l.Flow, "\n"), test.flow) {
			t.Errorf("%s: %q, rule %q, flow %q\nescapes %+v", test.line, l.Why, l.Rule, l.Flow, e.at(l.File, l.Line))
		}
	}
}

// A copy in one branch saves nothing where the rest keeps the argument, too.
func TestWhatIsKeptOnTheWayOutAlone(t *testing.T) {
	for rest, want := range map[string]bool{
		"if len(s) > n && s[0] != 'x' { return nil }": true,
		"switch s { case \"a\", t + s: n++ }":         true,
		"for range s { n++ }; n += int(s[n:][0])":     true,
		"n += seen[s]; seen[t] = len(s[1:])":          true,
		"s = t; _ = x.s":                              true,
		"seen[s] = 1":                                 false,
		"all = append(all, s)":                        false,
		"t = s[1:]":                                   false,
		"log(s)":                                      false,
		"func() { n += len(s) }()":                    false,
		"if n == 2 { return errors.New(s) }":          false,
		"s.close()":                                   false,
		"x := pair{s, t}; _ = x":                      false,
		"return wrapped{err: s}":                      false,
	} {
		file := filepath.Join(t.TempDir(), "p.go")
		source := "package p\n\nfunc f(s, t string, n int) error {\n\tif n == 1 {\n\t\treturn fmt.Errorf(\"%v\", s)\n\t}\n" + rest + "\n\treturn nil\n}\n"
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := onWayOut(file, 5, "s"); got != want {
			t.Errorf("%s: %v", rest, got)
		}
	}
}

func TestLeaksOfOtherVersions(t *testing.T) {
	head := `{"version":0,"file":"/p.go"}` + "\n"
	of := func(message string) string {
		return `{"range":{"start":{"line":3,"character":8}},"code":"leak","message":"` + message + `"}` + "\n"
	}
	folder := t.TempDir()
	content := head + of("parameter p leaks to {heap} with derefs=0") + of("parameter q leaks to ~r0 with derefs=0") + of("leaking param: r") + of("leaking param: s to result ~r0 level=0") + of("something else") + "no JSON\n"
	if err := os.WriteFile(filepath.Join(folder, "p.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	l := make(leaks)
	if err := eachDiagnostic(folder, l.add); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range l["/p.go"][3] {
		if one.heap {
			got = append(got, one.name)
		}
	}
	if strings.Join(got, " ") != "p r" || len(l["/p.go"][3]) != 4 {
		t.Errorf("%+v", l)
	}
}
