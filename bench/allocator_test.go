package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServedBy(t *testing.T) {
	folder := t.TempDir()
	library, link, other := filepath.Join(folder, "libx.so.2"), filepath.Join(folder, "libx.so"), filepath.Join(folder, "libc.so")
	for _, path := range []string{library, other} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(library, link); err != nil {
		t.Fatal(err)
	}
	x := allocator{name: "x", library: link}
	if err := servedBy(x, "malloc "+library+"\nfree "+library+"\n"); err != nil {
		t.Error(err)
	}
	for _, printed := range []string{"", "malloc " + library + "\nfree " + other + "\n", "malloc /nowhere\n"} {
		if err := servedBy(x, printed); err == nil {
			t.Errorf("%q was taken", printed)
		}
	}
}

func TestChooseAllocators(t *testing.T) {
	peers := []allocator{{name: "jemalloc"}, {name: "snmalloc"}}
	for _, test := range []struct{ names, want string }{
		{"", "glibc libmallow jemalloc snmalloc"},
		{"snmalloc,libmallow", "snmalloc libmallow"},
		{"libmallow,before=/tmp/old.so", "libmallow before"},
		{"libmallow,tcmalloc", "error"},
		{"libmallow", "error"},
		{"glibc,snmalloc", "error"},
	} {
		chosen, err := chooseAllocators(test.names, "/libmallow.so", peers)
		got := strings.Join(namesOf(chosen), " ")
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("-allocators %q: %s (%v), want %s", test.names, got, err, test.want)
		}
	}
}

func TestPeersThatAreMissingAreNamed(t *testing.T) {
	list := filepath.Join(t.TempDir(), "peers.txt")
	content := "# a comment\n\nnobody crate nobody-sys nobody nobody.so\nnone debian libnone none libnone.so.1 A=b\n"
	if err := os.WriteFile(list, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	peers, missing, err := readPeers(list)
	if err != nil || len(peers) != 0 || len(missing) != 2 ||
		!strings.Contains(missing[0], "nobody-sys") || !strings.Contains(missing[1], "apt-get install libnone") {
		t.Errorf("%v, %q, %v", peers, missing, err)
	}
	for _, line := range []string{"nobody crate\n", "nobody cargo nobody-sys nobody nobody.so\n"} {
		if err := os.WriteFile(list, []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readPeers(list); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(line)) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
