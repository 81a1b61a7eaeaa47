package importer

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"mallow/internal/recording"
)

// memanalyze says of a log what curl's script of that name says: of 7.53.1 and
// of 8.21, which differ in words and in the records that they know. Lines go to
// a file for each, in the order of the log; counts are the same for both.
type memanalyze struct {
	today, of2017 *findingsFile
	counts        recording.MemoryLog
	total         int64 // live bytes
	known         map[address]scriptBlock
	names         *addressNames
	descriptors   handles[string]
	files         handles[string]
	addresses     handles[string]
}

// scriptBlock is what the script remembers of an address.
type scriptBlock struct {
	size  int64     // freed when it was released
	place *logPlace // where it was allocated, or released; nil after a realloc
	line  int
}

func (b *scriptBlock) at() string {
	if b.place == nil {
		return ""
	}
	return b.place.text
}

const freed = -1

// handles are things that are opened and closed.
type handles[K comparable] struct {
	open  map[K]handle
	count int
}

type handle struct {
	place string
	line  int
	isOpen,
	seen bool
}

func (h *handles[K]) add(key K, place string, line int) {
	if h.open == nil {
		h.open = make(map[K]handle)
	}
	h.open[key] = handle{place: place, line: line, isOpen: true, seen: true}
	h.count++
}

// remove returns false for what is not open.
func (h *handles[K]) remove(key K) bool {
	known := h.open[key]
	if !known.isOpen {
		return false
	}
	known.isOpen = false
	h.open[key] = known
	h.count--
	return true
}

// left are the places of what is still open, in the order of the log.
func (h *handles[K]) left() []string {
	var open []handle
	for _, one := range h.open {
		if one.isOpen {
			open = append(open, one)
		}
	}
	slices.SortFunc(open, func(a, b handle) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.place, b.place))
	})
	places := make([]string, len(open))
	for i, one := range open {
		places[i] = one.place
	}
	return places
}

// findingsFile is a file of lines, which is there only if there are any.
type findingsFile struct {
	path string
	file *os.File
	out  *bufio.Writer
	err  error
}

func (f *findingsFile) print(format string, args ...any) {
	if f.file == nil && f.err == nil {
		if f.file, f.err = os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); f.err == nil {
			f.out = bufio.NewWriter(f.file)
		}
	}
	if f.err == nil {
		_, f.err = fmt.Fprintf(f.out, format, args...)
	}
}

func (f *findingsFile) close() error {
	if f.file == nil {
		return f.err
	}
	if err := f.out.Flush(); f.err == nil {
		f.err = err
	}
	if err := f.file.Close(); f.err == nil {
		f.err = err
	}
	f.file = nil
	return f.err
}

func newMemanalyze(folder string) (*memanalyze, error) {
	return &memanalyze{
		today:  &findingsFile{path: filepath.Join(folder, recording.MemanalyzeLines)},
		of2017: &findingsFile{path: filepath.Join(folder, recording.Memanalyze2017Lines)},
		known:  make(map[address]scriptBlock),
		names:  new(addressNames),
	}, nil
}

func (m *memanalyze) close() {
	m.today.close()
	m.of2017.close()
}

func (m *memanalyze) both(format string, args ...any) {
	m.today.print(format, args...)
	m.of2017.print(format, args...)
}

var (
	fdRecords = regexp.MustCompile(`(socket)\(\) = (\d*)`)
	fdPair    = regexp.MustCompile(`socketpair\(\) = (\d*) (\d*)`)
	fdAccept  = regexp.MustCompile(`accept\(\) = (\d*)`)
	fdClose   = regexp.MustCompile(`sclose\((\d*)\)`)
	fileOpen  = regexp.MustCompile(`f[d]*open\("(.*)","([^"]*)"\) = (\(nil\)|0x([0-9a-f]*))`)
	fileClose = regexp.MustCompile(`fclose\(0x([0-9a-f]*)\)`)
	addrGet   = regexp.MustCompile(`getaddrinfo\(\) = (\(nil\)|0x([0-9a-f]*))`)
	addrFree  = regexp.MustCompile(`freeaddrinfo\(0x([0-9a-f]*)\)`)
)

// line takes a line of the log. Of MEM records it looks at the prefix alone:
// unrecognized or event has to follow.
func (m *memanalyze) line(number int, line []byte) {
	kind, rest, _ := bytes.Cut(line, []byte(" "))
	place, function, isRecord := splitPlace(rest)
	if !isRecord {
		kind = nil
	}
	switch string(kind) {
	case "MEM", "LIMIT", "GETNAME":
	case "FD":
		m.descriptor(number, line, string(place), function)
	case "FILE":
		m.file(number, line, string(place), function)
	case "ADDR":
		m.nameData(number, line, string(place), function)
	default:
		if !bytes.HasPrefix(line, []byte("BT")) {
			m.today.print("Not recognized prefix line: %s\n", line)
		}
		m.of2017.print("Not recognized prefix line: %s\n", line)
	}
}

func (m *memanalyze) descriptor(number int, line []byte, place string, function []byte) {
	if found := fdRecords.FindSubmatch(function); found != nil {
		m.descriptors.add(string(found[2]), place, number)
		m.counts.Sockets++
	} else if found := fdPair.FindSubmatch(function); found != nil {
		m.descriptors.add(string(found[1]), place, number)
		m.descriptors.add(string(found[2]), place, number)
	} else if found := fdAccept.FindSubmatch(function); found != nil {
		m.descriptors.add(string(found[1]), place, number)
	} else if found := fdClose.FindSubmatch(function); found != nil && !m.descriptors.remove(string(found[1])) {
		m.both("Close without open: %s\n", line)
	}
}

