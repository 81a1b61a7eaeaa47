package callcount

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Every instruction of big programs is as long as objdump says.
func TestLengths(t *testing.T) {
	if testing.Short() {
		t.Skip("disassembles libraries")
	}
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip(err)
	}
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6", "/bin/bash"} {
		t.Run(path, func(t *testing.T) { compareLengths(t, objdump, path) })
	}
}

func compareLengths(t *testing.T, objdump, path string) {
	command := exec.Command(objdump, "-d", "-w", "--insn-width=16", "-j", ".text", path)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()
	checked, wrong := 0, 0
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 3 || strings.Contains(fields[2], "(bad)") {
			continue
		}
		code, err := hex.DecodeString(strings.ReplaceAll(fields[1], " ", ""))
		if err != nil {
			continue
		}
		words := strings.Fields(fields[2])
		if len(code) == 1 && len(words) > 0 && isPrefix(words[0]) {
			continue // objdump shows a prefix that means nothing as a line of its own
		}
		if code[0] == 0x9b {
			continue // and fwait, which is an instruction, as a prefix
		}
		checked++
		in, ok := decode(append(code, 0xcc, 0xcc, 0xcc))
		if !ok || in.length != len(code) {
			if wrong++; wrong < 20 {
				t.Errorf("% x %s: %d, %v", code, fields[2], in.length, ok)
			}
			continue
		}
		checkFlow(t, fields, code, in)
	}
	if checked < 100_000 {
		t.Errorf("%d instructions only", checked)
	}
	t.Logf("%d instructions, %d wrong", checked, wrong)
}

func isPrefix(word string) bool {
	return strings.HasPrefix(word, "rex") || word == "data16" || word == "cs" || word == "repz" || word == "lock" || word == "addr32" || word == "fwait" || word == "ds"
}

// checkFlow holds the target of a jump against that which objdump prints.
func checkFlow(t *testing.T, fields []string, code []byte, in instruction) {
	words := strings.Fields(fields[2])
	for len(words) > 0 && (isPrefix(words[0]) || words[0] == "bnd" || words[0] == "notrack") {
		words = words[1:]
	}
	if len(words) < 2 || words[0][0] != 'j' && words[0] != "call" || strings.HasPrefix(words[1], "*") {
		if in.jumpBytes > 0 && words[0] != "loop" && words[0] != "xbegin" {
			t.Errorf("% x %s: taken for a jump", code, fields[2])
		}
		return
	}
	address, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(fields[0]), ":")), 16, 64)
	target, err := strconv.ParseInt(strings.TrimSuffix(words[1], ",pn"), 16, 64)
	if err != nil {
		return
	}
	if in.jumpBytes == 0 || address+in.target(code) != target {
		t.Errorf("% x %s: leads to %x", code, fields[2], address+in.target(code))
	}
}

func TestPlans(t *testing.T) {
	for _, test := range []struct {
		name, code, original, replacement string
		fixups                            []byte
		refusal                           string
	}{
		{name: "a frame", code: "55 4889e5 4883ec10 c9 c3", original: "55 4889e5 4883ec10", replacement: "55 4889e5 4883ec10"},
		{name: "behind an endbr64", code: "f30f1efa 55 4889e5 53 c3", original: "55 4889e5 53", replacement: "55 4889e5 53"},
		{name: "a word of memory", code: "488b0510000000 c3", original: "488b0510000000", replacement: "488b0510000000", fixups: []byte{3}},
		// test edi,edi; je +3: as a jump of 6 bytes, whose end is 4 bytes further on.
		{name: "a short jump", code: "85ff 7403 90 90 90 c3", original: "85ff 7403 90", replacement: "85ff 0f84 ffffffff 90", fixups: []byte{4},
			refusal: ""},
		{name: "a short jump behind a word of memory", code: "833d0000000000 7510 b801000000 c3", original: "833d0000000000", replacement: "833d0000000000", fixups: []byte{2}},
		{name: "a jump elsewhere", code: "e900010000", original: "e900010000", replacement: "e900010000", fixups: []byte{1}},
		{name: "too short", code: "31c0 c3", refusal: "too short"},
		{name: "ends too early", code: "31c0 c3 9090909090", refusal: "too short"},
		{name: "a call", code: "4883ec08 e800010000 4883c408 c3", original: "4883ec08 e800010000",
			replacement: "4883ec08 ff3505000000 e9fa000000 0000000000000000", fixups: []byte{11, 15 | behindOriginal}},
		{name: "a call by a word of memory", code: "50 ff1500010000 58 c3", original: "50 ff1500010000",
			replacement: "50 ff3506000000 ff25fa000000 0000000000000000", fixups: []byte{9, 13 | behindOriginal}},
		{name: "a call by a register", code: "4889f8 ffd0 c3", original: "4889f8 ffd0",
			replacement: "4889f8 ff3502000000 ffe0 0000000000000000", fixups: []byte{11 | behindOriginal}},
		{name: "a call by a new register", code: "4889f8 41ffd3 c3", original: "4889f8 41ffd3",
			replacement: "4889f8 ff3503000000 41ffe3 0000000000000000", fixups: []byte{12 | behindOriginal}},
		{name: "a call by the stack", code: "4889f8 ff542408 c3", refusal: "calls another"},
		{name: "a short call", code: "ffd0 9090909090 c3", refusal: "calls another"},
		{name: "a loop at the start", code: "48ffcf 4885ff 75f8 c3", refusal: "a loop begins"},
		{name: "a jump into it", code: "55 53 4889fb 90 ebfa c3", refusal: "a jump leads into"},
		{name: "a loop instruction", code: "e2fe 9090909090", refusal: "loop instruction"},
		{name: "no code", code: "06 06 06 06 06 06", refusal: "does not know"},
		{name: "no code further on", code: "55 4889e5 53 06", refusal: "cannot be read"},
		{name: "recursion", code: "55 4889e5 53 e8f6ffffff 5b 5d c3", original: "55 4889e5 53", replacement: "55 4889e5 53"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := newPlan(bytesOf(t, test.code))
			if test.refusal != "" || err != nil {
				if err == nil || test.refusal == "" || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("%v", err)
				}
				return
			}
			if !bytes.Equal(p.original, bytesOf(t, test.original)) || !bytes.Equal(p.replacement, bytesOf(t, test.replacement)) ||
				!bytes.Equal(p.fixups, test.fixups) {
				t.Errorf("original % x, replacement % x, fixups %v", p.original, p.replacement, p.fixups)
			}
		})
	}
}

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x53, 0xc3})
	f.Add([]byte{0x85, 0xff, 0x74, 0x03, 0x90, 0x90, 0x90, 0xc3})
	f.Fuzz(func(t *testing.T, code []byte) {
		p, err := newPlan(code)
		if err != nil {
			return
		}
		if len(p.original) < jumpBytes || len(p.replacement) == 0 || len(p.replacement) > 96 {
			t.Errorf("% x: %+v", code, p)
		}
		for _, at := range p.fixups {
			if size := 4 + int(at>>7)*4; int(at&^behindOriginal)+size > len(p.replacement) {
				t.Errorf("% x: %+v", code, p)
			}
		}
	})
}
