package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mallow/bench/circumstances"
)

// mallocOptions are the flags of the comparison of allocators.
type mallocOptions struct {
	rounds, scale int
	match, group  string // only rows that contain, and are of, these
	allocators    string
	build         string
	results       string
}

// isPartial holds for runs that are not the whole comparison, whose tables must not take the place of its tables.
func (o mallocOptions) isPartial() bool {
	return o.scale != 1 || o.match != "" || o.group != "" || o.allocators != ""
}

// compareAllocators measures libmallow against its peers and writes the tables, the plots and the raw figures.
func compareAllocators(options mallocOptions, out io.Writer) error {
	folder, err := mallocFolder()
	if err != nil {
		return err
	}
	allocators, notes, err := verifiedAllocators(folder, options)
	if err != nil {
		return err
	}
	rows, left, err := chooseRows(folder, options)
	if err != nil {
		return err
	}
	notes = append(notes, left...)
	if err := buildPrograms(folder, rows); err != nil {
		return err
	}
	reasons, err := readReasons(filepath.Join("bench", "lost.txt"))
	if err != nil {
		return err
	}
	l, err := buildLauncher(folder, runTimeout)
	if err != nil {
		return err
	}
	head := mallocHeading(options, allocators, notes)
	series, err := runRounds(l, rows, allocators, options.rounds, os.Stderr)
	if err != nil {
		return err
	}
	figures, err := figuresOf(rows, series)
	if err != nil {
		return err
	}
	table := &mallocTable{allocators: allocators, figures: figures, all: compareAll(figures), series: series, reasons: reasons}
	if err := writeComparison(options.results, head, table, rows, out); err != nil {
		return err
	}
	for _, row := range rows {
		if reason, found := series.failures[failureKey(row.name, ours)]; found {
			return fmt.Errorf("%s could not run on %s: %s", row.name, ours, reason)
		}
	}
	return nil
}

// runTimeout bounds one run of one row: what takes longer counts as failed.
const runTimeout = time.Minute

// verifiedAllocators finds the peers and sees that each serves malloc; the notes say which are missing.
func verifiedAllocators(folder string, options mallocOptions) ([]allocator, []string, error) {
	library := absolute(filepath.Join(options.build, "libmallow.so"))
	if _, err := os.Stat(library); err != nil {
		return nil, nil, fmt.Errorf("%s is not there: run `make` first", library)
	}
	peers, missing, err := readPeers(filepath.Join("bench", "peers", "peers.txt"))
	if err != nil {
		return nil, nil, err
	}
	allocators, err := chooseAllocators(options.allocators, library, peers)
	if err != nil {
		return nil, nil, err
	}
	probe := filepath.Join(folder, "probe")
	if err := run("gcc", "-O1", "-fno-builtin", "-o", probe, filepath.Join("bench", "peers", "probe.c")); err != nil {
		return nil, nil, err
	}
	for _, a := range allocators {
		if err := a.verify(probe); err != nil {
			return nil, nil, err
		}
	}
	if options.allocators != "" {
		return allocators, nil, nil
	}
	if len(missing) > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d peers are missing and left out; `make peers` fetches them\n", len(missing))
	}
	return allocators, missing, writeList(filepath.Join(peersFolder, "list.txt"), allocators)
}

// chooseRows returns the rows that the flags choose; the notes say which cannot be run here.
func chooseRows(folder string, options mallocOptions) ([]mallocRow, []string, error) {
	all, err := mallocRows(folder, options.scale)
	if err != nil {
		return nil, nil, err
	}
	var chosen []mallocRow
	var notes []string
	for _, row := range all {
		switch {
		case !strings.Contains(row.name, options.match) || options.group != "" && row.group != options.group:
		case row.missing != "":
			notes = append(notes, fmt.Sprintf("the row %s is left out: %s", row.name, row.missing))
		case !slices.Contains(allGroups, row.group):
			return nil, nil, fmt.Errorf("the row %s is of the group %q, but there are only %s", row.name, row.group, strings.Join(allGroups, ", "))
		default:
			chosen = append(chosen, row)
		}
	}
	if len(chosen) == 0 {
		return nil, nil, fmt.Errorf("no row is chosen by -match %q and -group %q; the groups are %s", options.match, options.group, strings.Join(allGroups, ", "))
	}
	return chosen, notes, nil
}

func mallocHeading(options mallocOptions, allocators []allocator, notes []string) string {
	var text strings.Builder
	text.WriteString(circumstances.Heading(".", mallocCommand()))
	fmt.Fprintf(&text, "- method: %d interleaved rounds in random order, medians; ratios are of medians, in brackets the 95 %% interval by the bootstrap; "+
		"CPU is user and system time; less is better everywhere but in operations per second; README.md beside the runner says more\n", options.rounds)
	fmt.Fprintf(&text, "- transparent huge pages: %s; compiled by %s\n", bracketed("/sys/kernel/mm/transparent_hugepage/enabled"), firstLine("g++", "--version"))
	if options.rounds < 5 {
		fmt.Fprintf(&text, "- **%d rounds are too few: the intervals are too narrow, and show nothing**\n", options.rounds)
	}
	if options.scale != 1 {
		fmt.Fprintf(&text, "- **the work was divided by %d: these figures mean nothing**\n", options.scale)
	}
	for _, note := range notes {
		fmt.Fprintf(&text, "- %s\n", note)
	}
	text.WriteString("\n| allocator | malloc | version | from | settings |\n|---|---|---|---|---|\n")
	for _, a := range allocators {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", a.name, a.family, a.version, a.origin, strings.Join(a.settings, " "))
	}
	return text.String() + "\n"
}

// bracketed is the chosen word of a setting of the kernel: `always [madvise] never`.
func bracketed(path string) string {
	content, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(content), "[")
	word, _, found := strings.Cut(rest, "]")
	if !found {
		return "unknown"
	}
	return word
}

func mallocCommand() string {
	if len(os.Args) == 2 {
		return "make bench-malloc"
	}
	return "make all peers && bench/run " + strings.Join(os.Args[1:], " ")
}

func writeComparison(folder, head string, table *mallocTable, rows []mallocRow, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	pictures, err := newPlots(table.allocators, table.figures, table.all).write(folder, rows, table.series)
	if err != nil {
		return err
	}
	text := "# libmallow against other mallocs\n\n" + head + table.write()
	for _, picture := range pictures {
		text += fmt.Sprintf("![%s](%s)\n", picture[1], picture[0])
	}
	fmt.Fprintln(out, text)
	if err := writeRaw(filepath.Join(folder, "malloc.csv"), table.allocators, table.figures); err != nil {
		return err
	}
	path := filepath.Join(folder, "malloc.md")
	fmt.Fprintf(os.Stderr, "wrote %s\n", path)
	return os.WriteFile(path, []byte(text), 0o644)
}
