package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mallow/bench/circumstances"
)

// allocator is a malloc that programs are run on.
type allocator struct {
	name     string
	library  string   // absolute path of what is preloaded, empty for glibc's
	settings []string // NAME=VALUE, which it needs
	family   string   // the source's own name: versions of one malloc share it
	version  string
	origin   string // where it was fetched: the package or crate
}

const (
	ours   = "libmallow"
	system = "glibc"
)

// peersFolder holds what build.sh built, and list.txt with the paths of all.
var peersFolder = filepath.Join("build", "peers")

// readPeers finds what bench/peers/peers.txt lists; the second result says in a line each what is missing.
func readPeers(list string) ([]allocator, []string, error) {
	listed, err := parsePeers(list)
	if err != nil {
		return nil, nil, err
	}
	var peers []allocator
	var missing []string
	for _, fields := range listed {
		peer, err := findPeer(fields)
		if err != nil {
			missing = append(missing, err.Error())
			continue
		}
		peers = append(peers, peer)
	}
	return peers, missing, nil
}

// parsePeers returns the words of each line: name, debian or crate, package, family, library, and settings.
func parsePeers(list string) ([][]string, error) {
	content, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	var listed [][]string
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 5 || fields[1] != "debian" && fields[1] != "crate" {
			return nil, fmt.Errorf("%s: %q is not NAME debian|crate PACKAGE FAMILY LIBRARY [SETTING...]", list, strings.TrimSpace(line))
		}
		listed = append(listed, fields)
	}
	return listed, nil
}

// findPeer finds the library of a peer, of which peers.txt has these words.
func findPeer(fields []string) (allocator, error) {
	peer := allocator{name: fields[0], origin: fields[2], family: fields[3], settings: fields[5:]}
	if fields[1] == "debian" {
		return debianPeer(peer, fields[4])
	}
	peer.library = absolute(filepath.Join(peersFolder, fields[4]))
	version, err := os.ReadFile(filepath.Join(peersFolder, peer.name+".version"))
	if err == nil {
		_, err = os.Stat(peer.library)
	}
	if err != nil {
		return peer, fmt.Errorf("the peer %s is missing: bench/peers/build.sh builds it from the crate %s, with cargo and a network", peer.name, peer.origin)
	}
	peer.version, peer.origin = strings.TrimSpace(string(version)), "crate "+peer.origin
	return peer, nil
}

func debianPeer(peer allocator, library string) (allocator, error) {
	version, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", peer.origin).Output()
	if err == nil {
		var found []byte
		found, err = exec.Command("g++", "-print-file-name="+library).Output()
		peer.library = filepath.Clean(strings.TrimSpace(string(found)))
	}
	if err != nil || !filepath.IsAbs(peer.library) {
		return peer, fmt.Errorf("the peer %s is missing: as root, apt-get install %s", peer.name, peer.origin)
	}
	peer.version, peer.origin = string(version), "Debian package "+peer.origin
	return peer, nil
}

// chooseAllocators returns glibc, libmallow and the peers, or those that `names` lists: names, or NAME=LIBRARY for a
// library of one's own. libmallow must be among them, and one other.
func chooseAllocators(names, library string, peers []allocator) ([]allocator, error) {
	known := append([]allocator{
		{name: system, family: system, version: glibcVersion(), origin: "the system's"},
		{name: ours, family: ours, library: library, version: circumstances.Commit("."), origin: "this tree"},
	}, peers...)
	if names == "" {
		return known, nil
	}
	var chosen []allocator
	for name := range strings.SplitSeq(names, ",") {
		name, path, own := strings.Cut(name, "=")
		if own {
			chosen = append(chosen, allocator{name: name, library: absolute(path), family: name, version: path, origin: "named by -allocators"})
			continue
		}
		at := slices.IndexFunc(known, func(a allocator) bool { return a.name == name })
		if at < 0 {
			return nil, fmt.Errorf("-allocators: %s is not an allocator here; there are %s, or NAME=LIBRARY", name, strings.Join(namesOf(known), ", "))
		}
		chosen = append(chosen, known[at])
	}
	if !slices.Contains(namesOf(chosen), ours) || len(chosen) < 2 {
		return nil, fmt.Errorf("-allocators: %s and at least one other must be named: the table compares it with the best of them", ours)
	}
	return chosen, nil
}

func namesOf(allocators []allocator) []string {
	names := make([]string, len(allocators))
	for i, one := range allocators {
		names[i] = one.name
	}
	return names
}

// preload is what the environment of a program says so that it runs on this allocator.
func (a allocator) preload() []string {
	if a.library == "" {
		return a.settings
	}
	return append([]string{"LD_PRELOAD=" + a.library}, a.settings...)
}

// verify fails unless the functions of malloc's family come from the library when it is preloaded.
func (a allocator) verify(probe string) error {
	if a.library == "" {
		return nil
	}
	process := exec.Command(probe)
	process.Env = a.preload()
	output, err := process.Output()
	if err != nil {
		return fmt.Errorf("%s does not work as a preloaded library (%s): %w", a.name, a.library, err)
	}
	return servedBy(a, string(output))
}

// servedBy reads what the probe printed.
func servedBy(a allocator, printed string) error {
	want, err := os.Stat(a.library)
	if err != nil {
		return err
	}
	count := 0
	for line := range strings.Lines(printed) {
		function, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		got, err := os.Stat(file)
		if err != nil || !os.SameFile(got, want) {
			return fmt.Errorf("%s is not served by %s, but by %s: %s is no malloc to preload", function, a.library, file, a.name)
		}
		count++
	}
	if count == 0 {
		return errors.New("the probe of the peers printed nothing")
	}
	return nil
}

// writeList writes the paths of the allocators for use by hand: NAME PATH [SETTING...], one a line.
func writeList(path string, allocators []allocator) error {
	var text strings.Builder
	for _, a := range allocators {
		if a.library != "" {
			fmt.Fprintln(&text, strings.Join(append([]string{a.name, a.library}, a.settings...), " "))
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

func absolute(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return full
}

func glibcVersion() string {
	words := strings.Fields(firstLine("getconf", "GNU_LIBC_VERSION"))
	if len(words) < 2 {
		return "unknown"
	}
	return words[1]
}

// firstLine returns the first line that a command prints, empty when it fails.
func firstLine(name string, arguments ...string) string {
	output, _ := exec.Command(name, arguments...).Output()
	line, _, _ := strings.Cut(string(output), "\n")
	return line
}
