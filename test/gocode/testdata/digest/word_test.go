package digest_test

import (
	"testing"

	"example.org/digest"
)

func TestWord(t *testing.T) {
	if got := digest.Word(12345); got != "ongkkmmgceioekhaflhi" {
		t.Errorf("%q", got)
	}
}
