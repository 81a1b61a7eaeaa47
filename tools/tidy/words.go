package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// banned words are put together here, so that this file does not contain them.
var banned = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`), "an unfinished mark: finish it, or leave it out"},
	{regexp.MustCompile(`(^|[^a-zA-Z0-9_./-])/(wo` + `rk|fa` + `rm|ho` + `me/[a-z]+|ro` + `ot)/`), "a path of one machine"},
	{regexp.MustCompile(`(proxy\.gol` + `ang\.org|registry\.np` + `mjs\.org|files\.pythonh` + `osted\.org|index\.cra` + `tes\.io|deb\.deb` + `ian\.org)`),
		"the host of a registry: which one is used is the machine's affair"},
	{regexp.MustCompile(`^(<{7}|>{7}|={7})( |$)`), "a conflict that was not resolved"},
}

func checkWords(t *tree) []complaint {
	var wrong []complaint
	for _, f := range t.files {
		if f.isData() || !f.isText() || f.path == "LICENSE" || f.path == "go.sum" {
			continue
		}
		f.lines(func(number int, text string) {
			for _, b := range banned {
				if found := b.pattern.FindString(text); found != "" {
					wrong = append(wrong, complaint{f.path, number, fmt.Sprintf("%q: %s", strings.TrimSpace(found), b.why)})
				}
			}
		})
	}
	return wrong
}

// maxFileBytes keeps what is generated or downloaded out of the history,
// where it would stay for ever.
const maxFileBytes = 1 << 20

func checkFiles(t *tree) []complaint {
	var wrong []complaint
	for _, f := range t.files {
		if len(f.content) > maxFileBytes {
			wrong = append(wrong, complaint{f.path, 0, fmt.Sprintf("%d bytes: generate it, or fetch it where it is needed", len(f.content))})
		}
		if f.isData() || !f.isText() {
			continue
		}
		if !utf8.Valid(f.content) {
			wrong = append(wrong, complaint{f.path, 0, "not UTF-8"})
		}
		if bytes.Contains(f.content, []byte("\r\n")) {
			wrong = append(wrong, complaint{f.path, 0, "lines end with CR LF"})
		}
		if len(f.content) > 0 && f.content[len(f.content)-1] != '\n' {
			wrong = append(wrong, complaint{f.path, 0, "the last line has no end"})
		}
		f.lines(func(number int, text string) {
			if strings.TrimRight(text, " \t") != text {
				wrong = append(wrong, complaint{f.path, number, "blanks at the end of the line"})
			}
		})
	}
	return wrong
}

var (
	cmakeVersion = regexp.MustCompile(`project\(mallow VERSION ([0-9.]+)`)
	goVersion    = regexp.MustCompile(`const Version = "([0-9.]+)"`)
)

// checkVersions keeps the library and the command line at one version: a
// recording names it.
func checkVersions(t *tree) []complaint {
	versions := make(map[string]string)
	for _, f := range t.files {
		for path, pattern := range map[string]*regexp.Regexp{"CMakeLists.txt": cmakeVersion, "internal/launch/version.go": goVersion} {
			if m := pattern.FindSubmatch(f.content); f.path == path && m != nil {
				versions[path] = string(m[1])
			}
		}
	}
	library, command := versions["CMakeLists.txt"], versions["internal/launch/version.go"]
	if library == "" || library != command {
		return []complaint{{"CMakeLists.txt", 0, fmt.Sprintf("version %q, but internal/launch/version.go has %q", library, command)}}
	}
	return nil
}
