// Package callcount finds out how the calls of a function can be counted in a
// program that knows nothing of it.
//
// libmallow lets a jump take the place of the function's first instructions,
// to a piece of code that counts and does what they did
// (libmallow/record/call_counter.h). Here it is decided which instructions
// these are, from the file, before the program starts; whatever makes the
// change unsafe or the count wrong is refused with a sentence.
//
// Not seen are calls that the compiler inlined, and functions of libraries
// that are loaded later. Not looked at are jumps through tables, which no
// compiler leads to the beginning of a function.
package callcount

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/symbolize"
)

// mostText is what libmallow takes.
const mostText = 4000

// mostFunctions likewise.
const mostFunctions = 32

// Counting is what libmallow has to be told.
type Counting struct {
	Setting string   // the value of its option count_calls
	Notes   []string // what is not counted, for the report
}

// Prepare finds functions ("NAME", or "NAME@FILE" for one that another file
// than the program and its libraries has) of the program in the file path,
// which will run with the environment env on the library of that path.
func Prepare(path, library string, env, functions []string) (Counting, error) {
	symbolizer := symbolize.New(symbolize.Options{})
	defer symbolizer.Close()
	p := preparation{symbolizer: symbolizer, path: path, library: library, env: env, taken: make(map[place]string)}
	for _, function := range functions {
		if err := p.add(function); err != nil {
			return Counting{}, err
		}
	}
	if p.count > mostFunctions || p.setting.Len() > mostText {
		return Counting{}, fmt.Errorf("%s: too many functions to count the calls of (%d with that name)", strings.Join(functions, ", "), p.count)
	}
	return Counting{Setting: p.setting.String(), Notes: p.notes}, nil
}

type preparation struct {
	symbolizer *symbolize.Symbolizer
	path       string
	library    string // libmallow
	env        []string
	setting    bytes.Buffer
	count      int
	taken      map[place]string // which name each function counts under
	notes      []string
}

type place struct{ device, inode, address uint64 }

func (p *preparation) add(function string) error {
	name, file, named := strings.Cut(function, "@")
	if name == "" || strings.ContainsAny(name, "\n\x00") || named && file == "" {
		return fmt.Errorf("%q is no name of a function", function)
	}
	if own, err := p.symbolizer.CodeOf(p.library, name); err == nil && len(own.Copies) > 0 && file == "" {
		return fmt.Errorf("%s is libmallow's own while it records: the report counts its calls anyway", name)
	}
	found, file, err := p.find(name, file)
	if err != nil {
		return err
	}
	copies := withoutPreludes(found.Copies)
	for _, code := range copies {
		if err := p.addCode(name, file, code, found.Parts); err != nil {
			return fmt.Errorf("calls of %s cannot be counted: %w", symbolize.Readable(code.Symbol), err)
		}
	}
	if n := len(copies); n > 1 {
		p.notes = append(p.notes, fmt.Sprintf("calls of %s: of %d functions of that name, or copies of one", name, n))
	}
	for _, code := range copies {
		if len(code.Shared) > 0 {
			p.notes = append(p.notes, fmt.Sprintf("calls of %s: with those of %s, whose code is the same", name, list(code.Shared)))
		}
	}
	if n, _ := p.symbolizer.Inlined(file, name, found.Copies); n > 0 {
		p.notes = append(p.notes, fmt.Sprintf("calls of %s are counted without those that the compiler has inlined, in %d %s", name, n, plural(n)))
	}
	return nil
}

// list names the first of some functions.
func list(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

func plural(n int) string {
	if n == 1 {
		return "place"
	}
	return "places"
}

// find looks into the program and then into its libraries, or into the file
// that is named.
func (p *preparation) find(name, file string) (symbolize.FunctionCode, string, error) {
	files := []string{cmp.Or(file, p.path)}
	known := false
	for i := 0; i < len(files); i++ {
		found, err := p.symbolizer.CodeOf(files[i], name)
		if err != nil && i == 0 {
			return found, "", err
		}
		if len(found.Copies) > 0 {
			return found, files[i], nil
		}
		if i == 0 {
			known = found.Known
			if file == "" {
				files = append(files, librariesOf(p.path, p.env)...)
			}
		}
	}
	where := filepath.Base(files[0])
	inlined, defined := p.symbolizer.Inlined(files[0], name, nil)
	switch {
	case inlined > 0:
		return symbolize.FunctionCode{}, "", fmt.Errorf("%s has no code of its own: the compiler has inlined all its calls (__attribute__((noinline)) keeps it from that)", name)
	case defined:
		return symbolize.FunctionCode{}, "", fmt.Errorf("%s has no code of its own: nothing calls it, or the compiler has found another function to do the same and left it out", name)
	case !known:
		return symbolize.FunctionCode{}, "", fmt.Errorf("there is no function %s in %s, whose symbols were stripped", name, where)
	case len(files) > 1:
		return symbolize.FunctionCode{}, "", fmt.Errorf("there is no function %s in %s or its libraries (--per FUNCTION@FILE names another file)", name, where)
	}
	return symbolize.FunctionCode{}, "", fmt.Errorf("there is no function %s in %s", name, where)
}

func (p *preparation) addCode(name, file string, code symbolize.Code, parts []symbolize.Code) error {
	switch {
	case code.Indirect:
		return fmt.Errorf("which code it is, is chosen when the program runs")
	case code.Bytes == nil:
		return fmt.Errorf("the symbol table does not say how long it is")
	}
	plan, err := newPlan(code.Bytes)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := plan.checkJumpsFrom(part.Bytes, int64(part.Address)-int64(code.Address)); err != nil {
			return err
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	identity, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the file has no number")
	}
	const mostName = 224
	at := place{identity.Dev, identity.Ino, code.Address}
	if p.taken[at] != "" {
		return fmt.Errorf("they count as calls of %s already", p.taken[at])
	}
	p.taken[at] = name
	device := uint64(unix.Major(identity.Dev))<<32 | uint64(unix.Minor(identity.Dev))
	fmt.Fprintf(&p.setting, "%x %x %x %x %x %s %s\n", device, identity.Ino, code.Address+uint64(plan.offset),
		plan.original, plan.replacement, cmp.Or(hex.EncodeToString(plan.fixups), "-"), name[:min(len(name), mostName)])
	p.count++
	return nil
}

// librariesOf asks the dynamic linker what it would load; nothing where it
// does not tell.
func librariesOf(path string, env []string) []string {
	file, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	linker := ""
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			name := make([]byte, min(segment.Filesz, 4096))
			if _, err := segment.ReadAt(name, 0); err == nil {
				linker = string(bytes.TrimRight(name, "\x00"))
			}
		}
	}
	if linker == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	command := exec.CommandContext(ctx, linker, "--list", absolute)
	command.Env = env
	output, err := command.Output()
	if err != nil {
		return nil
	}
	var libraries []string
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		if _, found, ok := strings.Cut(line, " => "); ok {
			line = found
		}
		name, _, _ := strings.Cut(line, " (0x")
		if strings.Contains(name, "/") { // not the kernel's own
			libraries = append(libraries, name)
		}
	}
	return libraries
}
