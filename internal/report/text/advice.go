package text

import (
	"fmt"
	"strings"

	"mallow/internal/advise"
	"mallow/internal/term"
)

// advice says what to change, what saves most first, and where to stop.
func (r *report) advice() {
	result := r.options.Advice
	if result == nil || len(result.Advice) == 0 && result.Stop == "" {
		return
	}
	shown := result.Advice
	if r.options.Advised > 0 && len(shown) > r.options.Advised {
		shown = shown[:r.options.Advised]
	}
	r.line("")
	heading := r.style.bold("what to do")
	if r.profile.Sampling != nil {
		heading += r.style.dim("     (by samples: all figures are estimates)")
	}
	r.line(heading)
	if len(shown) == 0 {
		r.wrapped("  ", "  ", term.Safe(result.Stop))
		if r.options.Evidence {
			r.dimmed("  ", term.Safe(result.LeftOut))
		}
		return
	}
	for i := range shown {
		r.adviceEntry(i+1, &shown[i])
	}
	const indent = "     "
	if result.Stop != "" {
		r.wrapped(indent, indent, term.Safe(result.Stop))
	}
	if r.options.Evidence {
		r.dimmed(indent, term.Safe(result.LeftOut))
	}
	var footer []string
	if more := len(result.Advice) - len(shown); more > 0 {
		footer = append(footer, fmt.Sprintf("%d more, and the evidence: --advice 0", more))
	} else if !r.options.Evidence {
		footer = append(footer, "the evidence: --advice 0")
	}
	if basis := shown[0].Saves.Basis; basis != "" && !r.options.Evidence {
		footer = append(footer, "CPU time of the first by "+term.Safe(basis))
	}
	if pages := rulePages(shown); pages != "" {
		footer = append(footer, "explained in docs/manual/advice/: "+pages)
	}
	r.dimmed(indent, strings.Join(footer, "; "))
}

// adviceEntry begins with the line to change.
func (r *report) adviceEntry(number int, a *advise.Advice) {
	const indent = "     "
	var names []string
	for i := range a.Sites {
		f := &a.Sites[i].Frame
		name, at := frameWords(f)
		if i == 0 {
			name = r.style.bold(name)
		}
		if i == 0 && at != "" {
			at = r.style.place(at)
		}
		if at != "" {
			name += " " + at
		}
		names = append(names, name)
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	title := term.Safe(a.Title)
	if len(names) > 0 {
		title = strings.Join(names, ", ") + ": " + title
	}
	r.wrapped(fmt.Sprintf("%3d. ", number), indent, title)
	r.wrapped(indent, indent, r.style.bold("->")+" "+term.Safe(a.Remedy)+": "+r.saves(&a.Saves))
	if r.options.Evidence {
		evidence := a.Evidence
		if a.Saves.Basis != "" {
			evidence += "; CPU time by " + a.Saves.Basis
		}
		r.dimmed(indent, term.Safe(evidence))
	}
}

func (r *report) saves(s *advise.Saves) string {
	if s.Allocations == 0 && s.Memory > 0 {
		return fmt.Sprintf("-%s at the peak", size(s.Memory))
	}
	text := fewer(s)
	if s.Allocations > 0 {
		text += " (" + shareOf(s.Share) + ")"
	}
	if s.CPUShare == nil {
		return text
	}
	if share, little := strings.CutPrefix(shareOf(*s.CPUShare), "<"); little {
		text += ", less than " + share + " of the CPU time"
	} else {
		text += ", about " + share + " of the CPU time"
	}
	if s.Little() && s.Allocations > 0 {
		text += " (many calls, little cost)"
	}
	return text
}

// fewer tells of allocations that are saved.
func fewer(s *advise.Saves) string {
	if s.Allocations == 0 {
		return "no fewer allocations"
	}
	return upTo(s.AtMost) + "-" + counted(s.Allocations, "allocation", "allocations")
}

// upTo stands before what is the most that can be saved.
func upTo(atMost bool) string {
	if atMost {
		return "up to "
	}
	return ""
}

// shareOf writes a share of 0..1.
func shareOf(share float64) string {
	const parts = 1_000_000
	return percent(uint64(max(0, min(1, share))*parts+0.5), parts)
}

func rulePages(all []advise.Advice) string {
	var pages []string
	for i := range all {
		page := all[i].Rule + ".md"
		if len(pages) == 0 || !strings.Contains(strings.Join(pages, " ")+" ", page+" ") {
			pages = append(pages, page)
		}
	}
	return term.Safe(strings.Join(pages, " "))
}

// dimmed wraps a text that is less important.
func (r *report) dimmed(indent, text string) {
	if text == "" {
		return
	}
	before := len(r.lines)
	r.wrapped(indent, indent, text)
	for i, line := range r.lines[before:] {
		r.lines[before+i] = r.style.dim(line)
	}
}
