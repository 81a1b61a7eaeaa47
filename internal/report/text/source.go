package text

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mallow/internal/profile"
	"mallow/internal/term"
)

// source reads lines of code. What a recording names as source need be none,
// so only regular files of a moderate size are read.
type source struct {
	profile *profile.Profile
	newer   []string // files that changed after the program was built
}

const (
	largestSource  = 32 << 20
	longestCode    = 160
	longestRawLine = 1 << 16
)

// line returns the code of a frame: "" where the file is not there, or is not
// the one that was compiled.
func (s *source) line(f *profile.Frame) string {
	if f.Line <= 0 || !filepath.IsAbs(f.File) {
		return ""
	}
	info, err := os.Stat(f.File)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestSource {
		return ""
	}
	if built := s.profile.Built(f.Module); !built.IsZero() && info.ModTime().After(built.Add(time.Second)) {
		if name := shortPath(f.File); !slices.Contains(s.newer, name) {
			s.newer = append(s.newer, name)
		}
		return ""
	}
	file, err := os.Open(f.File)
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestRawLine)
	for number := 1; lines.Scan(); number++ {
		if number == f.Line {
			return tidyCode(lines.Text())
		}
	}
	return ""
}

// tidyCode makes one printable line of it, with single blanks.
func tidyCode(line string) string {
	code := term.Safe(strings.Join(strings.Fields(line), " "))
	if runes := []rune(code); len(runes) > longestCode {
		code = string(runes[:longestCode-1]) + "…"
	}
	return code
}

// notes say which files are not shown.
func (s *source) notes() []string {
	if len(s.newer) == 0 {
		return nil
	}
	n := uint64(len(s.newer))
	return []string{enumerate(s.newer) + plural(n, " is", " are") + " newer than the program: " + plural(n, "its lines are", "their lines are") + " not shown, and line numbers are those of the compiled text"}
}
