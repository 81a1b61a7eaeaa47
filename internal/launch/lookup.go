package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// defaultPath is where execvp(3) looks when there is no PATH.
const defaultPath = "/bin:/usr/bin"

// shell runs what is no program for the kernel, as execvp(3) does.
const shell = "/bin/sh"

// Lookup finds the program that execvp(3) would execute for name. The error
// is an *Error with 127 when there is none, 126 when there is one that must
// not be executed.
func Lookup(name string, args []string) (Command, error) {
	path, err := find(name)
	if err != nil {
		return Command{}, err
	}
	c := Command{Name: name, Path: path, Argv: append([]string{name}, args...), Env: os.Environ()}
	switch kind, err := kindOf(path); {
	case err != nil || kind == kernelRuns:
		return c, nil // what cannot be read may well be executed
	case kind == nobodyRuns:
		return Command{}, failedExec(path, syscall.ENOEXEC)
	}
	c.Path, c.Argv = shell, append([]string{shell, path}, args...)
	return c, nil
}

func find(name string) (string, error) {
	if name == "" {
		return "", &Error{StatusNotFound, errors.New("the name of the program is empty")}
	}
	if strings.Contains(name, "/") {
		return name, executable(name, name)
	}
	path, set := os.LookupEnv("PATH")
	if !set {
		path = defaultPath
	}
	var denied error
	for _, dir := range strings.Split(path, ":") {
		candidate := name
		if dir != "" {
			candidate = strings.TrimSuffix(dir, "/") + "/" + name
		} else {
			candidate = "./" + name
		}
		err := executable(candidate, name)
		if err == nil {
			return candidate, nil
		}
		var e *Error
		if errors.As(err, &e) && e.Code == StatusNotExecutable && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &Error{StatusNotFound, fmt.Errorf("%s: not found in PATH%s", Quote(name), perhaps(name))}
}

// perhaps suggests ./NAME to those who come from another system, and a shell to
// those who put a whole line in quotes.
func perhaps(name string) string {
	switch {
	case executable("./"+name, name) == nil:
		return fmt.Sprintf("; did you mean %s?", Quote("./"+name))
	case strings.Contains(name, " "):
		return "; a line for the shell is given as sh -c " + Quote(name)
	}
	return ""
}

func executable(path, name string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return &Error{StatusNotFound, fmt.Errorf("%s: not found", Quote(name))}
	case err != nil:
		return &Error{StatusNotExecutable, fmt.Errorf("%s: %w", Quote(path), errors.Unwrap(err))}
	case info.IsDir():
		return &Error{StatusNotExecutable, fmt.Errorf("%s: is a directory, not a program", Quote(path))}
	case !info.Mode().IsRegular():
		return &Error{StatusNotExecutable, fmt.Errorf("%s: is no file, so it cannot be a program", Quote(path))}
	case unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
		return &Error{StatusNotExecutable, fmt.Errorf("%s: not executable (chmod +x %s makes it so)", Quote(path), Quote(strings.TrimPrefix(path, "./")))}
	}
	return nil
}

type kind int

const (
	kernelRuns kind = iota // ELF, or a script that names its interpreter
	shellRuns              // a script for the shell
	nobodyRuns             // neither
)

// kindOf judges a file by its first line, as shells do before they read what
// the kernel refused.
func kindOf(path string) (kind, error) {
	file, err := os.Open(path)
	if err != nil {
		return kernelRuns, err
	}
	defer file.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return kernelRuns, err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("\x7fELF")) || bytes.HasPrefix(head, []byte("#!")) {
		return kernelRuns, nil
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 {
		return nobodyRuns, nil
	}
	return shellRuns, nil
}
