package fastpath

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// instruction is one of a library, as objdump writes it with addresses made symbolic.
type instruction struct {
	address  uint64
	mnemonic string   // with its prefixes
	operands []string // the destination last
	function string   // in which it lies
	end      uint64   // address of what follows it
}

func (i instruction) text() string {
	return strings.TrimRight(fmt.Sprintf("%-6s %s", i.mnemonic, strings.Join(i.operands, ",")), " ")
}

// textWithin writes jumps within the function without its name: it may have several, and objdump chooses one.
func (i instruction) textWithin(function string) string {
	operands := make([]string, len(i.operands))
	for n, operand := range i.operands {
		operands[n] = operand
		if offset, found := strings.CutPrefix(operand, shorten(function)+"+"); found {
			operands[n] = "+" + offset
		}
	}
	i.operands = operands
	return i.text()
}

func (i instruction) isReturn() bool { return strings.HasPrefix(i.mnemonic, "ret") }
func (i instruction) isCall() bool   { return strings.HasPrefix(i.mnemonic, "call") }
func (i instruction) isJump() bool   { return strings.HasPrefix(i.mnemonic, "j") }

// isLocked holds for what locks a cache line: an exchange with memory does so without saying it.
func (i instruction) isLocked() bool {
	return strings.HasPrefix(i.mnemonic, "lock") || strings.HasPrefix(i.mnemonic, "xchg") && i.memoryOperand() >= 0
}

// memoryOperand is the index of the operand that lies in memory, or -1.
func (i instruction) memoryOperand() int {
	for n, operand := range i.operands {
		if strings.HasSuffix(operand, ")") || strings.HasPrefix(operand, "%fs:") {
			return n
		}
	}
	return -1
}

// Instructions by what they do with an operand in memory. Prefixes of mnemonics; the first that fits counts.
var memoryUse = []struct {
	prefix              string
	addressOnly         bool
	loadsWhenSource     bool
	storesAsDestination bool
	loadsAsDestination  bool
}{
	{prefix: "lea", addressOnly: true},
	{prefix: "nop", addressOnly: true},
	{prefix: "mov", loadsWhenSource: true, storesAsDestination: true},
	{prefix: "cmov", loadsWhenSource: true},
	{prefix: "cmpxchg", storesAsDestination: true, loadsAsDestination: true},
	{prefix: "cmp", loadsWhenSource: true, loadsAsDestination: true},
	{prefix: "test", loadsWhenSource: true, loadsAsDestination: true},
	{prefix: "add", loadsWhenSource: true, storesAsDestination: true, loadsAsDestination: true},
	{prefix: "sub", loadsWhenSource: true, storesAsDestination: true, loadsAsDestination: true},
	{prefix: "and", loadsWhenSource: true, storesAsDestination: true, loadsAsDestination: true},
	{prefix: "or", loadsWhenSource: true, storesAsDestination: true, loadsAsDestination: true},
	{prefix: "xor", loadsWhenSource: true, storesAsDestination: true, loadsAsDestination: true},
	{prefix: "inc", storesAsDestination: true, loadsAsDestination: true},
	{prefix: "dec", storesAsDestination: true, loadsAsDestination: true},
	{prefix: "xchg", storesAsDestination: true, loadsAsDestination: true},
	{prefix: "xadd", storesAsDestination: true, loadsAsDestination: true},
	{prefix: "imul", loadsWhenSource: true},
	{prefix: "mul", loadsAsDestination: true},
	{prefix: "jmp", loadsAsDestination: true},
	{prefix: "call", loadsAsDestination: true},
}

// memory counts the loads and stores of an instruction; those of return addresses are not counted.
func (i instruction) memory(t *testing.T) (loads, stores int) {
	t.Helper()
	switch {
	case strings.HasPrefix(i.mnemonic, "push"):
		return 0, 1
	case strings.HasPrefix(i.mnemonic, "pop"):
		return 1, 0
	}
	at := i.memoryOperand()
	if at < 0 {
		return 0, 0
	}
	for _, use := range memoryUse {
		if !strings.HasPrefix(strings.TrimPrefix(i.mnemonic, "lock "), use.prefix) {
			continue
		}
		destination := at == len(i.operands)-1
		if destination && use.loadsAsDestination || !destination && use.loadsWhenSource {
			loads = 1
		}
		if destination && use.storesAsDestination {
			stores = 1
		}
		if loads+stores > 0 || use.addressOnly {
			return loads, stores
		}
	}
	t.Fatalf("what does %q do with memory? memoryUse does not know", i.text())
	return 0, 0
}

// disassemble reads all instructions of a library, by address.
func disassemble(t *testing.T, library string) map[uint64]instruction {
	t.Helper()
	listing, err := exec.Command("objdump", "-dC", "--no-show-raw-insn", library).Output()
	if err != nil {
		t.Fatalf("objdump: %v", err)
	}
	names := offsetsOfThreadWords(t, library)
	code := map[uint64]instruction{}
	var function string
	var last uint64
	for line := range strings.Lines(string(listing)) {
		line = strings.TrimRight(line, "\n")
		if m := label.FindStringSubmatch(line); m != nil {
			function, last = m[1], 0
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		address, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		i := decode(m[2], names)
		i.address, i.function = address, function
		if before, ok := code[last]; ok && last != 0 {
			before.end = address
			code[last] = before
		}
		code[address], last = i, address
	}
	return code
}

var (
	label    = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:$`)
	row      = regexp.MustCompile(`^ *([0-9a-f]+):\t(.*)$`)
	relative = regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)`)
	target   = regexp.MustCompile(`^[0-9a-f]+ <(.*)>$`)
	prefixes = regexp.MustCompile(`^((?:lock|rep|repz|bnd|notrack) )?(\S+) *(.*)$`)
)

