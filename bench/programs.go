package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mallow/bench/circumstances"
)

// programsOptions says how Debian's programs are surveyed.
type programsOptions struct {
	rounds  int
	match   string
	install bool // packages that are missing, as root
	build   string
	results string // the page that is written
}

// programsPath is where the programs of the list are looked for: where Debian puts them, and nowhere else.
const programsPath = "/usr/lib/postgresql/15/bin:/usr/lib/libreoffice/program:/usr/games:/usr/bin:/bin:/usr/sbin:/sbin"

// surveyPrograms records every program of bench/programs.txt and writes what came of it to docs/programs.md.
func surveyPrograms(o programsOptions, out io.Writer) error {
	content, err := os.ReadFile(filepath.Join("bench", "programs.txt"))
	if err != nil {
		return err
	}
	programs, err := parsePrograms(string(content))
	if err != nil {
		return fmt.Errorf("bench/programs.txt: %w", err)
	}
	folder := absolute(filepath.Join("build", "bench", "programs"))
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	measurer, err := newMeasurer(folder, o.build)
	if err != nil {
		return err
	}
	head := circumstances.Heading(".", "make programs")
	if err := os.Setenv("PATH", programsPath); err != nil {
		return err
	}
	var rows []surveyed
	for _, p := range programs {
		if !strings.Contains(p.name, o.match) {
			continue
		}
		row := survey(p, measurer, o)
		fmt.Fprintf(os.Stderr, "%-12s %s\n", p.name, row.verdict())
		rows = append(rows, row)
		// After each, so that a run that is ended early has its page.
		if err := os.WriteFile(o.results, []byte(programsPage(head, rows)), 0o644); err != nil {
			return err
		}
	}
	fmt.Fprint(out, differences(rows))
	return nil
}

func survey(p program, m measurer, o programsOptions) surveyed {
	row := surveyed{program: p}
	if !p.installed() && o.install && os.Geteuid() == 0 {
		installPackage(p.debianPackage)
	}
	if !p.installed() {
		row.skipped = "not installed (Debian package " + p.debianPackage + ")"
		return row
	}
	row.version = packageVersion(p.debianPackage)
	s := session{program: p, measurer: m, folder: filepath.Join(m.folder, p.name), limit: time.Minute}
	if err := s.prepare(); err != nil {
		row.skipped = "its input could not be made: " + err.Error()
		return row
	}
	defer os.RemoveAll(s.folder)
	s.measure(&row, o.rounds)
	return row
}

func installPackage(name string) {
	c := exec.Command("apt-get", "install", "-y", "-qq", "--no-install-recommends", name)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := c.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "apt-get install %s: %v\n%s", name, err, output[max(0, len(output)-500):])
	}
}

// packageVersion is "" for what is not Debian's.
func packageVersion(name string) string {
	output, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Version}", name).Output()
	version, installed := strings.CutPrefix(string(output), "ii ")
	if err != nil || !installed {
		return ""
	}
	return version
}
