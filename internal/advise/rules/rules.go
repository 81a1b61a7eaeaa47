// Package rules lists the rules of advice.
package rules

import (
	"mallow/internal/advise/rule"
	"mallow/internal/advise/rules/freenull"
	"mallow/internal/advise/rules/temporary"
)

// All are the rules. Of two that say as much of the same allocations the one
// that comes first is heard.
var All = []rule.Rule{
	temporary.Rule,
	freenull.Rule,
}
