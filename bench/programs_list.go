package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// program is an entry of bench/programs.txt, which says what the keys mean. All that is executed is for sh.
type program struct {
	name          string
	kind          string
	debianPackage string
	user          string // who runs it, if not whoever runs this
	setup         string // run once
	settings      []string
	run           string // one command, which is recorded
	drive         string // what to do to a server meanwhile; then it gets SIGTERM
	check         string // prints more to compare, and tidies up
	filter        string // takes out what differs from run to run
	note          string // why it fails or differs, where that is known
}

// command is the program that is recorded: the first word of what is run.
func (p program) command() string {
	return strings.Fields(p.run)[0]
}

// installed: it is there, and it is Debian's.
func (p program) installed() bool {
	_, err := exec.LookPath(p.command())
	return err == nil && packageVersion(p.debianPackage) != ""
}

// parsePrograms reads the list. A key that stands more than once has several lines.
func parsePrograms(text string) ([]program, error) {
	var programs []program
	names := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, found := strings.CutPrefix(line, "["); found {
			name, closed := strings.CutSuffix(name, "]")
			if !closed || name == "" || strings.ContainsAny(name, "/ ") || names[name] {
				return nil, fmt.Errorf("line %d: %q is no new [NAME]", number, line)
			}
			names[name] = true
			programs = append(programs, program{name: name})
			continue
		}
		if len(programs) == 0 {
			return nil, fmt.Errorf("line %d: there is no [NAME] above it", number)
		}
		key, value, found := strings.Cut(line, ":")
		if !found || !programs[len(programs)-1].set(key, strings.TrimSpace(value)) {
			return nil, fmt.Errorf("line %d: %q is no key of a program", number, line)
		}
	}
	for _, p := range programs {
		if p.kind == "" || p.debianPackage == "" || p.run == "" {
			return nil, fmt.Errorf("[%s] needs kind, package and run", p.name)
		}
	}
	if len(programs) == 0 {
		return nil, errors.New("it names no program")
	}
	return programs, nil
}

func (p *program) set(key, value string) bool {
	field := map[string]*string{
		"kind": &p.kind, "package": &p.debianPackage, "user": &p.user, "setup": &p.setup, "run": &p.run, "drive": &p.drive,
		"check": &p.check, "filter": &p.filter, "note": &p.note,
	}[key]
	switch {
	case value == "":
		return false
	case key == "set":
		p.settings = append(p.settings, value)
		return true
	case field == nil:
		return false
	case *field != "":
		*field += "\n"
	}
	*field += value
	return true
}
