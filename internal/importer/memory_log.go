package importer

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"mallow/internal/recording"
	"mallow/internal/recording/recorder"
)

// memoryLog reads a log that curl wrote: what CURL_MEMDEBUG names. It counts
// what the log says by mallow's rules, and hands every record to a memanalyze,
// which counts by those of curl's script.
type memoryLog struct {
	target *target
	result *Result
	script *memanalyze
	places map[string]*logPlace
	names  *addressNames
	blocks map[address]recorder.Block // that live

	unknownLines, firstUnknown int
	unknownFrees, overwritten  uint64
}

// logPlace is a FILE:LINE of the log.
type logPlace struct {
	text   string
	node   uint32 // the path of this one frame
	stacks [logFunctions]recorder.Stack
}

// logFunction is a function that the log has records of.
type logFunction uint8

const (
	logMalloc logFunction = iota
	logCalloc
	logRealloc
	logStrdup
	logWcsdup
	logFree
	logFunctions
)

var logFunctionOf = [logFunctions]recording.Function{
	recording.Malloc, recording.Calloc, recording.Realloc, recording.Strdup, recording.Wcsdup, recording.FreeNull,
}

// prefixes are the kinds of records, of all years.
var prefixes = []string{"MEM ", "FD ", "FILE ", "ADDR ", "LIMIT ", "GETNAME ", "SEND ", "RECV ", "BT "}

// isMemoryLog looks for a record in the beginning, because damage may be
// anywhere.
func isMemoryLog(head []byte) bool {
	for line := range bytes.Lines(head) {
		if bytes.IndexByte(line, 0) >= 0 {
			return false
		}
		for _, prefix := range prefixes {
			if rest, ok := bytes.CutPrefix(line, []byte(prefix)); ok {
				if _, _, ok := splitPlace(bytes.TrimSuffix(rest, []byte("\n"))); ok {
					return true
				}
			}
		}
	}
	return false
}

func readMemoryLog(s *source, t *target, r *Result) error {
	script, err := newMemanalyze(t.folder)
	if err != nil {
		return err
	}
	defer script.close()
	l := &memoryLog{
		target: t, result: r, script: script, names: script.names,
		places: make(map[string]*logPlace), blocks: make(map[address]recorder.Block),
	}
	for line, ok := s.next(); ok; line, ok = s.next() {
		if err := l.record(s.line, line); err != nil {
			return fmt.Errorf("line %d: %w", s.line, err)
		}
	}
	if s.cause != nil {
		return s.cause
	}
	return l.finish()
}

// record takes one line.
func (l *memoryLog) record(number int, line []byte) error {
	l.script.line(number, line)
	kind, rest, _ := bytes.Cut(line, []byte(" "))
	text, function, ok := splitPlace(rest)
	if !ok {
		l.unknown(number)
		return nil
	}
	switch string(kind) {
	case "MEM":
	case "LIMIT":
		return l.limit(text, function)
	case "FD", "FILE", "ADDR", "GETNAME", "SEND", "RECV", "BT":
		return nil
	default:
		l.unknown(number)
		return nil
	}
	e, ok := parseEvent(function, l.names)
	if !ok {
		l.script.unrecognized(function)
		l.unknown(number)
		return nil
	}
	place, err := l.place(text)
	if err != nil {
		return err
	}
	l.script.event(number, line, place, &e)
	l.count(place, &e)
	if len(l.script.known)+len(l.names.odd) > mostBlocks {
		return fmt.Errorf("expected no more than %d different addresses in all", mostBlocks)
	}
	return nil
}

func (l *memoryLog) unknown(number int) {
	if l.unknownLines++; l.firstUnknown == 0 {
		l.firstUnknown = number
	}
}

// limit counts the call that curl made fail.
func (l *memoryLog) limit(text, function []byte) error {
	name, _, _ := bytes.Cut(function, []byte(" "))
	for f, known := range []string{"malloc", "calloc", "realloc", "strdup", "wcsdup"} {
		if string(name) == known {
			place, err := l.place(text)
			if err == nil {
				l.target.thread.Fail(l.stack(place, logFunction(f)))
			}
			return err
		}
	}
	return nil
}

