package lookalikes_variable

import "testing"

func TestOther(t *testing.T) {
	tested = "other"
	if ofTested() == nil {
		t.Fail()
	}
}