// decode takes the text of one instruction apart: "mov    0x1fc79(%rip),%rcx        # 24f80 <name+0x128>".
func decode(text string, names map[uint64]string) instruction {
	text, comment, _ := strings.Cut(text, " # ")
	text = strings.TrimSpace(text)
	if at, name, found := strings.Cut(comment, " "); found {
		address, _ := strconv.ParseUint(at, 16, 64)
		symbol := shorten(strings.Trim(name, "<>"))
		if word, ok := names[address]; ok {
			symbol = word
		}
		text = relative.ReplaceAllString(text, strings.ReplaceAll(symbol, "$", "$$")+"(%rip)")
	}
	m := prefixes.FindStringSubmatch(text)
	i := instruction{mnemonic: m[1] + m[2]}
	if to := target.FindStringSubmatch(m[3]); to != nil {
		i.operands = []string{shorten(to[1])}
	} else if m[3] != "" {
		i.operands = splitOperands(m[3])
	}
	return i
}

// splitOperands cuts at the commas that are not within parentheses.
func splitOperands(text string) []string {
	var operands []string
	depth, start := 0, 0
	for n, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			operands = append(operands, text[start:n])
			start = n + 1
		}
	}
	return append(operands, text[start:])
}

var qualifiers = regexp.MustCompile(`\b(mallow|heap|internal|api|record|\(anonymous namespace\))::`)
var parameters = regexp.MustCompile(`\([^()]*\)`)

// shorten leaves what tells the names of the library apart.
func shorten(symbol string) string {
	return parameters.ReplaceAllString(qualifiers.ReplaceAllString(symbol, ""), "")
}

// offsetsOfThreadWords names the words of the table of addresses that hold the offset of a thread's variable.
func offsetsOfThreadWords(t *testing.T, library string) map[uint64]string {
	t.Helper()
	file, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatalf("%s has no symbols: %v", library, err)
	}
	section := file.Section(".rela.dyn")
	if section == nil {
		t.Fatalf("%s has no relocations", library)
	}
	content, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint64]string{}
	for ; len(content) >= 24; content = content[24:] {
		if elf.R_X86_64(binary.LittleEndian.Uint32(content[8:])) != elf.R_X86_64_TPOFF64 {
			continue
		}
		addend := binary.LittleEndian.Uint64(content[16:])
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_TLS && s.Value <= addend && addend < s.Value+s.Size {
				names[binary.LittleEndian.Uint64(content)] = "offset of " + threadWord(s.Name, addend-s.Value)
			}
		}
	}
	return names
}

// threadWord is the name of a thread's variable without its namespaces, and how far into it.
func threadWord(mangled string, offset uint64) string {
	name := mangled
	if m := lastName.FindStringSubmatch(mangled); m != nil {
		name = m[1]
	}
	if offset != 0 {
		name += fmt.Sprintf("+%#x", offset)
	}
	return name
}

var lastName = regexp.MustCompile(`\d([a-z_]+)E?$`)

// compiler is what the library says of the compiler that made it.
func compiler(t *testing.T, library string) string {
	t.Helper()
	file, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".comment")
	if section == nil {
		return "unknown"
	}
	content, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.Trim(string(content), "\x00"), "\x00", ", ")
}

// source is where a function that was inlined comes from.
type source struct{ function, file string }

// sources gives for each address the functions whose code it is, the innermost first.
func sources(t *testing.T, library string, addresses []uint64) [][]source {
	t.Helper()
	arguments := []string{"-aifC", "-e", library}
	for _, address := range addresses {
		arguments = append(arguments, fmt.Sprintf("%#x", address))
	}
	output, err := exec.Command("addr2line", arguments...).Output()
	if err != nil {
		t.Fatalf("addr2line: %v", err)
	}
	var all [][]source
	lines := strings.Split(strings.TrimRight(string(output), "\n"), "\n")
	for n := 0; n < len(lines); n++ {
		if strings.HasPrefix(lines[n], "0x") {
			all = append(all, nil)
			continue
		}
		if n+1 == len(lines) || len(all) == 0 {
			t.Fatalf("addr2line printed %q", lines[n])
		}
		file, _, _ := strings.Cut(lines[n+1], ":")
		// The last: relative to the build folder a path has the name twice.
		if at := strings.LastIndex(file, "/libmallow/"); at >= 0 {
			file = file[at+len("/libmallow/"):]
		}
		all[len(all)-1] = append(all[len(all)-1], source{shorten(lines[n]), file})
		n++
	}
	if len(all) != len(addresses) {
		t.Fatalf("addr2line answered for %d of %d addresses", len(all), len(addresses))
	}
	return all
}