func (m *memanalyze) file(number int, line []byte, place string, function []byte) {
	if found := fileOpen.FindSubmatch(function); found != nil {
		if string(found[3]) != "(nil)" {
			m.files.add(string(found[4]), place, number)
		}
	} else if found := fileClose.FindSubmatch(function); found != nil && !m.files.remove(string(found[1])) {
		m.both("fclose() without fopen(): %s\n", line)
	}
}

func (m *memanalyze) nameData(number int, line []byte, place string, function []byte) {
	if found := addrGet.FindSubmatch(function); found != nil {
		if string(found[1]) != "(nil)" {
			m.addresses.add(string(found[2]), place, number)
		}
	} else if found := addrFree.FindSubmatch(function); found != nil && !m.addresses.remove(string(found[1])) {
		m.both("freeaddrinfo() without getaddrinfo(): %s\n", line)
	}
}

// unrecognized takes what stands behind the place of a MEM record that is
// none.
func (m *memanalyze) unrecognized(function []byte) {
	m.both("Not recognized input line: %s\n", function)
}

// event takes a MEM record.
func (m *memanalyze) event(number int, line []byte, place *logPlace, e *event) {
	switch {
	case e.failed:
		_, function, _ := splitPlace(line[len("MEM "):])
		m.unrecognized(function)
	case e.function == logFree && e.null:
	case e.function == logFree:
		m.free(line, place, e.old)
	case e.function == logRealloc:
		m.counts.Reallocs++
		if !e.null {
			old := m.known[e.old]
			m.total -= old.size // a freed one adds 1
			m.known[e.old] = scriptBlock{line: number}
		}
		m.born(number, place, e)
	default:
		m.checkFree(number, place, e)
		switch e.function {
		case logMalloc:
			m.counts.Mallocs++
		case logCalloc:
			m.counts.Callocs++
		case logStrdup:
			m.counts.Strdups++
		case logWcsdup:
			m.counts.Wcsdups++
		}
		m.born(number, place, e)
	}
}

func (m *memanalyze) free(line []byte, place *logPlace, at address) {
	b, known := m.known[at]
	switch {
	case !known:
		m.both("FREE ERROR: No memory allocated: %s\n", line)
	case b.size == freed:
		m.both("FREE ERROR: Memory freed twice: %s\nFREE ERROR: Previously freed at: %s\n", line, b.at())
	default:
		m.total -= b.size
		m.raise()
		m.counts.Frees++
		m.known[at] = scriptBlock{size: freed, place: place}
	}
}

// checkFree says so when malloc or calloc returned an address that is in use.
func (m *memanalyze) checkFree(number int, place *logPlace, e *event) {
	live := m.known[e.address].size
	if live <= 0 || e.function == logStrdup || e.function == logWcsdup {
		return
	}
	both := func(f *findingsFile) {
		f.print("Mixed debug compile (%s at line %d), rebuild curl now\n", place.text, number)
		f.print("We think %d bytes are already allocated at that memory address: %s!\n", live, m.names.text(e.address))
	}
	both(m.today)
	if e.function == logMalloc {
		both(m.of2017)
	} else {
		m.of2017.print("Mixed debug compile, rebuild curl now\n")
	}
}

func (m *memanalyze) born(number int, place *logPlace, e *event) {
	m.known[e.address] = scriptBlock{size: e.size, place: place, line: number}
	m.total += e.size
	m.counts.TotalBytes += uint64(e.size)
	m.raise()
}

func (m *memanalyze) raise() {
	if m.total > 0 {
		m.counts.MaximumBytes = max(m.counts.MaximumBytes, uint64(m.total))
	}
}

// leftOpen counts what the log does not close.
type leftOpen struct{ descriptors, files, addresses uint64 }

// finish writes what is left at the end.
func (m *memanalyze) finish() (*recording.MemoryLog, leftOpen, error) {
	if m.total != 0 {
		m.both("Leak detected: memory still allocated: %d bytes\n", m.total)
		m.leaks()
	}
	descriptors, files, addresses := m.descriptors.left(), m.files.left(), m.addresses.left()
	list := func(count int, heading, words string, places []string) {
		if count == 0 {
			return
		}
		if heading != "" {
			m.both("%s\n", heading)
		}
		for _, place := range places {
			m.today.print("%s at %s.\n", words, place)
			m.of2017.print("%s at %s\n", words, place)
		}
	}
	list(m.descriptors.count, "", "Open file descriptor created", descriptors)
	list(m.files.count, "Open FILE handles left at:", "fopen() called", files)
	list(m.addresses.count, "IPv6-style name resolve data left at:", "getaddrinfo() called", addresses)
	left := leftOpen{uint64(len(descriptors)), uint64(len(files)), uint64(len(addresses))}
	return &m.counts, left, cmp.Or(m.today.close(), m.of2017.close())
}

// leaks writes the blocks that are left, in the order of the log; the script
// has none.
func (m *memanalyze) leaks() {
	type leak struct {
		address
		scriptBlock
	}
	var leaks []leak
	for at, b := range m.known {
		if b.size > 0 {
			leaks = append(leaks, leak{at, b})
		}
	}
	slices.SortFunc(leaks, func(a, b leak) int { return cmp.Compare(a.line, b.line) })
	for _, one := range leaks {
		m.today.print("At %s, there is %d bytes.\n", m.names.text(one.address), one.size)
		m.of2017.print("At %s, there's %d bytes.\n", m.names.text(one.address), one.size)
		m.both(" allocated by %s\n", one.at())
	}
}
