package gate

import (
	"strings"
	"testing"

	"mallow/internal/gate"
)

// Functions are called as in reports, without what they take and return.
func TestNames(t *testing.T) {
	callers := []gate.Frame{
		{Function: "YAML::node::insert(YAML::node&, std::shared_ptr<YAML::memory>)", File: "node.h", Line: 120},
		{Module: "libz.so.1"},
	}
	found := gate.Result{Checks: []gate.Check{{
		Benchmark: "parse", Metric: "allocations", Verdict: gate.Regression, Message: "5 more",
		Sites: []gate.Site{
			{Function: "void YAML::node_data::add(YAML::node&, YAML::node&)", File: "data.cpp", Line: 7, Now: 5, Status: "new", Callers: callers},
			{Module: "libc.so.6", Now: 1, Status: "new"},
		},
	}}}
	var b strings.Builder
	if err := Write(&b, &found, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  new  YAML::node_data::add  data.cpp:7\n", "<- YAML::node::insert node.h:120 <- libz.so.1\n", "  new  libc.so.6  "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
