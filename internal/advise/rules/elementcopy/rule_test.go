package elementcopy_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/elementcopy"
	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const (
	row       = "std::vector<double, std::allocator<double> >"
	made      = row + "::vector(unsigned long, double const&, std::allocator<double> const&)"
	copied    = row + "::vector(" + row + " const&)"
	construct = "void std::allocator_traits<std::allocator<" + row + " > >::construct<" + row + ", " + row + " const&>(std::allocator<" + row + " >&, " + row + "*, " + row + " const&)"
	pushed    = "std::vector<" + row + ", std::allocator<" + row + " > >::push_back(" + row + " const&)"
)

// matrix pushes rows back, which it makes or keeps elsewhere.
func matrix(p *ruletest.Program, original recordingtest.Stack, each int) {
	element := p.Stack(recording.New, "operator new(unsigned long)", copied, construct, pushed, "matrix matrix.cc:42")
	for range 1000 {
		var rows []recordingtest.Block
		for i := range 8 {
			var b recordingtest.Block
			if i%each == 0 {
				b = p.Alloc(original, 64)
			}
			rows = append(rows, p.Alloc(element, 64))
			if i%each == 0 {
				p.FreeFrom(b, p.By("matrix matrix.cc:43"))
			}
		}
		for _, b := range rows {
			p.FreeFrom(b, p.By("main matrix.cc:66"))
		}
	}
}

func TestPushedBack(t *testing.T) {
	p := ruletest.NewProgram(t)
	matrix(p, p.Stack(recording.New, "operator new(unsigned long)", made, "matrix matrix.cc:41"), 1)
	p.Finds(elementcopy.Rule, "pushed_back")
}

func TestSilent(t *testing.T) {
	// One row is copied eight times.
	p := ruletest.NewProgram(t)
	matrix(p, p.Stack(recording.New, "operator new(unsigned long)", made, "matrix matrix.cc:41"), 8)
	p.Silent(elementcopy.Rule)
	// As many blocks of another function, which have nothing to do with it.
	p = ruletest.NewProgram(t)
	matrix(p, p.Stack(recording.New, "operator new(unsigned long)", made, "other other.cc:41", "others other.cc:50"), 1)
	p.Silent(elementcopy.Rule)
}
