package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mallow/internal/analyze"
	"mallow/internal/profile"
	"mallow/internal/report/csv"
	"mallow/internal/report/folded"
	"mallow/internal/report/pprof"
	"mallow/internal/report/speedscope"
	"mallow/internal/term"
)

func writePprof(w io.Writer, p *profile.Profile, paths []string, o reportOptions) error {
	if term.Is(w) {
		return fmt.Errorf("--format pprof is no text: write it to a file, mallow report --format pprof %s >profile.pb.gz", term.Safe(strings.Join(paths, " ")))
	}
	return pprof.Write(w, p, analyze.Rank(p, o.all, o.sort))
}

func writeSpeedscope(w io.Writer, p *profile.Profile, paths []string, o reportOptions) error {
	return speedscope.Write(w, p, analyze.Rank(p, o.all, o.sort), filepath.Base(onlyPath(paths)))
}

func writeFolded(w io.Writer, p *profile.Profile, _ []string, o reportOptions) error {
	return folded.Write(w, p, analyze.Rank(p, o.all, o.sort), o.metric)
}

func writeCSV(w io.Writer, p *profile.Profile, _ []string, o reportOptions) error {
	top := 0
	if o.topSet {
		top = o.top
	}
	return csv.Write(w, p, analyze.RankGroups(p, o.all, o.sort, o.by), top)
}
