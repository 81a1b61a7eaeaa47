package main

import (
	"path"
	"regexp"
	"strings"
)

var (
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`^#+ +(.*)$`)
	scheme   = regexp.MustCompile(`^[a-z]+:`)
)

// checkLinks follows the links between pages: files, folders and headings.
func checkLinks(t *tree) []complaint {
	places := map[string]bool{".": true}
	pages := map[string]file{}
	for _, f := range t.files {
		for folder := f.path; folder != "."; folder = path.Dir(folder) {
			places[folder] = true
		}
		if path.Ext(f.path) == ".md" {
			pages[f.path] = f
		}
	}
	var wrong []complaint
	for _, f := range t.with(".md") {
		if f.isData() {
			continue
		}
		f.prose(func(number int, text string) {
			for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
				if scheme.MatchString(m[1]) {
					continue
				}
				to, anchor, _ := strings.Cut(m[1], "#")
				target := f.path
				if to != "" {
					target = path.Join(path.Dir(f.path), to)
				}
				page, isPage := pages[target]
				switch {
				case !places[target]:
					wrong = append(wrong, complaint{f.path, number, "a link to " + target + ", which is not there"})
				case anchor != "" && (!isPage || !page.anchors()[anchor]):
					wrong = append(wrong, complaint{f.path, number, "a link to the heading #" + anchor + " of " + target + ", which it does not have"})
				}
			}
		})
	}
	return wrong
}

// prose calls each with the lines of a page that are neither fenced nor indented code.
func (f file) prose(each func(number int, text string)) {
	fenced := false
	f.lines(func(number int, text string) {
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(text, "    ") {
			each(number, text)
		}
	})
}

var dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors are the headings of a page as links name them.
func (f file) anchors() map[string]bool {
	found := map[string]bool{}
	f.prose(func(_ int, text string) {
		if m := heading.FindStringSubmatch(text); m != nil {
			found[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
		}
	})
	return found
}
