package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mallow/internal/figure"
	"mallow/internal/importer"
	"mallow/internal/launch"
	"mallow/internal/recording"
	"mallow/internal/term"
)

func newImportCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "import [-o NAME.mallow] FILE",
		Short: "Make a recording of another tool's file",
		Long: `import makes a recording of what another tool wrote, for report, diff and the
others: curl's memory logs (CURL_MEMDEBUG=FILE), heaptrack's files, and heap
profiles in pprof's formats, those of Go programs among them. What a file is, it
finds out by its content; gzip and zstd are unpacked. "-" is standard input.

What a file does not tell, the recording does not have either: a report says so.`,
		Example: `  CURL_MEMDEBUG=memdump curl --version; mallow import memdump
  mallow import -o before.mallow heaptrack.server.4711.zst
  mallow import heap.pb.gz`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("import takes one file: mallow import FILE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return importFile(c.ErrOrStderr(), c.InOrStdin(), args[0], output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "where to put the recording (default FILE.mallow)")
	return c
}

// importFile imports a file, and says to w what it has made.
func importFile(w io.Writer, stdin io.Reader, path, output string) error {
	name := "stdin"
	if path != "-" {
		name = filepath.Base(path)
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("%s", term.Safe(strings.TrimPrefix(err.Error(), "open ")))
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder: import takes a file of another tool; mallow report reads recordings", term.Safe(path))
		}
		stdin = file
	}
	if output = strings.TrimRight(output, "/"); output == "" {
		output = name + ".mallow"
	}
	ctx, stop := launch.UntilEnded(context.Background())
	defer stop()
	result, err := importer.Import(ctx, stdin, importer.Options{Output: output, Name: name, Mallow: launch.Version})
	var lines *importer.FormatError
	if errors.As(err, &lines) {
		return fmt.Errorf("%s: %s", term.Safe(path), term.Safe(err.Error()))
	}
	if err != nil {
		return fmt.Errorf("%s", term.Safe(err.Error()))
	}
	live := "never freed"
	if result.Format == recording.ImportedProfile {
		live = "in use"
	}
	fmt.Fprintf(w, "mallow: %s: %s, %s %s\nwrote %s     next: mallow report %s\n", result.Format,
		figure.Counted(result.Allocations, "allocation", "allocations"), figure.Count(uint64(max(0, result.LiveBlocks))), live,
		term.Safe(output), term.Word(output))
	return nil
}