// count counts an event by mallow's rules.
func (l *memoryLog) count(at *logPlace, e *event) {
	t := l.target.thread
	switch {
	case e.function == logFree && e.null:
		t.FreeNull(l.stack(at, logFree))
	case e.function == logFree:
		if old, live := l.take(e.old); live {
			t.FreeFrom(old, at.node)
		} else {
			l.unknownFrees++
		}
	case e.failed && e.function == logRealloc && !e.null && e.size == 0:
		if old, live := l.take(e.old); live {
			t.FreeFrom(old, at.node) // realloc(p, 0)
		}
	case e.failed:
		t.Fail(l.stack(at, e.function))
	default:
		if e.function == logRealloc && !e.null {
			if old, live := l.take(e.old); live {
				l.born(e.address, t.ReallocFrom(old, l.stack(at, logRealloc), uint64(e.size), e.old != e.address, at.node))
				return
			}
			l.unknownFrees++
		}
		l.born(e.address, t.Alloc(l.stack(at, e.function), uint64(e.size)))
	}
}

// take returns the block at an address, which lives no more.
func (l *memoryLog) take(at address) (old recorder.Block, live bool) {
	if old, live = l.blocks[at]; live {
		delete(l.blocks, at)
	}
	return old, live
}

// born notes a block. One that the log has not seen released stays what it is:
// never freed.
func (l *memoryLog) born(at address, b recorder.Block) {
	if _, live := l.blocks[at]; live {
		l.overwritten++
	}
	l.blocks[at] = b
}

func (l *memoryLog) place(text []byte) (*logPlace, error) {
	if known := l.places[string(text)]; known != nil {
		return known, nil
	}
	if len(l.places) >= mostPlaces {
		return nil, fmt.Errorf("expected no more than %d different places in all", mostPlaces)
	}
	colon := bytes.LastIndexByte(text, ':')
	number, _ := strconv.ParseUint(string(text[colon+1:]), 10, 32)
	im := l.target.image
	place := &logPlace{text: string(text), node: im.Path(im.Symbolic("", string(text[:colon]), "", uint32(number)))}
	l.places[place.text] = place
	return place, nil
}

func (l *memoryLog) stack(at *logPlace, f logFunction) recorder.Stack {
	if at.stacks[f] == (recorder.Stack{}) {
		at.stacks[f] = l.target.image.StackAt(at.node, logFunctionOf[f], false)
	}
	return at.stacks[f]
}

func (l *memoryLog) finish() error {
	counts, findings, err := l.script.finish()
	if err != nil {
		return err
	}
	l.target.meta.Imported.MemoryLog = counts
	note := func(n uint64, one, many string) {
		switch {
		case n == 1:
			l.result.Notes = append(l.result.Notes, "1 "+one)
		case n > 1:
			l.result.Notes = append(l.result.Notes, fmt.Sprintf("%d %s", n, many))
		}
	}
	l.result.Notes = append(l.result.Notes, "imported from curl's memory log, which has neither stacks nor threads nor times: a line stands for all its callers, and what curl's libraries allocate is not in it")
	if l.unknownLines > 0 {
		note(uint64(l.unknownLines), fmt.Sprintf("line of the log was not understood: line %d", l.firstUnknown),
			fmt.Sprintf("lines of the log were not understood, the first of them line %d", l.firstUnknown))
	}
	note(l.unknownFrees, "release of a block that is not in the log, or was released before", "releases of blocks that are not in the log, or were released before")
	note(l.overwritten, "block was allocated where another one lived: its release is not in the log", "blocks were allocated where others lived: their releases are not in the log")
	note(findings.descriptors, "descriptor was left open", "descriptors were left open")
	note(findings.files, "FILE was left open", "FILEs were left open")
	note(findings.addresses, "result of getaddrinfo was not released", "results of getaddrinfo were not released")
	return nil
}

// splitPlace takes "FILE:LINE rest" apart, as curl's script does: a FILE has
// no blank.
func splitPlace(b []byte) (place, rest []byte, ok bool) {
	blank := bytes.IndexByte(b, ' ')
	if blank < 0 {
		return nil, nil, false
	}
	place = b[:blank]
	colon := bytes.LastIndexByte(place, ':')
	if colon < 0 {
		return nil, nil, false
	}
	for _, c := range place[colon+1:] {
		if c < '0' || c > '9' {
			return nil, nil, false
		}
	}
	return place, b[blank+1:], true
}

// address is one of the log. Those that are not written as numbers are have
// names, and numbers from oddAddress on.
type address uint64

const oddAddress address = 1 << 63

// addressNames are the odd ones.
type addressNames struct {
	odd   []string
	index map[string]address
}

