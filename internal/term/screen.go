package term

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Screen shows one text after the other in the same place of a terminal, and
// reads single keys. Where there is no terminal, texts stand one below the
// other.
type Screen struct {
	out   *os.File
	keys  *os.File
	old   *unix.Termios // nil where no keys are read
	shown []byte
}

const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// OpenScreen takes the terminal w over until Close, and its keys if keys is
// the same terminal. It returns nil where w is no terminal that can do it.
func OpenScreen(w io.Writer, keys *os.File) *Screen {
	out, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || Width(w) == 0 {
		return nil
	}
	s := &Screen{out: out, keys: keys}
	s.readKeys()
	io.WriteString(out, enterScreen)
	return s
}

// readKeys lets keys come one by one and unseen. Those that send signals
// still do.
func (s *Screen) readKeys() {
	old, err := unix.IoctlGetTermios(int(s.keys.Fd()), unix.TCGETS)
	if err != nil || !inForeground(s.keys) {
		return
	}
	single := *old
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(int(s.keys.Fd()), unix.TCSETS, &single) == nil {
		s.old = old
	}
}

// A process in the background is stopped when it changes the terminal.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Keys sends each key that is pressed, until the terminal goes.
func (s *Screen) Keys() <-chan byte {
	keys := make(chan byte)
	if s.old == nil {
		return keys
	}
	go func() {
		var key [1]byte
		for {
			if n, err := s.keys.Read(key[:]); n != 1 || err != nil {
				return
			}
			keys <- key[0]
		}
	}()
	return keys
}

// Show puts text in the place of the one before.
func (s *Screen) Show(text []byte) error {
	s.shown = append(s.shown[:0], text...)
	lines := bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), []byte(clearLine+"\r\n"))
	_, err := s.out.Write([]byte(toTop + string(lines) + clearLine + clearBelow))
	return err
}

// Close gives the terminal back, with what was shown last.
func (s *Screen) Close() {
	io.WriteString(s.out, leaveScreen)
	if s.old != nil {
		unix.IoctlSetTermios(int(s.keys.Fd()), unix.TCSETS, s.old)
	}
	s.out.Write(s.shown)
}

// Height returns the lines of a terminal, 0 for what is none.
func Height(w io.Writer) int { return int(size(w).Row) }
