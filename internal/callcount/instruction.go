package callcount

import "encoding/binary"

// flow is where control goes after an instruction.
type flow int

const (
	flowNext   flow = iota // to the next one
	flowBranch             // there, or elsewhere: a conditional jump
	flowJump               // elsewhere
	flowCall               // elsewhere, and back
	flowReturn
)

// instruction is what has to be known of one to put it elsewhere: how long it
// is, and which part of it depends on where it stands.
type instruction struct {
	length int
	flow   flow
	opcode byte // the last byte of it
	// The displacement of a jump or call, or that of an operand in memory that
	// is relative to the instruction: where it begins, 0 for none, and its size.
	jump, jumpBytes int
	memory          int
}

// target is the offset that a jump or call leads to, from the start of the
// instruction.
func (in *instruction) target(code []byte) int64 {
	if in.jumpBytes == 1 {
		return int64(in.length) + int64(int8(code[in.jump]))
	}
	return int64(in.length) + int64(int32(binary.LittleEndian.Uint32(code[in.jump:])))
}

// maps of opcodes.
const (
	mapOne = iota // single-byte opcodes
	mapTwo        // 0F
	map38         // 0F 38
	map3A         // 0F 3A
	mapOther
)

// decoder reads one instruction of 64-bit code. It knows lengths, not
// meanings: what it takes for an instruction may be one that no processor has.
type decoder struct {
	code     []byte
	at       int
	narrow   bool // 66: immediates of 2 bytes
	short    bool // 67: addresses of 32 bits
	wide     bool // REX.W
	extended bool // VEX or EVEX
	unclear  bool // processors disagree on it
	in       instruction
}

// decode returns the instruction at the start of code; false where there is
// none that it knows, or code ends within it.
func decode(code []byte) (in instruction, ok bool) {
	const longest = 15
	d := decoder{code: code[:min(len(code), longest)]}
	defer func() {
		if recover() != nil { // it ends before the instruction does
			in, ok = instruction{}, false
		}
	}()
	if ok = d.instruction(); !ok || d.unclear || d.at > len(d.code) {
		return instruction{}, false
	}
	d.in.length = d.at
	return d.in, true
}

func (d *decoder) next() byte {
	b := d.code[d.at]
	d.at++
	return b
}

func (d *decoder) instruction() bool {
	opcode, table := d.prefixes()
	d.in.opcode = opcode
	switch table {
	case mapOne:
		return d.one(opcode)
	case mapTwo:
		return d.two(opcode)
	case map38:
		d.modRM()
	case map3A:
		d.modRM()
		d.skip(1)
	default: // AVX-512's half floats
		d.modRM()
	}
	return true
}

// prefixes reads as far as the opcode, and tells of which table that is.
func (d *decoder) prefixes() (opcode byte, table int) {
	for {
		switch b := d.next(); b {
		case 0x66:
			d.narrow = true
		case 0x67:
			d.short = true
		case 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65:
		default:
			if b&0xf0 == 0x40 { // counts only right before the opcode
				d.wide = b&8 != 0
				b = d.next()
			}
			return d.opcode(b)
		}
	}
}

func (d *decoder) opcode(b byte) (byte, int) {
	switch b {
	case 0xc5:
		d.extended = true
		d.skip(1)
		return d.next(), mapTwo
	case 0xc4:
		d.extended = true
		table := int(d.next() & 0x1f)
		d.skip(1)
		return d.next(), extendedTable(table)
	case 0x62:
		d.extended = true
		table := int(d.next() & 7)
		d.skip(2)
		return d.next(), extendedTable(table)
	case 0x0f:
		switch b = d.next(); b {
		case 0x38:
			return d.next(), map38
		case 0x3a:
			return d.next(), map3A
		}
		return b, mapTwo
	}
	return b, mapOne
}

func extendedTable(number int) int {
	if number >= mapTwo && number <= map3A {
		return number
	}
	return mapOther
}

func (d *decoder) skip(n int) { d.at += n }

// immediate skips an operand of the size that the prefixes say.
func (d *decoder) immediate() {
	if d.narrow && !d.wide {
		d.skip(2)
		return
	}
	d.skip(4)
}

// modRM reads the operands and returns which operation of a group it is.
func (d *decoder) modRM() (group byte) {
	b := d.next()
	mode, rm := b>>6, b&7
	if mode == 3 {
		return b >> 3 & 7
	}
	if rm == 4 {
		if base := d.next() & 7; mode == 0 && base == 5 {
			d.skip(4)
		}
	} else if mode == 0 && rm == 5 {
		d.in.memory = d.at
		d.skip(4)
	}
	switch mode {
	case 1:
		d.skip(1)
	case 2:
		d.skip(4)
	}
	return b >> 3 & 7
}

