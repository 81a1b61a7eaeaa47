package internals

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mallow/test/harness"
)

// constants are those of libmallow's sources, as text: by name, then by the stem of the file ("release" of release.h).
type constants map[string]map[string]string

var (
	definition = regexp.MustCompile(`\bconstexpr\s+(?:[A-Za-z_:0-9]+\s+)+(k[A-Z]\w*)\s*=\s*([^;{]*(?:\{\d+\}[^;]*)?);`)
	typedOne   = regexp.MustCompile(`\b(?:size_t|uint64_t|uintptr_t)\{(\d+)\}`)
	noComment  = regexp.MustCompile(`//[^\n]*`)
)

func readConstants(t *testing.T) constants {
	t.Helper()
	found := constants{}
	for _, layer := range []string{"base", "heap", "record", "api"} {
		for _, kind := range []string{"*.h", "*.cc"} {
			files, err := filepath.Glob(filepath.Join(harness.Root(), "libmallow", layer, kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
				for _, m := range definition.FindAllStringSubmatch(noComment.ReplaceAllString(string(content), ""), -1) {
					if found[m[1]] == nil {
						found[m[1]] = map[string]string{}
					}
					found[m[1]][stem] = m[2]
				}
			}
		}
	}
	return found
}

// text is what the constant was defined as. `stem` chooses where several files have one of that name.
func (c constants) text(name, stem string) (string, string, error) {
	places := c[name]
	if text, ok := places[stem]; ok {
		return text, stem, nil
	}
	switch len(places) {
	case 0:
		return "", "", fmt.Errorf("no file of libmallow defines %s", name)
	case 1:
		for place, text := range places {
			return text, place, nil
		}
	}
	return "", "", fmt.Errorf("several files define %s: write FILE.%s", name, name)
}

// eval computes an expression of C++ over the constants; `stem` is the file that it stands in.
func (c constants) eval(expression, stem string) (int64, error) {
	expression = typedOne.ReplaceAllString(strings.ReplaceAll(expression, "::", "."), "$1")
	// A type in angle brackets (Clamp<size_t>) says nothing of the value.
	expression = regexp.MustCompile(`<(size_t|Pages)>`).ReplaceAllString(expression, "")
	tree, err := parser.ParseExpr(expression)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", expression, err)
	}
	return c.value(tree, stem)
}

func (c constants) value(tree ast.Expr, stem string) (int64, error) {
	switch node := tree.(type) {
	case *ast.ParenExpr:
		return c.value(node.X, stem)
	case *ast.BasicLit:
		return strconv.ParseInt(strings.TrimRight(node.Value, "u"), 0, 64)
	case *ast.Ident:
		return c.named(node.Name, stem)
	case *ast.SelectorExpr:
		return c.named(node.Sel.Name, fmt.Sprint(node.X))
	case *ast.BinaryExpr:
		return c.binary(node, stem)
	case *ast.CallExpr:
		return c.call(node, stem)
	}
	return 0, fmt.Errorf("cannot compute a %T", tree)
}

func (c constants) named(name, stem string) (int64, error) {
	text, place, err := c.text(name, stem)
	if err != nil {
		return 0, err
	}
	return c.eval(text, place)
}

func (c constants) binary(node *ast.BinaryExpr, stem string) (int64, error) {
	x, err := c.value(node.X, stem)
	if err != nil {
		return 0, err
	}
	y, err := c.value(node.Y, stem)
	if err != nil {
		return 0, err
	}
	switch node.Op {
	case token.ADD:
		return x + y, nil
	case token.SUB:
		return x - y, nil
	case token.MUL:
		return x * y, nil
	case token.QUO:
		return x / y, nil
	case token.SHL:
		return x << y, nil
	case token.SHR:
		return x >> y, nil
	}
	return 0, fmt.Errorf("unknown operator %s", node.Op)
}

func (c constants) call(node *ast.CallExpr, stem string) (int64, error) {
	arguments := make([]int64, len(node.Args))
	for n, argument := range node.Args {
		var err error
		if arguments[n], err = c.value(argument, stem); err != nil {
			return 0, err
		}
	}
	switch name := fmt.Sprint(node.Fun); {
	case name == "Log2Floor" && len(arguments) == 1:
		return int64(bits.Len64(uint64(arguments[0]))) - 1, nil
	case name == "Max" && len(arguments) == 2:
		return max(arguments[0], arguments[1]), nil
	case name == "Min" && len(arguments) == 2:
		return min(arguments[0], arguments[1]), nil
	}
	return 0, fmt.Errorf("unknown function %v", node.Fun)
}

func TestConstants(t *testing.T) {
	c := constants{
		"kShift": {"a": "13"}, "kPage": {"a": "size_t{1} << kShift"},
		"kMost": {"a": "4 * 1024", "b": "64 * 1024 / kPage"},
	}
	for expression, want := range map[string]int64{
		"kPage": 8192, "a.kMost": 4096, "b.kMost": 8, "1 + b.kMost * (Log2Floor(kPage) - 3)": 81, "Max(kPage, 7)": 8192,
	} {
		if got, err := c.eval(expression, ""); err != nil || got != want {
			t.Errorf("%s is %d, %v, not %d", expression, got, err, want)
		}
	}
	for _, expression := range []string{"kMost", "kNowhere", "kPage +", "Round(kPage)"} {
		if got, err := c.eval(expression, ""); err == nil {
			t.Errorf("%s is %d, not an error", expression, got)
		}
	}
}
