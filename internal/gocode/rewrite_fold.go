package gocode

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// rewriteFold compares without the string that strings.ToLower or ToUpper
// makes, with a constant for which that is the same: strings.EqualFold takes
// letters for equal that those two do not, and the other way round.
func rewriteFold(s *subject, e *editor) (string, bool) {
	if s.line.Callee != "strings.ToLower" && s.line.Callee != "strings.ToUpper" {
		return "", false
	}
	for _, at := range s.calls() {
		call := at.expr.(*ast.CallExpr)
		comparison, ok := at.path[1].(*ast.BinaryExpr)
		if !ok || comparison.Op != token.EQL && comparison.Op != token.NEQ || !e.begin(&at) {
			continue
		}
		other := comparison.Y
		if other == ast.Expr(call) {
			other = comparison.X
		}
		constant, ok := e.constantText(other)
		if !ok {
			continue
		}
		form := foldsLike(constant, strings.HasSuffix(s.line.Callee, "Upper"))
		pkg := e.source(call.Fun)
		dot := strings.LastIndexByte(pkg, '.')
		if form == foldsOtherwise || dot < 0 || form == foldsASCII && !simple(call.Args[0]) {
			continue
		}
		not := ""
		if comparison.Op == token.NEQ {
			not = "!"
		}
		equal := fmt.Sprintf("%s.EqualFold(%s, %s)", pkg[:dot], e.source(call.Args[0]), e.source(other))
		if form == foldsASCII {
			equal = e.bracketed(comparison, not != "", fmt.Sprintf("len(%s) == %s && %s", e.source(call.Args[0]), strconv.Itoa(len(constant)), equal))
		}
		e.replace(comparison, not+equal)
		return "compare " + text(call.Args[0]) + " with " + text(other) + " by strings.EqualFold", true
	}
	return "", false
}

// bracketed puts brackets around what stands in the place of an expression,
// where they are needed.
func (e *editor) bracketed(place ast.Expr, always bool, text string) string {
	path := e.around(place)
	if len(path) > 1 && !always {
		switch path[1].(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr:
		default:
			return text
		}
	}
	return "(" + text + ")"
}

// folding says how a comparison of a converted string with a constant can be
// written with strings.EqualFold.
type folding uint8

const (
	foldsOtherwise folding = iota // not at all
	foldsAlike                    // as it is
	foldsASCII                    // with strings of the same number of bytes
)

// foldsLike finds out by what else than the two ASCII letters is converted to a
// letter of the constant, or folds to it.
func foldsLike(constant string, upper bool) folding {
	alone := true // nothing but ASCII folds to a letter of the constant without being converted to it
	for _, r := range constant {
		if r > unicode.MaxASCII || upper && unicode.IsLower(r) || !upper && unicode.IsUpper(r) {
			return foldsOtherwise
		}
		converted, folded := beyondASCII(r, upper)
		for _, other := range converted {
			if !strings.ContainsRune(string(folded), other) {
				return foldsOtherwise
			}
		}
		alone = alone && len(folded) == len(converted)
	}
	if alone {
		return foldsAlike
	}
	for _, r := range constant {
		if converted, _ := beyondASCII(r, upper); len(converted) > 0 {
			return foldsOtherwise
		}
	}
	return foldsASCII
}

// beyondASCII returns the runes outside of ASCII that are converted to an ASCII
// letter, and those that fold to it.
func beyondASCII(letter rune, upper bool) (converted, folded []rune) {
	for r := unicode.SimpleFold(letter); r != letter; r = unicode.SimpleFold(r) {
		if r > unicode.MaxASCII {
			folded = append(folded, r)
		}
	}
	if upper {
		return upperOf()[letter], folded
	}
	return lowerOf()[letter], folded
}

// lowerOf and upperOf have, for each ASCII letter, the runes outside of ASCII
// that are converted to it.
var (
	lowerOf = sync.OnceValue(func() map[rune][]rune { return intoASCII(unicode.ToLower) })
	upperOf = sync.OnceValue(func() map[rune][]rune { return intoASCII(unicode.ToUpper) })
)

func intoASCII(convert func(rune) rune) map[rune][]rune {
	found := make(map[rune][]rune)
	for r := rune(unicode.MaxASCII + 1); r <= unicode.MaxRune; r++ {
		if of := convert(r); of <= unicode.MaxASCII {
			found[of] = append(found[of], r)
		}
	}
	return found
}
