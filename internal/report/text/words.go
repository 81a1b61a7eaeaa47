package text

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/figure"
	"mallow/internal/profile"
	"mallow/internal/signature"
	"mallow/internal/term"
)

var (
	count   = figure.Count
	size    = figure.Size
	percent = figure.Percent
	counted = figure.Counted
	plural  = figure.Plural
)

func orDash(n uint64, text string) string {
	if n == 0 {
		return "-"
	}
	return text
}

func (r *report) sentence(f analyze.Fact) string {
	switch f.Kind {
	case analyze.Temporary:
		return part(f.Share) + "temporary" + r.once(f.Kind, ": freed with nothing allocated in between")
	case analyze.ShortLived:
		return part(f.Share) + "short-lived" + r.once(f.Kind, ": freed within 32 heap events")
	case analyze.NeverFreed:
		return r.profile.Fate()
	case analyze.OneSize:
		return "always " + size(f.Bytes)
	case analyze.SmallBlocks:
		return "never more than " + size(f.Bytes)
	case analyze.FreedByOthers:
		return part(f.Share) + "freed by another thread"
	case analyze.Regrown:
		return part(f.Share) + "passed on to realloc"
	case analyze.Failed:
		return counted(f.Count, "call", "calls") + " failed"
	}
	return ""
}

func (r *report) sentences(facts []analyze.Fact) string {
	all := make([]string, len(facts))
	for i, f := range facts {
		all[i] = r.sentence(f)
	}
	text := strings.Join(all, ", ")
	if r.profile.Sampling != nil && text != "" {
		return "its samples: " + text
	}
	return text
}

// once explains a word where it comes first.
func (r *report) once(kind analyze.Kind, meaning string) string {
	if r.told[kind] {
		return ""
	}
	if r.told == nil {
		r.told = make(map[analyze.Kind]bool)
	}
	r.told[kind] = true
	return meaning
}

func part(share float64) string {
	if share == 1 {
		return ""
	}
	return fmt.Sprintf("%.0f %% ", min(99, 100*share))
}

// siteName returns how a site is called and where it is.
func siteName(s *profile.Site) (function, where string) {
	if !s.Known() {
		return "(no stack, or code outside any file)", ""
	}
	switch {
	case s.AllocatedType != "":
		return shortType(s.AllocatedType), ""
	case s.Function == "" && s.File == "":
		return term.Safe(path.Base(s.Module)), ""
	case s.Function == "":
		return place(&s.Frame), ""
	}
	return shortName(s.Function), place(&s.Frame)
}

// frameWords returns the function of a frame and its place; of an imported
// frame that has no function the place alone.
func frameWords(f *profile.Frame) (name, at string) {
	if f.Function == "" && f.File != "" {
		return place(f), ""
	}
	return shortName(f.Function), place(f)
}

// place returns the file and line of a frame, or else its module.
func place(f *profile.Frame) string {
	switch {
	case f.File != "" && f.Line > 0:
		return term.Safe(fmt.Sprintf("%s:%d", shortPath(f.File), f.Line))
	case f.File != "":
		return term.Safe(shortPath(f.File))
	case f.Module != "" && !strings.HasPrefix(f.Function, path.Base(f.Module)+"+"):
		return "in " + term.Safe(path.Base(f.Module))
	}
	return ""
}

// shortPath keeps a file and its folder.
func shortPath(file string) string {
	file = path.Clean(file)
	folder, name := path.Split(file)
	if parent := path.Base(folder); folder != "" && parent != "/" && parent != "." && parent != ".." {
		return parent + "/" + name
	}
	return name
}

const longestName = 60

// shortType leaves out the middle of a long type.
func shortType(name string) string {
	if runes := []rune(name); len(runes) > longestName {
		name = string(runes[:longestName-16]) + "…" + string(runes[len(runes)-15:])
	}
	return term.Safe(name)
}

// ShortName is how every text calls a function.
func ShortName(function string) string { return shortName(function) }

// shortName leaves the parameters of a C++ function out, and template
// arguments where they are long.
func shortName(function string) string {
	if function == "" {
		return "(unknown function)"
	}
	name := signature.WithoutReturnType(signature.WithoutParameters(function))
	if name == "" {
		name = function
	}
	if len(name) > longestName {
		name = withoutTemplateArguments(name)
	}
	if runes := []rune(name); len(runes) > longestName {
		name = "…" + string(runes[len(runes)-longestName+1:])
	}
	return term.Safe(name)
}

// withoutTemplateArguments keeps what Rust puts into such brackets to say whose
// implementation it is: "<Table<K> as Map<K>>::get::<u8>" becomes
// "<Table<…> as Map<…>>::get::<…>".
func withoutTemplateArguments(name string) string {
	ofRust := strings.HasPrefix(name, "<")
	var b strings.Builder
	opensPath := true // what Rust's brackets do at the beginning, behind a space and behind one another
	isLeftOut := func(open signature.Part) bool {
		if open.Text != "<" || ofRust && opensPath {
			return false
		}
		b.WriteString("<…>")
		opensPath = false
		return true
	}
	for p := range signature.Outside(name, isLeftOut) {
		b.WriteString(p.Text)
		opensPath = p.Kind == signature.Open && p.Text == "<" || p.Kind == signature.Space
	}
	return b.String()
}

func functionWidth(sites []*profile.Site) int {
	const widest = 32
	width := 0
	for _, s := range sites {
		function, _ := siteName(s)
		if n := term.Columns(function); n <= widest {
			width = max(width, n)
		}
	}
	return width
}

// quotedName is the name of one file within a warning.
var quotedName = regexp.MustCompile(` "[^"]*"`)

// grouped joins warnings that say the same of several files or processes:
// "a: text" and "b: text" become "a, b: text". What only one of them names in
// quotes is left out then.
func grouped(warnings []string) []string {
	subjects := make(map[string][]string)
	alone := make(map[string]string)
	var order []string
	for _, w := range warnings {
		subject, text, ok := strings.Cut(w, ": ")
		if !ok {
			subject, text = "", w
		}
		text = quotedName.ReplaceAllString(text, "")
		if subjects[text] == nil {
			order = append(order, text)
			alone[text] = w
		}
		subjects[text] = append(subjects[text], subject)
	}
	lines := make([]string, len(order))
	for i, text := range order {
		list := subjects[text]
		if len(list) == 1 || list[0] == "" {
			lines[i] = alone[text]
			continue
		}
		lines[i] = enumerate(list) + ": " + strings.Replace(text, "its ", "the ", 1)
	}
	return lines
}

func enumerate(list []string) string {
	const most = 6
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}
