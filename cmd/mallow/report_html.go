package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"mallow/internal/advise"
	"mallow/internal/analyze"
	"mallow/internal/launch"
	"mallow/internal/loopback"
	"mallow/internal/profile"
	"mallow/internal/report/html"
	"mallow/internal/term"
	"mallow/web"
)

// htmlOptions are the flags of reports that are a page.
type htmlOptions struct {
	file     string
	web      bool
	noSource bool
}

func (h *htmlOptions) flags(f *pflag.FlagSet) {
	h.fileFlags(f)
	f.BoolVar(&h.web, "web", false, "show that page to browsers of this machine, until Ctrl-C")
}

func (h *htmlOptions) fileFlags(f *pflag.FlagSet) {
	f.StringVar(&h.file, "html", "", "write it as one page for browsers, which needs no network, to `FILE`, - for stdout")
	f.BoolVar(&h.noSource, "no-source", false, "leave source lines out of the page")
}

// choose makes html the format where a flag asks for it.
func (h *htmlOptions) choose(o *reportOptions) error {
	switch {
	case h.file == "" && !h.web:
		return nil
	case h.file != "" && h.web:
		return fmt.Errorf("--html writes the page to a file and --web shows it: one of them")
	case o.format != "text":
		return fmt.Errorf("--html and --web are a form of their own: without --json, --format and --cpu")
	}
	o.format = "html"
	return nil
}

func writeHTML(w io.Writer, p *profile.Profile, _ []string, o reportOptions) error {
	return o.html.put(w, web.Recordings, func(to io.Writer) error {
		return html.Write(to, p, html.Options{
			Sites: analyze.RankGroups(p, true, o.sort, o.by), Sort: o.sort,
			Advice: advise.For(p, advise.Options{Price: prices(p), All: o.all}), All: o.all, Sources: !o.html.noSource,
		})
	})
}

// standardOutput is what stands for it where a file is named.
const standardOutput = "-"

// put brings a page of a kind to where the flags say: into the file, to
// browsers, or to w.
func (h *htmlOptions) put(w io.Writer, kind web.Kind, write func(to io.Writer) error) error {
	switch {
	case h.web:
		return showPage(w, kind, write)
	case h.file == standardOutput:
		return write(w)
	case h.file != "":
		return writeFile(h.file, write)
	}
	if term.Width(w) > 0 {
		return fmt.Errorf("the page is not for terminals: mallow report --html FILE NAME.mallow")
	}
	return write(w)
}

// canWrite tells beforehand whether writeFile could write the file, as far as
// that can be known; "" is none.
func canWrite(path string) error {
	if path == "" || path == standardOutput {
		return nil
	}
	err := unix.Access(filepath.Dir(behindLinks(path)), unix.W_OK)
	if info, statErr := os.Stat(path); statErr == nil {
		switch {
		case info.IsDir():
			err = unix.EISDIR
		case !info.Mode().IsRegular():
			err = unix.Access(path, unix.W_OK)
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", term.Safe(path), err)
	}
	return nil
}

// behindLinks is the file that a link leads to; path itself where there is none.
func behindLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// writeFile replaces the file when all of it is written, not before. It follows
// a link to it, and keeps the mode of one that is there.
func writeFile(path string, write func(to io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s cannot be written: %w", term.Safe(path), unix.EISDIR)
	} else if err == nil && !info.Mode().IsRegular() {
		device, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%s", term.Safe(err.Error()))
		}
		defer device.Close()
		return write(device)
	}
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	target := behindLinks(path)
	temporary, err := os.OpenFile(fmt.Sprintf("%s.%d.new", target, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", term.Safe(path), cause(err))
	}
	_, err = temporary.Write(page.Bytes())
	if err == nil && info != nil {
		err = temporary.Chmod(info.Mode().Perm())
	}
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), target)
	}
	if err != nil {
		os.Remove(temporary.Name())
		return fmt.Errorf("%s cannot be written: %w", term.Safe(path), cause(err))
	}
	return nil
}

// cause leaves out what was tried with which file.
func cause(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		err = inner.Unwrap()
	}
}

// showPage serves the page until it is told to end.
func showPage(w io.Writer, kind web.Kind, write func(to io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	ctx, stop := launch.UntilEnded(context.Background())
	defer stop()
	server, err := loopback.Listen(page.Bytes(), web.Policy(kind))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n(for browsers of this machine, until Ctrl-C)\n", server.URL())
	return server.Serve(ctx)
}
