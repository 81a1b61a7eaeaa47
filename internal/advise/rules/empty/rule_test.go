package empty_test

import (
	"testing"

	"mallow/internal/advise/rule/ruletest"
	"mallow/internal/advise/rules/empty"
	"mallow/internal/recording"
)

func TestEmpty(t *testing.T) {
	p := ruletest.NewProgram(t)
	comment := p.Stack(recording.Strdup, "strdup", "record rec.c:14")
	for i := range 1000 {
		size := uint64(1)
		if i%5 == 0 {
			size = 12
		}
		p.Alloc(comment, size)
	}
	p.Finds(empty.Rule, "strdup")
}

func TestSilent(t *testing.T) {
	p := ruletest.NewProgram(t)
	name := p.Stack(recording.Strdup, "strdup", "record rec.c:14")
	for i := range uint64(1000) {
		p.Alloc(name, 1+i%3)
	}
	p.Silent(empty.Rule)
}
