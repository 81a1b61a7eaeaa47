// Package doctor looks at an executable file, without running it, and says
// what mallow can and cannot see of that program, and why.
package doctor

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mallow/internal/launch"
)

// Program is what a file tells of the program in it.
type Program struct {
	// Path is the file that the kernel executes in the end: for a script, its
	// interpreter.
	Path string
	// Scripts are the scripts on the way to Path, outermost first.
	Scripts []string

	Class       elf.Class
	Machine     elf.Machine
	Interpreter string   // the dynamic linker, which has itself; "" for a static program
	Library     bool     // it is a shared library, which others load
	Needed      []string // libraries that it is linked with
	GoVersion   string   // "" unless it is a Go program

	// OwnMalloc is set when the executable itself defines malloc for the whole
	// process.
	OwnMalloc bool
	OwnHeaps  []OwnHeap // by name
	// Recorder is set when libmallow with its recorder is linked into it, and
	// Minimal when it is libmallow without one.
	Recorder, Minimal bool
	// Sanitizer names the sanitizer that it was built with.
	Sanitizer string

	BuildID      string
	Symbols      bool   // it has a full symbol table
	Lines        bool   // it says itself which line an address belongs to
	DebugFile    string // where else that stands; "" when nowhere
	UnwindTables bool

	Privilege Privilege
}

// errNotELF marks a file that is no program in itself.
var errNotELF = errors.New("not an ELF program")

// maxScripts is the number of interpreters that the kernel follows.
const maxScripts = 5

// Inspect reads the program in the file path; scripts are followed to their
// interpreter. The cost is that of reading the symbol table and the constants.
func Inspect(path string) (*Program, error) { return inspect(path, true) }

// inspect reads the whole program, or only what decides whether it can be
// recorded, which is asked before every start.
func inspect(path string, whole bool) (*Program, error) {
	var scripts []string
	for range maxScripts {
		interpreter, err := interpreterOf(path)
		if err != nil && len(scripts) > 0 {
			return nil, badInterpreter(scripts[len(scripts)-1], path, err)
		} else if err != nil {
			return nil, err
		}
		if interpreter == "" {
			p, err := inspectELF(path, whole)
			if err != nil {
				return nil, err
			}
			p.Scripts = scripts
			return p, nil
		}
		scripts = append(scripts, path)
		path = interpreter
	}
	return nil, fmt.Errorf("%s: a script of a script, more than %d deep", launch.Quote(scripts[0]), maxScripts)
}

func badInterpreter(script, interpreter string, err error) error {
	script, interpreter = launch.Quote(script), launch.Quote(interpreter)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: names the interpreter %s, which is not there", script, interpreter)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: names the interpreter %s: %w", script, interpreter, err)
}

// interpreterOf returns what the first line of a script names, "" for a file
// that is no script. env(1) in that line is looked through.
func interpreterOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	line, isScript := bytes.CutPrefix(head[:n], []byte("#!"))
	if !isScript {
		return "", nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	// Nothing else ends a word for the kernel.
	words := strings.FieldsFunc(string(line), func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 {
		return "", fmt.Errorf("%s: a script that names no interpreter", launch.Quote(path))
	}
	if filepath.Base(words[0]) == "env" {
		for _, word := range words[1:] {
			if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
				continue
			}
			if command, err := launch.Lookup(word, nil); err == nil {
				return command.Path, nil
			}
			break
		}
	}
	return words[0], nil
}

func inspectELF(path string, whole bool) (*Program, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	object, err := elf.NewFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", launch.Quote(path), errNotELF)
	}
	p := &Program{Path: path, Class: object.Class, Machine: object.Machine, Privilege: privilegeOf(file)}
	p.readLinking(object)
	p.readHeaps(object, whole)
	if whole {
		p.readDebugging(object)
	}
	if info, err := buildinfo.Read(file); err == nil {
		p.GoVersion = info.GoVersion
	}
	return p, nil
}

func (p *Program) readLinking(object *elf.File) {
	for _, segment := range object.Progs {
		if segment.Type == elf.PT_INTERP && segment.Filesz < 4096 {
			name := make([]byte, segment.Filesz)
			if _, err := segment.ReadAt(name, 0); err == nil {
				p.Interpreter = string(bytes.TrimRight(name, "\x00"))
			}
		}
	}
	if p.Interpreter == "" {
		p.Interpreter = loaderName(object)
	}
	p.Library = p.Interpreter == "" && object.Type == elf.ET_DYN && !isPIE(object)
	if needed, err := object.ImportedLibraries(); err == nil {
		p.Needed = needed
	}
}

// isPIE tells what the linker says of position-independent programs, those
// linked statically too.
func isPIE(object *elf.File) bool {
	flags, err := object.DynValue(elf.DT_FLAGS_1)
	return err == nil && len(flags) == 1 && elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0
}

// loaderName is what glibc's dynamic linker calls itself, whatever its file is
// called, and "" for everything else. It needs no other, and preloads into the
// program that it is given by hand.
func loaderName(object *elf.File) string {
	names, err := object.DynString(elf.DT_SONAME)
	if err != nil || len(names) != 1 || !strings.HasPrefix(names[0], "ld-linux") {
		return ""
	}
	return names[0]
}

func (p *Program) readDebugging(object *elf.File) {
	p.Symbols = object.SectionByType(elf.SHT_SYMTAB) != nil
	p.UnwindTables = hasUnwindTables(object)
	p.Lines = object.Section(".debug_line") != nil && object.Section(".debug_info") != nil
	if note := object.Section(".note.gnu.build-id"); note != nil {
		if data, err := note.Data(); err == nil {
			p.BuildID = buildID(object.ByteOrder, data)
		}
	}
	if !p.Lines {
		p.DebugFile = findDebugFile(p.Path, p.BuildID, debugLink(object))
	}
}

// buildID reads a note: the sizes of name and content, the type, both padded
// to 4 bytes.
func buildID(order binary.ByteOrder, note []byte) string {
	if len(note) < 16 {
		return ""
	}
	name, size := order.Uint32(note), order.Uint32(note[4:])
	start := 12 + (uint64(name)+3)/4*4
	if start+uint64(size) > uint64(len(note)) {
		return ""
	}
	return hex.EncodeToString(note[start : start+uint64(size)])
}

func debugLink(object *elf.File) string {
	section := object.Section(".gnu_debuglink")
	if section == nil {
		return ""
	}
	data, err := section.Data()
	if err != nil {
		return ""
	}
	name, _, _ := bytes.Cut(data, []byte{0})
	return filepath.Base(string(name))
}

// findDebugFile looks where debuggers look.
func findDebugFile(path, id, link string) string {
	const root = "/usr/lib/debug"
	var candidates []string
	if len(id) > 2 {
		candidates = append(candidates, filepath.Join(root, ".build-id", id[:2], id[2:]+".debug"))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && link != "" && link != "." {
		dir := filepath.Dir(real)
		candidates = append(candidates,
			filepath.Join(dir, link), filepath.Join(dir, ".debug", link), filepath.Join(root, dir, link))
	}
	for _, candidate := range candidates {
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() {
			return candidate
		}
	}
	return ""
}
