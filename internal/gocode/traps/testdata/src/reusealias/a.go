package a

import "bufio"

type message struct{ body []byte }

func lines(s *bufio.Scanner) (all [][]byte) {
	var line []byte
	for s.Scan() {
		line = append(line[:0], s.Bytes()...)
		all = append(all, line) // want `line is kept, but its memory is used again in the next turn`
	}
	return all
}

func bodies(s *bufio.Scanner, out chan []byte, last map[string][]byte, m *message) {
	line := make([]byte, 0, 100)
	for s.Scan() {
		line = line[:0]
		line = append(line, s.Bytes()...)
		last["x"] = line  // want `line is kept`
		m.body = line[:1] // want `line\[:1\] is kept`
		out <- line       // want `line is kept`
	}
}

func copies(s *bufio.Scanner) (all []string, flat []byte) {
	var line []byte
	for s.Scan() {
		line = append(line[:0], s.Bytes()...)
		all = append(all, string(line))
		flat = append(flat, line...)
	}
	return all, flat
}

func ownEachTurn(s *bufio.Scanner) (all [][]byte) {
	for s.Scan() {
		line := make([]byte, 0, 10)
		line = append(line[:0], s.Bytes()...)
		all = append(all, line)
	}
	return all
}

func newWhenKept(s *bufio.Scanner) (all [][]byte) {
	var line []byte
	for s.Scan() {
		line = append(line[:0], s.Bytes()...)
		if len(line) > 5 {
			all = append(all, line)
			line = nil
		}
	}
	return all
}
