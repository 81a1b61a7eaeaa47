// Package term writes to terminals: text from files that nobody vouches for
// is made harmless, and colour goes where it is wanted.
package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// Safe returns s with everything made visible that could steer a terminal or
// mislead the eye: control characters, escape sequences, invalid UTF-8, and
// the invisible characters that turn the direction of writing.
func Safe(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Colour is when to write in colour.
type Colour string

const (
	Auto   Colour = "auto"
	Always Colour = "always"
	Never  Colour = "never"
)

// Set and the others make Colour a flag.
func (c *Colour) Set(s string) error {
	switch v := Colour(s); v {
	case Auto, Always, Never:
		*c = v
		return nil
	}
	return fmt.Errorf("must be auto, always or never")
}

func (c *Colour) String() string { return string(*c) }

// Type names the values of the flag in its help.
func (c *Colour) Type() string { return "auto|always|never" }

// For decides for one output: auto is colour on terminals that can show it,
// unless the environment has NO_COLOR; CLICOLOR_FORCE makes it colour on
// whatever there is.
func (c Colour) For(w io.Writer) bool {
	switch c {
	case Always:
		return true
	case Never:
		return false
	}
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	if os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Is tells whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Width returns the columns of a terminal, 0 for what is none.
func Width(w io.Writer) int { return int(size(w).Col) }

// size is that of a terminal, all 0 for what is none.
func size(w io.Writer) unix.Winsize {
	f, ok := w.(*os.File)
	if !ok {
		return unix.Winsize{}
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return unix.Winsize{}
	}
	return *size
}
