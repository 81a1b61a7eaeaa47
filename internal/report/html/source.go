package html

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// source is what the page has of a file: all of a short one, of others the
// lines around those that allocations go through.
type source struct {
	File int `json:"file"` // its name
	Excerpt
	Newer bool `json:"newer,omitempty"` // it changed after the recording began
}

// Excerpt is what a page has of a file.
type Excerpt struct {
	Lines  int     `json:"lines"` // of the file
	Pieces []Piece `json:"pieces"`
}

// Piece are lines that follow each other.
type Piece struct {
	First int      `json:"first"` // line
	Text  []string `json:"text"`
}

const (
	mostSources    = 400
	SourceBytes    = 3_000_000 // of all files together
	longestSource  = 32 << 20
	wholeUpToLines = 1500
	around         = 15 // lines before and after
	longestLine    = 500
)

// sourceNames are the endings of source files. Debug information may name any
// file of this machine; only what looks like source goes into a page, which
// may be handed on.
var sourceNames = map[string]bool{
	".c": true, ".h": true, ".cc": true, ".cpp": true, ".cxx": true, ".c++": true, ".hh": true, ".hpp": true, ".hxx": true,
	".h++": true, ".inc": true, ".ipp": true, ".inl": true, ".tcc": true, ".tpp": true, ".def": true, ".rs": true, ".go": true,
	".s": true, ".S": true, ".asm": true, ".d": true, ".zig": true, ".nim": true, ".m": true, ".mm": true, ".cu": true, ".y": true,
	".l": true, ".f": true, ".f90": true, ".f95": true, ".f03": true, ".f08": true, ".ada": true, ".adb": true, ".swift": true,
	".pas": true, ".v": true, ".cr": true, ".vala": true, ".ml": true, ".hs": true, ".re": true, ".gperf": true,
}

func isSourceName(name string) bool {
	ending := filepath.Ext(name)
	return sourceNames[ending] || ending == "" && strings.Contains(name, "/include/")
}

// sources reads the files that stacks go through, those with most calls
// first, as long as there is room.
func (b *builder) sources() []source {
	lines, calls := b.linesOfFiles()
	files := make([]int, 0, len(lines))
	for file := range lines {
		if isSourceName(b.strings.all[file]) {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, c int) int { return cmp.Or(cmp.Compare(calls[c], calls[a]), cmp.Compare(a, c)) })
	began := b.began()
	left := SourceBytes
	var all []source
	for _, file := range files[:min(len(files), mostSources)] {
		excerpt := ReadExcerpt(b.strings.all[file], lines[file], &left)
		if excerpt == nil {
			continue
		}
		s := source{File: file, Excerpt: *excerpt}
		if info, err := os.Stat(b.strings.all[file]); err == nil && began > 0 {
			s.Newer = info.ModTime().Unix() > began
		}
		all = append(all, s)
	}
	return all
}

// began returns when the last of the recordings was begun, in seconds; 0 where
// nobody knows.
func (b *builder) began() int64 {
	var last int64
	for _, p := range b.profiles {
		for _, rec := range p.Recordings {
			if rec.Meta != nil {
				last = max(last, rec.Meta.Started.Unix())
			}
		}
	}
	return last
}

// linesOfFiles returns by file the lines that stacks go through, and how many
// calls the sites in the file make.
func (b *builder) linesOfFiles() (lines map[int]map[int]bool, calls map[int]uint64) {
	lines, calls = make(map[int]map[int]bool), make(map[int]uint64)
	for _, n := range b.forest.nodes {
		if f := b.forest.frames[n.Frame]; f.file > 0 && f.line > 0 {
			if lines[f.file] == nil {
				lines[f.file] = make(map[int]bool)
			}
			lines[f.file][f.line] = true
		}
	}
	for i, s := range b.head.Sites {
		if s.Frame >= 0 {
			calls[b.forest.frames[s.Frame].file] += b.sites[i].Counters.Calls
		}
	}
	return lines, calls
}

// ReadExcerpt reads all of a short file, of others the lines around those that
// are wanted, and takes their size from the bytes that are left. It returns nil
// for what is not there, is no text, or for which there is no room.
func ReadExcerpt(path string, wanted map[int]bool, left *int) *Excerpt {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > longestSource {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(content) {
		return nil
	}
	text := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	s := &Excerpt{Lines: len(text)}
	size := 0
	for _, part := range partsOf(len(text), wanted) {
		p := Piece{First: part[0] + 1}
		for _, line := range text[part[0]:part[1]] {
			line = cleanLine(line)
			size += len(line) + 4
			p.Text = append(p.Text, line)
		}
		s.Pieces = append(s.Pieces, p)
	}
	if len(s.Pieces) == 0 || size > *left {
		return nil
	}
	*left -= size
	return s
}

// partsOf returns which of n lines to show, as [from, to) from 0 up.
func partsOf(n int, wanted map[int]bool) (parts [][2]int) {
	if n <= wholeUpToLines {
		return [][2]int{{0, n}}
	}
	show := make([]bool, n)
	for line := range wanted {
		for i := max(0, line-1-around); i < min(n, line+around); i++ {
			show[i] = true
		}
	}
	for i := 0; i < n; i++ {
		if show[i] && (i == 0 || !show[i-1]) {
			parts = append(parts, [2]int{i, i})
		}
		if show[i] {
			parts[len(parts)-1][1] = i + 1
		}
	}
	return parts
}

// cleanLine keeps tabs, of all control characters.
func cleanLine(line string) string {
	if len(line) > longestLine {
		line = strings.ToValidUTF8(line[:longestLine], "") + " ..."
	}
	cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
	for i := range cells {
		cells[i] = clean(cells[i])
	}
	return strings.Join(cells, "\t")
}

// CleanText cleans a text line by line.
func CleanText(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = cleanLine(lines[i])
	}
	return strings.Join(lines, "\n")
}