// of returns the address that stands behind 0x.
func (n *addressNames) of(hex []byte) address {
	if len(hex) > 0 && len(hex) <= 16 && (hex[0] != '0' || len(hex) == 1) {
		if number, err := strconv.ParseUint(string(hex), 16, 63); err == nil {
			return address(number)
		}
	}
	at, known := n.index[string(hex)]
	if !known {
		if n.index == nil {
			n.index = make(map[string]address)
		}
		at = oddAddress + address(len(n.odd))
		n.odd = append(n.odd, string(hex))
		n.index[string(hex)] = at
	}
	return at
}

// text is what stood behind 0x.
func (n *addressNames) text(at address) string {
	if at >= oddAddress {
		return n.odd[at-oddAddress]
	}
	return strconv.FormatUint(uint64(at), 16)
}

// event is what a MEM record says.
type event struct {
	function logFunction
	null     bool    // of a free, or a realloc's old block
	old      address // released
	address  address // returned
	size     int64
	failed   bool // no block was returned
}

// mostSize is so great that no sum of sizes overflows.
const mostSize = math.MaxInt64 >> 24

// parseEvent finds a record of a function anywhere in the text, as curl's
// script does; and failed calls, which the script does not know.
func parseEvent(text []byte, names *addressNames) (event, bool) {
	if e, ok := findEvent(text, names, false); ok {
		return e, true
	}
	return findEvent(text, names, true)
}

func findEvent(text []byte, names *addressNames, failed bool) (event, bool) {
	for f, parse := range eventForms {
		for from := 0; ; {
			at := bytes.Index(text[from:], eventWords[f])
			if at < 0 {
				break
			}
			from += at + len(eventWords[f])
			c := cursor{text: text[from:], names: names, ok: true}
			e := event{function: eventFunctions[f], failed: failed}
			if parse(&c, &e); c.ok {
				return e, true
			}
		}
	}
	return event{}, false
}

var (
	eventFunctions = []logFunction{logFree, logMalloc, logCalloc, logRealloc, logStrdup, logWcsdup}
	eventWords     = [][]byte{[]byte("free("), []byte("malloc("), []byte("calloc("), []byte("realloc("), []byte("strdup("), []byte("wcsdup(")}
	eventForms     = []func(c *cursor, e *event){parseFree, parseMalloc, parseCalloc, parseRealloc, parseDup, parseDup}
)

func parseFree(c *cursor, e *event) { e.old, e.null = c.oldBlock() }

func parseMalloc(c *cursor, e *event) {
	e.size = c.number()
	c.word(")")
	c.result(e)
}

func parseCalloc(c *cursor, e *event) {
	count := c.number()
	c.word(",")
	size := c.number()
	if e.size = mostSize; count == 0 || size <= mostSize/count {
		e.size = count * size
	}
	c.word(")")
	c.result(e)
}

func parseRealloc(c *cursor, e *event) {
	e.old, e.null = c.oldBlock()
	c.word(", ")
	e.size = c.number()
	c.word(")")
	c.result(e)
}

func parseDup(c *cursor, e *event) {
	c.word("0x")
	c.hex()
	c.word(") (")
	e.size = c.number()
	c.word(")")
	c.result(e)
}

// cursor reads a record from left to right; ok tells whether all was there.
type cursor struct {
	text  []byte
	names *addressNames
	ok    bool
}

func (c *cursor) word(w string) {
	rest, found := bytes.CutPrefix(c.text, []byte(w))
	c.text, c.ok = rest, c.ok && found
}

func (c *cursor) span(in func(b byte) bool) []byte {
	n := 0
	for n < len(c.text) && in(c.text[n]) {
		n++
	}
	span := c.text[:n]
	c.text = c.text[n:]
	return span
}

func (c *cursor) hex() []byte {
	return c.span(func(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' })
}

// number reads digits, of which there may be none.
func (c *cursor) number() int64 {
	var n int64
	for _, digit := range c.span(func(b byte) bool { return b >= '0' && b <= '9' }) {
		n = min(mostSize, n*10+int64(digit-'0'))
	}
	return n
}

func (c *cursor) oldBlock() (at address, null bool) {
	if rest, is := bytes.CutPrefix(c.text, []byte("(nil)")); is {
		c.text = rest
		return 0, true
	}
	return c.address(), false
}

func (c *cursor) result(e *event) {
	c.word(" = ")
	if e.failed {
		c.word("(nil)")
		return
	}
	e.address = c.address()
}

// address reads one, unless something before it was wrong.
func (c *cursor) address() address {
	if c.word("0x"); !c.ok {
		return 0
	}
	return c.names.of(c.hex())
}
