package callcount

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// jumpBytes is the length of the jump that takes the place of a function's
// first instructions.
const jumpBytes = 5

// plan is how the start of a function is to be changed.
type plan struct {
	offset      int    // from the function's address
	original    []byte // what gives way
	replacement []byte // what does the same elsewhere, and is followed by a jump behind the original
	fixups      []byte // where in it displacements have to grow by original's address less replacement's;
	// with behindOriginal: where the address behind the original has to stand
}

// behindOriginal marks the place of eight bytes among the fixups.
const behindOriginal = 0x80

// endBranch may be the first instruction, and has to stay it: an indirect call
// may have to end at one.
var endBranch = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// newPlan looks at the code of a function from its address to its end. The
// error says why its calls cannot be counted.
func newPlan(code []byte) (*plan, error) {
	p := &plan{}
	if bytes.HasPrefix(code, endBranch) {
		p.offset = len(endBranch)
	}
	at := p.offset
	for at-p.offset < jumpBytes {
		if at >= len(code) {
			return nil, errors.New("it is too short: a jump does not fit into its code")
		}
		in, ok := decode(code[at:])
		if !ok {
			return nil, errors.New("it begins with an instruction that mallow does not know")
		}
		if err := p.move(in, code[at:], at-p.offset); err != nil {
			return nil, err
		}
		at += in.length
		switch short := at-p.offset < jumpBytes; {
		case short && (in.flow == flowReturn || in.flow == flowJump):
			return nil, errors.New("it is too short: it may end before a jump would")
		case short && in.flow == flowCall:
			return nil, errors.New("it calls another function within its first instructions")
		}
	}
	p.original = code[p.offset:at]
	return p, p.checkJumps(code)
}

// move adds an instruction, which stands `from` bytes behind the start of the
// original, to the replacement.
func (p *plan) move(in instruction, code []byte, from int) error {
	to := len(p.replacement)
	// What a displacement must be here, so that it leads to the same place once
	// it has grown by the distance of the two pieces of code.
	adjusted := func(displacement int64, length int) (uint32, error) {
		d := displacement + int64(from+in.length) - int64(to+length)
		if d != int64(int32(d)) {
			return 0, errors.New("it refers to something too far away")
		}
		return uint32(int32(d)), nil
	}
	switch {
	case in.flow == flowCall:
		return p.moveCall(in, code, adjusted)
	case in.jumpBytes == 0:
		p.replacement = append(p.replacement, code[:in.length]...)
		if in.memory == 0 {
			return nil
		}
		field := to + in.memory
		d, err := adjusted(int64(int32(binary.LittleEndian.Uint32(code[in.memory:]))), in.length)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(p.replacement[field:], d)
		p.fixups = append(p.fixups, byte(field))
		return nil
	case in.opcode >= 0xe0 && in.opcode <= 0xe3:
		return errors.New("it begins with a loop instruction")
	}
	displacement := in.target(code) - int64(in.length)
	wide := []byte{0xe9}
	if in.flow == flowBranch {
		wide = []byte{0x0f, 0x80 | in.opcode&0xf}
	}
	d, err := adjusted(displacement, len(wide)+4)
	if err != nil {
		return err
	}
	p.replacement = append(p.replacement, wide...)
	p.fixups = append(p.fixups, byte(len(p.replacement)))
	p.replacement = binary.LittleEndian.AppendUint32(p.replacement, d)
	return nil
}

// moveCall makes of a call, the last instruction that gives way, a jump with
// the return address that the call would leave: the function called returns to
// where it would anyway, and whoever unwinds sees the same frames.
func (p *plan) moveCall(in instruction, code []byte, adjusted func(displacement int64, length int) (uint32, error)) error {
	const pushBytes = 6
	direct := in.jumpBytes != 0
	modRM := code[in.length-1] // of call *%reg
	if in.memory != 0 {
		modRM = code[in.memory-1] // of call *disp(%rip)
	}
	indirect := !direct && in.opcode == 0xff && (in.length == 2 || in.length == 3 && code[0] == 0x41 || in.length == 6 && in.memory == 2)
	if !direct && !indirect {
		return errors.New("it calls another function within its first instructions")
	}
	jump := []byte{0xe9, 0, 0, 0, 0}
	field := 1
	displacement := int64(0)
	switch {
	case direct:
		displacement = in.target(code) - int64(in.length)
	case in.memory != 0:
		jump, field = []byte{0xff, modRM ^ 0x30, 0, 0, 0, 0}, 2
		displacement = int64(int32(binary.LittleEndian.Uint32(code[in.memory:])))
	default:
		jump, field = append(bytes.Clone(code[:in.length-1]), modRM^0x30), 0
	}
	if field != 0 {
		d, err := adjusted(displacement, pushBytes+len(jump))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(jump[field:], d)
		p.fixups = append(p.fixups, byte(len(p.replacement)+pushBytes+field))
	}
	p.replacement = append(p.replacement, 0xff, 0x35) // push the word behind the jump
	p.replacement = binary.LittleEndian.AppendUint32(p.replacement, uint32(len(jump)))
	p.replacement = append(p.replacement, jump...)
	p.fixups = append(p.fixups, byte(len(p.replacement))|behindOriginal)
	p.replacement = append(p.replacement, make([]byte, 8)...)
	return nil
}

// checkJumps makes sure that no jump of the function leads into what gives
// way, nor to its start: there a loop would count as calls.
func (p *plan) checkJumps(code []byte) error { return p.checkJumpsFrom(code, 0) }

// checkJumpsFrom does it for a piece of code that stands so many bytes behind
// the function.
func (p *plan) checkJumpsFrom(code []byte, distance int64) error {
	for at := 0; at < len(code); {
		in, ok := decode(code[at:])
		if !ok {
			return fmt.Errorf("its code cannot be read further than %d bytes", at)
		}
		if in.jumpBytes > 0 {
			target := distance + int64(at) + in.target(code[at:])
			switch start := int64(p.offset); {
			case target > start && target < start+int64(len(p.original)):
				return errors.New("a jump leads into its first instructions")
			case target >= 0 && target <= start && in.flow != flowCall:
				return errors.New("a loop begins with its first instruction, so that its rounds would count as calls")
			}
		}
		at += in.length
	}
	return nil
}
