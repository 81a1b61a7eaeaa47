package gocode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Builder builds programs that count, and the same ones as they are.
type Builder struct {
	*Toolchain
	GoFlags []string             // of the user for go build and go test
	overlay string               // lets programs count
	plain   string               // the user's, "" for none: programs as they are
	stock   *UnknownVersionError // why programs cannot count, nil where they can
	// Unexplained lines are measured without the reasons why they allocate.
	Unexplained bool
}

// exactVariable switches exact counting off.
const exactVariable = "MALLOW_GO_EXACT"

// NewBuilder makes what is needed to build, and makes sure, once for every
// version of Go, that it counts every allocation. The error is an
// *UnknownVersionError where it cannot.
func NewBuilder(goFlags []string) (*Builder, error) {
	t, err := FindToolchain()
	if err != nil {
		return nil, err
	}
	if os.Getenv(exactVariable) == "off" {
		return nil, &UnknownVersionError{t.Version, exactVariable + "=off"}
	}
	flags, user := splitOverlay(goFlags)
	if user == "" {
		_, user = splitOverlay(strings.Fields(t.Flags))
	}
	plain, err := t.overlayFile("")
	if err != nil {
		return nil, err
	}
	if err := t.selfTest(plain); err != nil {
		return nil, err
	}
	b := &Builder{Toolchain: t, GoFlags: withSymbols(flags, t.Flags), overlay: plain}
	if user != "" {
		if user, err = filepath.Abs(user); err != nil {
			return nil, err
		}
		b.plain = user
		b.overlay, err = t.overlayFile(user)
	}
	return b, err
}

// splitOverlay takes the last -overlay out of flags of the go command.
func splitOverlay(flags []string) (rest []string, overlay string) {
	for i := 0; i < len(flags); i++ {
		name, value, joined := strings.Cut(strings.TrimPrefix(flags[i], "-"), "=")
		if strings.TrimPrefix(name, "-") != "overlay" {
			rest = append(rest, flags[i])
			continue
		}
		if !joined && i+1 < len(flags) {
			i++
			value = flags[i]
		}
		overlay = value
	}
	return rest, overlay
}

// Program builds a main package into the file out. Its arguments are those
// that name a package: an import path, a folder, or files.
func (b *Builder) Program(out string, packages ...string) error {
	found, err := b.Packages(packages)
	if err != nil {
		return err
	}
	for i := range found {
		if found[i].Name != "main" {
			return fmt.Errorf("%s is no program: its package is %s, not main", found[i].ImportPath, found[i].Name)
		}
	}
	what := strings.Join(packages, " ") + " does not build"
	return b.build(what, slices.Concat([]string{"build", "-overlay", b.overlay, "-o", out}, b.GoFlags, []string{"--"}, packages))
}

// test builds the tests of a package into the file out, counting or not. What
// go test finds behind "--" is the tests' own, not a package.
func (b *Builder) test(out, importPath string, counting bool) error {
	args := []string{"test", "-c", "-o", out}
	if counting {
		args = append(args, "-overlay", b.overlay)
	} else if b.plain != "" {
		args = append(args, "-overlay", b.plain)
	}
	return b.build("the tests of "+importPath+" do not build", slices.Concat(args, b.GoFlags, []string{importPath}))
}

// build runs a go command; what is to be said of it if it fails.
func (b *Builder) build(what string, args []string) error {
	out, err := b.command(args...).CombinedOutput()
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("there is no go command in PATH")
	}
	return &CommandError{What: what, Output: strings.TrimSpace(string(out)), err: err}
}
