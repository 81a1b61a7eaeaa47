package profile_test

import (
	"strings"
	"testing"

	"mallow/internal/profile"
	"mallow/internal/profile/profiletest"
	"mallow/internal/recording"
)

// image is a process without any call.
func image(pid, parent, start uint64, executable string) *recording.Image {
	return &recording.Image{Header: recording.Header{PID: pid, ParentPID: parent, StartRealtime: start, Executable: executable}}
}

func familyOf(images []*recording.Image, selectors ...string) []*profile.Process {
	rec := &recording.Recording{Images: images, Meta: &recording.Meta{PID: 100, ExitStatus: 3}}
	return profile.New([]*recording.Recording{rec}, profile.Options{Symbolizer: profiletest.Demo(), Processes: selectors}).Processes
}

func TestFamily(t *testing.T) {
	first := image(100, 1, 10, "/bin/sh")
	forked := image(101, 100, 20, "/bin/sh")
	forked.Parent = first
	images := []*recording.Image{
		first, forked,
		image(101, 100, 30, "/bin/cat"),  // the fork child executes it
		image(102, 100, 40, "/bin/echo"), // started without an image of the fork
		image(102, 103, 50, "/bin/late"), // the process id again, of another parent, which nobody knows
		image(100, 1, 60, "/bin/last"),   // the first process executes another program
		image(104, 100, 70, "/bin/sh"),
		image(104, 1, 80, "/bin/daemon"), // it executes one when its parent has ended
	}
	var got []string
	for _, p := range familyOf(images) {
		line := p.Image.Executable + " " + p.Begun.String()
		if p.Parent != nil {
			line += " " + p.Parent.Image.Executable
		}
		if p.Exit != nil {
			line += " exit"
		}
		got = append(got, line)
	}
	want := "/bin/sh first, /bin/sh fork /bin/sh, /bin/cat exec /bin/sh, /bin/echo child /bin/sh, /bin/late first, /bin/last exec /bin/sh exit, " +
		"/bin/sh child /bin/last, /bin/daemon exec /bin/sh"
	if joined := strings.Join(got, ", "); joined != want {
		t.Errorf("%s\nwant\n%s", joined, want)
	}
}

// A child in a time namespace seems to be older than its parent.
func TestFamilyWithTwoMonotonicClocks(t *testing.T) {
	parent, forked, child := image(100, 1, 10, "parent"), image(101, 100, 20, "forked"), image(102, 100, 30, "child")
	parent.StartMonotonic, forked.StartMonotonic, child.StartMonotonic = 5000, 3000, 4000
	forked.Parent = parent
	for _, p := range familyOf([]*recording.Image{forked, child, parent}) {
		if p.Image != parent && (p.Parent == nil || p.Parent.Image != parent) {
			t.Errorf("%s has no parent", p.Image.Executable)
		}
	}
}

// What damaged files claim never makes a circle.
func TestFamilyIsATree(t *testing.T) {
	a, b, c := image(1, 2, 10, "a"), image(2, 1, 10, "b"), image(3, 3, 5, "c")
	a.Parent = b // which begins later, and has a's process id for its parent
	for _, p := range familyOf([]*recording.Image{a, b, c}) {
		for steps := 0; p != nil; p = p.Parent {
			if steps++; steps > 3 {
				t.Fatal("a circle")
			}
		}
	}
}

func TestSelectedProcesses(t *testing.T) {
	first := image(100, 1, 10, "/bin/sh")
	forked := image(101, 100, 20, "/bin/other")
	forked.Parent = first
	for selector, want := range map[string]int{"sh": 1, "101": 1, "/bin/other": 1, "100": 1, "bin": 0} {
		processes := familyOf([]*recording.Image{first, forked}, selector)
		if len(processes) != want {
			t.Errorf("%s: %d processes, want %d", selector, len(processes), want)
		}
		for _, p := range processes {
			if p.Parent != nil {
				t.Errorf("%s: has a parent that was left out", selector)
			}
		}
	}
	err := profile.CheckProcesses([]*recording.Recording{{Images: []*recording.Image{first, forked}}}, []string{"sh", "bin"})
	if want := "--process bin: there is none; there are other, sh"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
