package ci_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mallow/internal/gate"
	"mallow/internal/report/ci"
)

var update = flag.Bool("update", false, "write testdata anew")

func read(t testing.TB, name string) *gate.Result {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := ci.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var options = ci.Options{
	Root: "/src/demo",
	Source: func(file string, line int) string {
		return fmt.Sprintf("https://forge.example/demo/%s#L%d", "FILE", line)
	},
	Commit: "0123456789abcdef0123456789abcdef01234567",
	Run:    "https://forge.example/demo/runs/17",
}

const pageLimit = 65536

// forms are all that is written, by the end of a file's name.
var forms = map[string]func(w io.Writer, r *gate.Result) error{
	"md": func(w io.Writer, r *gate.Result) error {
		_, err := io.WriteString(w, ci.Markdown(r, options, pageLimit))
		return err
	},
	"commands":  func(w io.Writer, r *gate.Result) error { return ci.Annotations(w, r, options) },
	"junit.xml": func(w io.Writer, r *gate.Result) error { return ci.JUnit(w, r, options) },
	"quality":   func(w io.Writer, r *gate.Result) error { return ci.CodeQuality(w, r, options, "mallow.toml") },
	"metrics":   func(w io.Writer, r *gate.Result) error { return ci.OpenMetrics(w, r) },
}

func TestForms(t *testing.T) {
	for _, name := range []string{"regressions", "kept", "hostile", "none", "go"} {
		for end, write := range forms {
			t.Run(name+"."+end, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(&got, read(t, name)); err != nil {
					t.Fatal(err)
				}
				golden := filepath.Join("testdata", name+"."+end)
				if *update {
					if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s:\n%s\nnot\n%s", golden, got.Bytes(), want)
				}
			})
		}
	}
}

// What is no result of a gate is told in the words of JSON, not of Go.
func TestOtherShapes(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                                    "no result of a gate: the whole is an array",
		`"x"`:                                   "no result of a gate: the whole is a string",
		`{"schema":"mallow.gate/1","checks":5}`: "no result of a gate: checks is a number",
		`{"schema":"mallow.gate/1","checks":[{"now":"x"}]}`: "no result of a gate: checks.now is a string",
	} {
		if _, err := ci.Read(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
