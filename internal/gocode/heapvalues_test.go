package gocode

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func heapValues(functions []string, values ...HeapValue) *HeapValues {
	h := &HeapValues{functions: make(map[functionKey]bool)}
	for _, f := range functions {
		h.functions[functionKey{"p", f}] = true
	}
	for _, v := range values {
		v.Package, v.File = "p", "p.go"
		h.Values = append(h.Values, v)
	}
	return h
}

func TestHeapValuesAreMatchedByFunctionAndExpression(t *testing.T) {
	was := heapValues([]string{"F", "Gone"},
		HeapValue{Function: "F", Value: "x", Line: 3, Why: "returned"},
		HeapValue{Function: "F", Value: "make([]int, n)", Line: 5, Why: "its size"},
		HeapValue{Function: "F", Value: "make([]int, n)", Line: 6, Why: "returned"},
		HeapValue{Function: "F", Value: "&T{...}", Line: 7, Why: "stored"},
		HeapValue{Function: "Gone", Value: "x", Line: 30, Why: "returned"},
		HeapValue{Function: "init", Value: "new(T)", Line: 40, Why: "stored"},
	)
	now := heapValues([]string{"F", "New"},
		HeapValue{Function: "F", Value: "x", Line: 103, Why: "returned"},
		HeapValue{Function: "F", Value: "make([]int, n)", Line: 104, Why: "returned"},
		HeapValue{Function: "F", Value: "&T{...}", Line: 107, Why: "sent"}, // for another reason
		HeapValue{Function: "F", Value: "&T{...}", Line: 108, Why: "returned"},
		HeapValue{Function: "New", Value: "x", Line: 130, Why: "returned"},
		HeapValue{Function: "init", Value: "new(T)", Line: 140, Why: "stored"},
		HeapValue{Function: "init", Value: "new(U)", Line: 141, Why: "stored"},
	)
	type change struct {
		function, value string
		line            int
		isNew, kept     bool
	}
	var got []change
	for _, c := range DiffHeapValues(was, now) {
		got = append(got, change{c.Function, c.Value, c.Line, c.New, c.Kept})
	}
	want := []change{
		{"F", "&T{...}", 108, true, true},
		{"init", "new(U)", 141, true, true},
		{"New", "x", 130, true, false},
		{"F", "make([]int, n)", 5, false, true},
		{"Gone", "x", 30, false, false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
	if same := DiffHeapValues(was, was); len(same) != 0 {
		t.Errorf("of itself: %v", same)
	}
}

func TestHeapValuesOfWhatIsInlinedOnOneSideAlone(t *testing.T) {
	functions := []string{"Caller", "Helper", "Inner"}
	helper, inner := functionKey{"p", "Helper"}, functionKey{"p", "Inner"}
	called := heapValues(functions,
		HeapValue{Function: "Helper", Value: "string(b)", Line: 9, Why: "returned"},
		HeapValue{Function: "Inner", Value: "new(T)", Line: 19, Why: "returned"},
		HeapValue{Function: "Helper", Value: "new(T)", Line: 10, Why: "returned", inlined: []functionKey{inner}},
	)
	called.called = map[functionKey]bool{helper: true}
	inlined := heapValues(functions,
		HeapValue{Function: "Caller", Value: "string(b)", Line: 3, Why: "stored", inlined: []functionKey{helper}},
		HeapValue{Function: "Caller", Value: "new(T)", Line: 3, Why: "stored", inlined: []functionKey{helper, inner}},
		HeapValue{Function: "Helper", Value: "string(b)", Line: 9, Why: "returned"},
		HeapValue{Function: "Inner", Value: "new(T)", Line: 19, Why: "returned"},
		HeapValue{Function: "Helper", Value: "new(T)", Line: 10, Why: "returned", inlined: []functionKey{inner}},
	)
	for _, changes := range [][]EscapeChange{DiffHeapValues(called, inlined), DiffHeapValues(inlined, called)} {
		if len(changes) != 0 {
			t.Errorf("%+v", changes)
		}
	}
	// Where the function was inlined, too, its value was not on the heap there.
	called.called = nil
	if changes := DiffHeapValues(called, inlined); len(changes) != 2 || !changes[0].New || changes[0].Function != "Caller" {
		t.Errorf("%+v", changes)
	}
}

func TestHeapValuesOfAnInlinedCallAreWrittenOtherwise(t *testing.T) {
	was := heapValues([]string{"F"},
		HeapValue{Function: "F", Value: "append(kept, text(b))", Line: 3},
		HeapValue{Function: "F", Value: "p.name(1, x)", Line: 4},
		HeapValue{Function: "F", Value: "make([]int, n)", Line: 5},
	)
	now := heapValues([]string{"F"},
		HeapValue{Function: "F", Value: "append(kept, ~r0)", Line: 3},
		HeapValue{Function: "F", Value: "~r0", Line: 4},
		HeapValue{Function: "F", Value: "~r1", Line: 6},
	)
	for _, changes := range [][]EscapeChange{DiffHeapValues(was, now), DiffHeapValues(now, was)} {
		if len(changes) != 2 || changes[0].Value != "~r1" && changes[1].Value != "~r1" {
			t.Errorf("%+v", changes)
		}
	}
}

func TestNamesOfDeclaredFunctions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.go")
	source := "package p\nfunc F() {\n}\nfunc (t T) M() {}\nfunc (t *T) N() {}\nfunc (t (*G[K, V])) O() {}\nfunc (G[K, V]) P() {}\nvar x = func() {}\n"
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []sourceFunction{{"F", 2, 3}, {"T.M", 4, 4}, {"(*T).N", 5, 5}, {"(*G).O", 6, 6}, {"G.P", 7, 7}}
	if got := functionsOf(path); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := functionsOf(path + "x"); got != nil {
		t.Errorf("of no file: %v", got)
	}
}

func TestWhatEscapesHoweverItIsSaid(t *testing.T) {
	for message, want := range map[string]string{
		"moved to heap: x": "x", "x escapes to heap": "x", "make([]int, n) escapes to heap": "make([]int, n)", "... argument escapes to heap": "... argument",
	} {
		if got := (&Escape{Message: message}).value(); got != want {
			t.Errorf("%s: %s", message, got)
		}
	}
}

func TestReasonsNameMethodsAsTheSourceDoes(t *testing.T) {
	for expression, want := range map[string]string{
		"(*Logger).Info(log, \"x\", ... argument...)":                                                "x goes to the heap: it is an argument of (*Logger).Info, which may keep it",
		"(*p.Parser[go.shape.struct { A []int \"( @@ )\" }]).parse(p.p, (*[28]uintptr)(p..dict[0]))": "x goes to the heap: it is an argument of (*p.Parser[...]).parse, which may keep it",
		"f(x)(y)": "x goes to the heap: it is an argument of f, which may keep it",
	} {
		e := Escape{Message: "x escapes to heap", Flow: []Step{{Text: "from " + expression + " (call parameter)"}}}
		if got := e.reason(); got != want {
			t.Errorf("%s: %s", expression, got)
		}
	}
	e := Escape{Message: "new(<node DYNAMICTYPE>) escapes to heap", Flow: []Step{{Text: "from return new(<node DYNAMICTYPE>) (return)"}}}
	if got := e.reason(); got != "new(...) goes to the heap: it is returned" {
		t.Error(got)
	}
}
