// Package dep is another module's.
package dep

import (
	"fmt"

	"example.org/dep/store"
)

var kept *int

//go:noinline
func Check(p *int) error {
	if *p < 0 {
		return fmt.Errorf("a negative number at %p", p) // on its way out
	}
	return nil
}

//go:noinline
func Keep(name string, p *int) {
	if name != "" {
		kept = p // kept
	}
}

// Pass passes on what comes to be kept in another package.
//
//go:noinline
func Pass(p *int) { again(p) }

//go:noinline
func again(p *int) { store.Put(p) }
