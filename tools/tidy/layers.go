package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cxxLayers are the folders of libmallow, lowest first. A file includes only
// its own layer and lower ones.
var cxxLayers = []string{"base", "os", "heap", "record", "api"}

// cxxReasons say why nothing above may be reached from a layer.
var cxxReasons = map[string]string{
	"base":   "base is what every layer stands on and knows none of them",
	"os":     "os makes system calls for others and must not care for whom",
	"heap":   "the heap does not know that anyone records: its client gives it an opaque side record per object",
	"record": "the recorder is called by the malloc surface and must not call it, or it would record itself",
}

var includeLine = regexp.MustCompile(`^\s*#\s*include\s+"([a-z_]+)/`)

func checkCxxLayers(t *tree) []complaint {
	var wrong []complaint
	for _, f := range t.with(".cc", ".h") {
		inside, ok := strings.CutPrefix(f.path, "libmallow/")
		if !ok {
			continue
		}
		layer, _, _ := strings.Cut(inside, "/")
		own := slices.Index(cxxLayers, layer)
		if own < 0 {
			wrong = append(wrong, complaint{f.path, 0, "in no layer: tools/tidy/layers.go lists them (" + strings.Join(cxxLayers, ", ") + ")"})
			continue
		}
		f.lines(func(number int, text string) {
			m := includeLine.FindStringSubmatch(text)
			if m != nil && slices.Index(cxxLayers, m[1]) > own {
				wrong = append(wrong, complaint{f.path, number, fmt.Sprintf("%s includes %s, which is above it: %s", layer, m[1], cxxReasons[layer])})
			}
		})
	}
	return wrong
}

var conditional = regexp.MustCompile(`^\s*#\s*(if|ifdef|ifndef|elif)\b`)

// checkConditionals keeps the choice of platform in one file, so that every
// other one reads the same everywhere. Guards against double inclusion stay.
func checkConditionals(t *tree) []complaint {
	var wrong []complaint
	for _, f := range t.with(".cc", ".h") {
		if !strings.HasPrefix(f.path, "libmallow/") || f.path == "libmallow/base/config.h" {
			continue
		}
		guard := "#ifndef " + guardOf(f.path)
		f.lines(func(number int, text string) {
			if conditional.MatchString(text) && strings.TrimSpace(text) != guard {
				wrong = append(wrong, complaint{f.path, number,
					"conditional compilation outside base/config.h: name the fact there and use `if constexpr`, or choose the file in CMake"})
			}
		})
	}
	return wrong
}

func guardOf(path string) string {
	name := strings.ToUpper(strings.TrimPrefix(path, "libmallow/"))
	return "MALLOW_" + strings.NewReplacer("/", "_", ".", "_").Replace(name) + "_"
}

// goPackage is a package below internal/ with what it may import from there.
type goPackage struct {
	knows  []string
	reason string
}

var flow = []string{"recording", "symbolize", "profile", "analyze", "advise"}

