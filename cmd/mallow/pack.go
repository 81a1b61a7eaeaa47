package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/term"
)

const (
	folderSuffix = ".mallow"
	packSuffix   = ".mallowpack"
	besideIt     = "NAME.mallowpack" // the value of --pack without one
)

// pack makes one file of a recording with the names of all its code, and says
// so on w.
func pack(w io.Writer, paths []string, target string) error {
	if len(paths) != 1 {
		return fmt.Errorf("--pack takes one recording; pack each of them by itself (the name of the file that is made stands behind =, as --pack=FILE)")
	}
	if target == standardOutput {
		return fmt.Errorf("--pack makes a file, and no stream; one named - is --pack=./-")
	}
	source := filepath.Clean(paths[0])
	if target == besideIt {
		target = strings.TrimSuffix(source, folderSuffix) + packSuffix
	}
	rec, err := recording.Open(source)
	if err != nil {
		return fmt.Errorf("%s", term.Safe(err.Error()))
	}
	if info, err := os.Lstat(target); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--pack: %s is no file", term.Safe(target))
	}
	if err := canWrite(target); err != nil {
		return err
	}
	if rec.Archived() && target == source {
		return fmt.Errorf("%s is packed", term.Safe(source))
	}
	symbolizer, err := newSymbolizer(rec)
	if err != nil {
		return err
	}
	defer symbolizer.Close()
	profile.NameAll([]*recording.Recording{rec}, symbolizer)
	var symbols bytes.Buffer
	if err := symbolizer.WriteSymbols(&symbols); err != nil {
		return err
	}
	if err := rec.WriteArchive(target, symbols.Bytes()); err != nil {
		return fmt.Errorf("packing %s: %s", term.Safe(source), term.Safe(err.Error()))
	}
	_, err = fmt.Fprintf(w, "wrote %s     next: mallow report %s, here or where the program is not\n", term.Safe(target), term.Word(target))
	return err
}
