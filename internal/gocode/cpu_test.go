package gocode

import "testing"

func TestSharesOfCPUTime(t *testing.T) {
	at := func(function string, line int) Frame { return Frame{Function: function, File: "p.go", Line: line} }
	stacks := []cpuStack{
		{[]Frame{at("runtime.nextFree", 1), at(mallocgc, 2), at("strconv.Itoa", 3), at("p.Work", 10), at("testing.(*B).runN", 4)}, 20},
		{[]Frame{at("runtime.scan", 1), at("runtime.gcAssistAlloc", 5), at(mallocgc, 2), at("runtime.newobject", 3), at("p.Work", 11), at("testing.(*B).runN", 4)}, 10},
		{[]Frame{at("p.Work", 12), at("p.Work", 13), at("testing.(*B).runN", 4)}, 20},
		// The signal that stops the goroutine came at the same tick.
		{[]Frame{at("runtime.asyncPreempt", 1), at("p.Work", 12), at("testing.(*B).runN", 4)}, 5},
		{[]Frame{at("runtime.cgocall", 1), at("p._Cfunc_work", 7), at("p.Work", 14), at("testing.(*B).runN", 4)}, 15},
		{[]Frame{at("runtime.scan", 1), at("runtime.gcBgMarkWorker", 6)}, 30},
		{[]Frame{at("runtime.mallowCount", 1), at(mallocgc, 2), at("p.Work", 10)}, 500},
	}
	c := newCPU(stacks, 100)
	if c.Samples != 100 || c.Counting != 500 || c.Malloc != 0.3 || c.Collector != 0.4 || c.C != 0.15 {
		t.Errorf("%+v", c)
	}
	for _, f := range []CPUFunction{
		{Frame{Function: "p.Work", File: "p.go"}, 0.25, 0.7},
		{Frame{Function: "runtime.scan", File: "p.go"}, 0.4, 0.4},
		{Frame{Function: "testing.(*B).runN", File: "p.go"}, 0, 0.7},
	} {
		found := false
		for _, got := range c.Functions {
			found = found || got == f
		}
		if !found {
			t.Errorf("%+v is not in %+v", f, c.Functions)
		}
	}
	for line, want := range map[*Line]float64{
		{Frame: at("p.Work", 10), Callee: "strconv.Itoa"}:      0.2,
		{Frame: at("p.Work", 11), Callee: "runtime.newobject"}: 0.1,
		{Frame: at("p.Work", 14), Callee: "p._Cfunc_work"}:     0.15,
		{Frame: at("p.Work", 10), Callee: "strings.Repeat"}:    0,
		{}: 0,
	} {
		if got := c.Line(line); got != want {
			t.Errorf("%v calls %s: %v, want %v", line.Frame, line.Callee, got, want)
		}
	}
	few, slow, fast := &Line{Frame: at("p.Work", 10), Callee: "strconv.Itoa", Allocs: 1}, &Line{Frame: at("p.Work", 11), Callee: "runtime.newobject", Allocs: 2}, &Line{Frame: at("p.Work", 12), Allocs: 2, Bytes: 100}
	ranked := []*Line{fast, slow, few}
	if c.rank(ranked); ranked[0] != slow || ranked[1] != fast || ranked[2] != few {
		t.Errorf("%+v", ranked)
	}
	if top := c.Top(1); len(top) != 2 || top[0].Function != "runtime.scan" || top[1].Function != "p.Work" {
		t.Errorf("%+v", top)
	}
	if newCPU(stacks[:1], 100) != nil {
		t.Error("20 samples tell nothing")
	}
}