func (d *decoder) relative(bytes int, f flow) {
	d.in.flow, d.in.jump, d.in.jumpBytes = f, d.at, bytes
	d.unclear = d.narrow && !d.wide // AMD's read a displacement of 2 bytes
	d.skip(bytes)
}

func (d *decoder) one(opcode byte) bool {
	switch {
	case opcode < 0x40:
		switch opcode & 7 {
		case 0, 1, 2, 3:
			d.modRM()
		case 4:
			d.skip(1)
		case 5:
			d.immediate()
		default:
			return false
		}
	case opcode >= 0x50 && opcode <= 0x5f:
	case opcode >= 0x70 && opcode <= 0x7f:
		d.relative(1, flowBranch)
	case opcode >= 0x84 && opcode <= 0x8e, opcode >= 0xd0 && opcode <= 0xd3, opcode >= 0xd8 && opcode <= 0xdf:
		d.modRM()
	case opcode >= 0x90 && opcode <= 0x99, opcode >= 0x9b && opcode <= 0x9f:
	case opcode >= 0xa0 && opcode <= 0xa3:
		if d.short {
			d.skip(4)
		} else {
			d.skip(8)
		}
	case opcode >= 0xb0 && opcode <= 0xb7:
		d.skip(1)
	case opcode >= 0xb8 && opcode <= 0xbf:
		if d.wide {
			d.skip(8)
		} else {
			d.immediate()
		}
	default:
		return d.oneByOne(opcode)
	}
	return true
}

func (d *decoder) oneByOne(opcode byte) bool {
	switch opcode {
	case 0x63:
		d.modRM()
	case 0x8f:
		d.modRM()
	case 0x68, 0xa9:
		d.immediate()
	case 0x69, 0x81, 0xc7:
		d.modRM()
		d.immediate()
	case 0x6a, 0xa8, 0xcd, 0xe4, 0xe5, 0xe6, 0xe7:
		d.skip(1)
	case 0x6b, 0x80, 0x83, 0xc0, 0xc1, 0xc6:
		d.modRM()
		d.skip(1)
	case 0xc2, 0xca:
		d.skip(2)
		d.in.flow = flowReturn
	case 0xc3, 0xcb, 0xcf:
		d.in.flow = flowReturn
	case 0xc8:
		d.skip(3)
	case 0xe0, 0xe1, 0xe2, 0xe3:
		d.relative(1, flowBranch)
	case 0xeb:
		d.relative(1, flowJump)
	case 0xe8:
		d.relative(4, flowCall)
	case 0xe9:
		d.relative(4, flowJump)
	case 0xf6:
		if d.modRM() < 2 {
			d.skip(1)
		}
	case 0xf7:
		if d.modRM() < 2 {
			d.immediate()
		}
	case 0xfe:
		d.modRM()
	case 0xff:
		switch d.modRM() {
		case 2, 3:
			d.in.flow = flowCall
		case 4, 5:
			d.in.flow = flowJump
		}
	case 0x6c, 0x6d, 0x6e, 0x6f, 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xc9, 0xcc, 0xd7,
		0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xf5, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd:
	default:
		return false
	}
	return true
}

// two reads an opcode after 0F.
func (d *decoder) two(opcode byte) bool {
	switch {
	case opcode >= 0x80 && opcode <= 0x8f && !d.extended:
		d.relative(4, flowBranch)
	case opcode >= 0x70 && opcode <= 0x73, opcode == 0xc2, opcode >= 0xc4 && opcode <= 0xc6:
		d.modRM()
		d.skip(1)
	case opcode == 0x77: // emms, vzeroupper
	case d.extended:
		d.modRM()
	case opcode == 0xa4, opcode == 0xac, opcode == 0xba, opcode == 0x0f:
		d.modRM()
		d.skip(1)
	case opcode >= 0x05 && opcode <= 0x09, opcode == 0x0b, opcode == 0x0e, opcode >= 0x30 && opcode <= 0x37,
		opcode >= 0xa0 && opcode <= 0xa2, opcode >= 0xa8 && opcode <= 0xaa, opcode >= 0xc8 && opcode <= 0xcf:
	case opcode == 0x04, opcode == 0x0a, opcode == 0x0c, opcode >= 0x24 && opcode <= 0x27, opcode >= 0x39 && opcode <= 0x3f,
		opcode >= 0x78 && opcode <= 0x7b, opcode == 0xa6, opcode == 0xa7:
		return false
	default:
		d.modRM()
	}
	return true
}
