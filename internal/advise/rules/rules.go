// Package rules lists the rules of advice.
package rules

import (
	"mallow/internal/advise/rule"
	"mallow/internal/advise/rules/arena"
	"mallow/internal/advise/rules/behalf"
	"mallow/internal/advise/rules/containercopy"
	"mallow/internal/advise/rules/coroutine"
	"mallow/internal/advise/rules/elementcopy"
	"mallow/internal/advise/rules/empty"
	"mallow/internal/advise/rules/foreignfree"
	"mallow/internal/advise/rules/freenull"
	"mallow/internal/advise/rules/function"
	"mallow/internal/advise/rules/growth"
	"mallow/internal/advise/rules/hoist"
	"mallow/internal/advise/rules/madeanew"
	"mallow/internal/advise/rules/manysmall"
	"mallow/internal/advise/rules/neverfreed"
	"mallow/internal/advise/rules/nodes"
	"mallow/internal/advise/rules/objectcopy"
	"mallow/internal/advise/rules/pair"
	"mallow/internal/advise/rules/regex"
	"mallow/internal/advise/rules/rounding"
	"mallow/internal/advise/rules/rustbox"
	"mallow/internal/advise/rules/rustclone"
	"mallow/internal/advise/rules/rustcollect"
	"mallow/internal/advise/rules/rustformat"
	"mallow/internal/advise/rules/rusttext"
	"mallow/internal/advise/rules/samesize"
	"mallow/internal/advise/rules/sharedptr"
	"mallow/internal/advise/rules/stream"
	"mallow/internal/advise/rules/stringcopy"
	"mallow/internal/advise/rules/stringsum"
	"mallow/internal/advise/rules/table"
	"mallow/internal/advise/rules/temporary"
	"mallow/internal/advise/rules/zeroing"
)

// All are the rules. Of two that say as much of the same allocations the one
// that comes first is heard.
var All = []rule.Rule{
	sharedptr.Rule,
	function.Rule,
	regex.Rule,
	madeanew.Rule,      // before the strings that exceptions hold
	stream.Rule,        // before the strings that it copies
	objectcopy.Rule,    // before the containers that it copies
	containercopy.Rule, // before the elements that it copies
	elementcopy.Rule,
	stringcopy.Rule,
	stringsum.Rule,
	nodes.Rule,
	coroutine.Rule,
	rustformat.Rule,
	rustclone.Rule,
	rustcollect.Rule,
	rustbox.Rule,
	rusttext.Rule,
	behalf.Rule,
	empty.Rule,
	growth.Rule,
	temporary.Rule,
	table.Rule,
	pair.Rule,
	hoist.Rule,
	foreignfree.Rule,
	arena.Rule,
	samesize.Rule,
	manysmall.Rule,
	zeroing.Rule,
	rounding.Rule,
	neverfreed.Rule,
	freenull.Rule,
}