// goLayers follow the flow recording -> symbolize -> profile -> analyze ->
// advise -> report: a package knows only those on its left.
var goLayers = map[string]goPackage{
	"recording": {nil, "the reader of the format knows nothing of what is made of it"},
	"signature": {nil, "how a name is taken apart does not depend on where it was found"},
	"symbolize": {append(slices.Clone(flow[:1]), "own", "signature"), "naming an address must not depend on how calls are counted"},
	"profile":   {append(slices.Clone(flow[:2]), "signature"), "a profile is counts by site; what is wrong with them is found later"},
	"analyze":   {flow[:3], "findings are facts; advice and layout are made from them, not the other way round"},
	"advise":    {append(slices.Clone(flow[:4]), "figure", "signature"), "advice must read the same in every form of report"},
	"live":      {flow[:3], "what changes between two readings is counts by site"},
	"own":       {nil, "whose a file is concerns nobody's content"},
	"git":       {nil, "how git is asked does not depend on what for"},
	"figure":    {nil, "numbers read the same everywhere, whatever they are of"},
	"forge":     {[]string{"term"}, "who may comment on a change concerns nobody's figures"},
	"term":      {nil, "what a terminal can do concerns no recording"},
	"eventlog":  {flow[:1], "a log is events in order; who called is looked up by those who print it"},
	"diff":      {append(slices.Clone(flow[:5]), "figure", "signature"), "what changed is found once, and every form of report writes the same"},
	"history":   {append(slices.Clone(flow[:5]), "diff", "figure", "git", "own", "stacks", "stat", "term"), "what was measured is kept for those who judge it, and starts no benchmark"},
	"report":    {append(slices.Clone(flow), "compare", "diff", "live", "eventlog", "figure", "gate", "gocode", "history", "measure", "signature", "stacks", "stat", "term"), "a report writes what the others found and starts nothing"},
	"gocode":    {[]string{"recording", "symbolize", "profile", "launch", "figure", "git", "own", "stat"}, "a Go program counts for itself; only of what it calls in C there is a recording"},
	"loopback":  {nil, "who may see a page on this machine does not depend on what is on it"},
	"callcount": {flow[:2], "how a function's calls are counted depends on its code alone"},
	"running":   {nil, "what a process has mapped concerns nobody's figures"},
	"launch":    {[]string{"recording", "eventlog"}, "starting programs needs only to complete the recordings that they leave"},
	"calibrate": {[]string{"advise", "launch", "own"}, "measuring what a malloc costs needs to start programs, which advice must not"},
	"measure":   {[]string{"launch"}, "what a run costs does not depend on what is made of it"},
	"stat":      {nil, "figures are compared the same way, whatever they are of"},
	"compare":   {append(slices.Clone(flow), "calibrate", "doctor", "launch", "measure", "stat"), "which side is faster is found once, and every form of report writes the same"},
	"control":   {[]string{"recording", "launch", "running"}, "telling a process to record needs to find it, and to complete the recording"},
	"importer":  {flow[:1], "an import makes a recording; what it says is found by those who read recordings"},
	"stacks":    {flow[:3], "where a program allocates can be kept without knowing what it is compared with"},
	"budget":    {nil, "what may be spent is written down without knowing how it is measured"},
	"gate":      {append(slices.Clone(flow), "diff", "git", "history", "stat", "stacks", "budget", "measure", "launch", "figure", "signature", "term"), "a gate runs, compares and decides; what others make of its result they make from that alone"},
	"doctor":    {[]string{"launch"}, "the doctor looks at programs, not at recordings"},
}

func checkGoLayers(t *tree) []complaint {
	var wrong []complaint
	for _, f := range t.with(".go") {
		inside, ok := strings.CutPrefix(f.path, "internal/")
		if !ok || f.isData() {
			continue
		}
		own, _, _ := strings.Cut(inside, "/")
		layer, known := goLayers[own]
		if !known {
			wrong = append(wrong, complaint{f.path, 0, "internal/" + own + " is in no layer: tools/tidy/layers.go lists them"})
			continue
		}
		for _, imported := range importsOf(f) {
			target, ok := strings.CutPrefix(imported.path, "mallow/internal/")
			if !ok {
				continue
			}
			target, _, _ = strings.Cut(target, "/")
			if target != own && !slices.Contains(layer.knows, target) {
				wrong = append(wrong, complaint{f.path, imported.line, fmt.Sprintf("%s imports %s, which is not below it: %s", own, target, layer.reason)})
			}
		}
	}
	return wrong
}

type goImport struct {
	path string
	line int
}

func importsOf(f file) []goImport {
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, f.path, f.content, parser.ImportsOnly)
	if err != nil {
		return nil // checkGoFormat complains
	}
	var imports []goImport
	for _, spec := range parsed.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports = append(imports, goImport{path, positions.Position(spec.Pos()).Line})
		}
	}
	return imports
}
