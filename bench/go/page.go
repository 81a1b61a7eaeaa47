package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// judgement is what a person says of a remedy.
type judgement struct{ verdict, why string }

// readJudgements reads them by module, line and callee.
func readJudgements(path string) (map[string]judgement, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := make(map[string]judgement)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text := lines.Text()
		parts := strings.Split(text, " | ")
		switch {
		case text == "" || text[0] == '#':
		case len(parts) == 3:
			all[parts[0]] = judgement{parts[1], parts[2]}
		default:
			return nil, fmt.Errorf("%s: three parts expected in %q", path, text)
		}
	}
	return all, nil
}

const head = `# Go modules

What ` + "`mallow go`" + ` says of a benchmark of each of some open-source modules, at a fixed version: the three hottest lines,
why they allocate, what to do, and whether that is right, which a person judged by reading the source.
` + "`go run ./bench/go`" + ` fetches them, counts, tries fixes and writes this page; bench/go/modules.txt has the list.

`

// writePage writes what is known of the modules.
func writePage(modules []module) error {
	judgements, err := readJudgements(judged)
	if err != nil {
		return err
	}
	var out, fixes strings.Builder
	out.WriteString(head)
	fmt.Fprintf(&out, "| module | benchmark | allocations/op | as runtime.MemStats counts | added CPU time | kept fixes |\n|---|---|---|---|---|---|\n")
	var found []*outcome
	for _, m := range modules {
		o, err := readOutcome(filepath.Join(results, m.file()))
		if errors.Is(err, fs.ErrNotExist) {
			found = append(found, nil)
			continue
		} else if err != nil {
			return err
		}
		found = append(found, o)
		checked := "every one"
		if !o.Checked {
			checked = "**not all**"
		}
		fmt.Fprintf(&out, "| %s | %s %s | %.4g | %s | %.1f s | %s |\n", m.version, m.pkg, cell(o.Benchmark), o.Allocs, checked, o.Added, kept(o))
		for i := 1; i < len(o.Ladder); i++ {
			step, before := o.Ladder[i], o.Ladder[i-1]
			fmt.Fprintf(&fixes, "\n%s, %s: %.4g to %.4g allocations/op. %s (%s; proven by %s).\n\n```diff\n%s```\n",
				m.version, o.Benchmark, before.Allocs, step.Allocs, step.Step, step.Rule, step.ProvenBy, blanksAtEnd.ReplaceAllString(strings.ReplaceAll(step.Patch, "/"+trees+"/"+m.name+"/", "/"), "\n"))
		}
	}
	out.WriteString("\nThe added CPU time is that of `mallow go test` above `go test -bench` with the same benchmarks, both with a warm build cache; " +
		"it is what a busy machine of two processors gave, and bounds the time it adds.\n")
	out.WriteString("\n## Hot lines\n\n| module | line | allocations/op | why | remedy | right? |\n|---|---|---|---|---|---|\n")
	for i, m := range modules {
		if found[i] == nil {
			continue
		}
		for _, l := range found[i].Lines {
			if l.Allocs < 0.5 {
				continue
			}
			j, known := judgements[fmt.Sprintf("%s %s:%d %s", m.name, l.File, l.Line, l.Callee)]
			if !known {
				j.verdict = "not judged"
			}
			fmt.Fprintf(&out, "| %s | %s:%d %s | %.4g | %s | %s | %s |\n", m.name, l.File, l.Line, cell(l.Callee), l.Allocs, cell(l.Why), remedy(l), cell(strings.TrimSuffix(j.verdict+": "+j.why, ": ")))
		}
	}
	fmt.Fprintf(&out, "\n## Kept fixes\n")
	if fixes.Len() == 0 {
		out.WriteString("\nNone of these benchmarks has a line of which it can be shown that a rewrite changes nothing else.\n")
	}
	out.WriteString(fixes.String())
	out.WriteString("\n## Tried, and not kept\n\n")
	for i, m := range modules {
		if found[i] == nil {
			continue
		}
		for _, r := range found[i].Rejected {
			fmt.Fprintf(&out, "- %s: %s (%s): %s\n", m.name, cell(r.Step), r.Rule, cell(r.Reason))
		}
		if at := strings.LastIndex(found[i].Refused, "mallow: "); at >= 0 {
			fmt.Fprintf(&out, "- %s: %s\n", m.name, cell(strings.TrimSpace(found[i].Refused[at+len("mallow: "):])))
		}
	}
	return os.WriteFile(page, []byte(out.String()), 0o644)
}

// blanksAtEnd are those of empty lines of a patch, too.
var blanksAtEnd = regexp.MustCompile(`[ \t]+\n`)

func kept(o *outcome) string {
	if len(o.Ladder) < 2 {
		return "none"
	}
	return fmt.Sprintf("%d: to %.4g", len(o.Ladder)-1, o.Ladder[len(o.Ladder)-1].Allocs)
}

func remedy(l line) string {
	if l.Rule == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", cell(l.Remedy), l.Rule)
}

// cell makes a text fit for a cell of a table.
func cell(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(s)
}
