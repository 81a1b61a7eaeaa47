package recording_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
	"mallow/test/harness"
)

func read(t *testing.T, b []byte) *recording.Image {
	t.Helper()
	im, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// digest walks all that a reader can ask an image for.
func digest(im *recording.Image) string {
	var b strings.Builder
	all, program := im.PeakBytes()
	fmt.Fprintln(&b, im.PID, im.Executable, im.Incomplete, all, program, im.PeakErrorBytes(), len(im.Shards))
	im.EachStack(func(id uint32, c *recording.Counters) {
		fmt.Fprintln(&b, id, *c)
		for n := im.StackNode(id); n != 0; {
			node, in := im.Node(n)
			if in == nil {
				fmt.Fprintln(&b, "  lost")
				break
			}
			fmt.Fprintf(&b, "  %d %#x", node.Tag(), node.Value())
			switch node.Tag() {
			case recording.TagReturn, recording.TagInterrupted:
				if m := in.Module(node.Extra); m != nil {
					fmt.Fprintf(&b, " %s %x %d", m.Path, m.BuildID, m.Kind)
				}
			case recording.TagSymbolic:
				frame, ok := in.SymbolicFrame(node.Value())
				fmt.Fprint(&b, frame, ok)
			}
			fmt.Fprintln(&b)
			n = node.Parent
		}
	})
	return b.String()
}

func TestEveryCutIsReadOrRefused(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		for _, made := range golden.Images {
			whole := made.Bytes()
			for size := range whole {
				im, err := recording.ReadImage("image", bytes.NewReader(whole[:size]), int64(size))
				if size < 4096 {
					if err == nil {
						t.Fatalf("%s cut at %d of its header was read", golden.Name, size)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s cut at %d: %v", golden.Name, size, err)
				}
				walk(t, im)
			}
		}
	}
}

func TestACutIsWarnedOf(t *testing.T) {
	whole := recordingtest.Goldens()[0].Images[0].Bytes()
	im := read(t, whole[:4096+16*3])
	if len(im.Warnings) == 0 {
		t.Fatal("a cut image is read without a warning")
	}
	for _, w := range im.Warnings {
		if !strings.Contains(w, "missing") {
			t.Errorf("warning %q", w)
		}
	}
}

func TestEveryDamagedHeaderByteIsReadOrRefused(t *testing.T) {
	whole := recordingtest.Goldens()[2].Images[1].Bytes()
	for at := range 4096 {
		for _, value := range []byte{0x00, 0x01, 0x7f, 0x80, 0xff} {
			b := bytes.Clone(whole)
			b[at] = value
			if im, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b))); err == nil {
				digest(im)
			}
		}
	}
}

// TestDamagedCountersAreNoticed changes one counter of a stack.
func TestDamagedCountersAreNoticed(t *testing.T) {
	made := recordingtest.Goldens()[0].Images[0]
	for _, damage := range []uint64{0, 1, 1 << 40} {
		b := made.Bytes()
		pages := sectionOffset(t, b, 4)
		stack1 := b[pages+64:]
		calls := binary.LittleEndian.Uint64(stack1)
		binary.LittleEndian.PutUint64(stack1, calls+damage)
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, made.Name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if w := rec.Images[0].Warnings; (damage > 0) != (len(w) == 1) {
			t.Errorf("damage %d: warnings %q", damage, w)
		}
	}
}

// What a damaged file may say of its steps; each node that it concerns is cut,
// and all others are what they were.
func TestDamagedStepsAreCut(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(testdata("fork_child"), "image-301-1000000000-0"))
	if err != nil {
		t.Fatal(err)
	}
	const head = 1 << 31
	sound := read(t, whole)
	first := sound.ParentNodes
	for _, test := range []struct {
		name    string
		section uint32
		item    int
		to      uint64
		node    uint32 // as an item
	}{
		{"a head that points forward", 13, 0, uint64(head | first + 1), 1},
		{"a step to nowhere", 13, 1, 1000, 1},
		{"a step that was not written", 13, 1, 0, 1},
		{"a frame that was not written", 14, 1, 0, 1},
		{"a frame of an unknown kind", 14, 1, 6 << 61, 1},
	} {
		b := bytes.Clone(whole)
		items := b[sectionOffset(t, b, test.section):]
		was := sound.OwnNodes()[test.node]
		if test.section == 13 {
			binary.LittleEndian.PutUint32(items[4*test.item:], uint32(test.to))
		} else {
			frame := uint64(binary.LittleEndian.Uint32(b[sectionOffset(t, b, 13)+4*uint64(test.node):]))
			binary.LittleEndian.PutUint64(items[8*frame:], test.to)
		}
		im := read(t, b)
		got := im.OwnNodes()[test.node]
		if got.Tag() == was.Tag() && got.Value() == was.Value() && got.Parent == was.Parent {
			t.Errorf("%s: the node is %+v, as before", test.name, got)
		}
		if got.Tag() != recording.TagTruncated && got.Parent != 0 {
			t.Errorf("%s: the node is %+v", test.name, got)
		}
		if n := len(im.OwnNodes()); n != len(sound.OwnNodes()) {
			t.Errorf("%s: %d nodes", test.name, n)
		}
		if len(im.Warnings) == len(sound.Warnings) {
			t.Errorf("%s: no warning", test.name)
		}
	}
}

func TestNodesPointBackwards(t *testing.T) {
	b := recordingtest.Goldens()[0].Images[0].Bytes()
	nodes := b[sectionOffset(t, b, 1):]
	binary.LittleEndian.PutUint32(nodes[8:], 5)
	binary.LittleEndian.PutUint32(nodes[3*16+8:], 3)
	im := read(t, b)
	if root, _ := im.Node(0); root.Parent != 0 {
		t.Errorf("the root has parent %d", root.Parent)
	}
	if n, _ := im.Node(3); n.Tag() != recording.TagTruncated || n.Parent != 0 {
		t.Errorf("a node that points at itself is %+v", n)
	}
	if w := strings.Join(im.Warnings, ""); !strings.Contains(w, "point forward") {
		t.Errorf("warnings %q", w)
	}
}

func sectionOffset(t *testing.T, b []byte, kind uint32) uint64 {
	t.Helper()
	for i := range binary.LittleEndian.Uint32(b[28:]) {
		if entry := b[1024+64*i:]; binary.LittleEndian.Uint32(entry) == kind {
			return binary.LittleEndian.Uint64(entry[8:])
		}
	}
	t.Fatalf("no section %d", kind)
	return 0
}

func TestANewerVersionIsRefused(t *testing.T) {
	folder := t.TempDir()
	im := recordingtest.Goldens()[0].Images[0]
	b := im.Bytes()
	binary.LittleEndian.PutUint32(b[8:], 6)
	if err := os.WriteFile(filepath.Join(folder, im.Name), b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := recording.Open(folder)
	if !errors.Is(err, recording.ErrNewerVersion) {
		t.Fatalf("got %v", err)
	}
}

func TestANewerMinorVersionAndUnknownSectionsAreRead(t *testing.T) {
	made := recordingtest.Goldens()[0].Images[0]
	b := made.Bytes()
	want := digest(read(t, b))
	binary.LittleEndian.PutUint32(b[12:], 7)
	n := binary.LittleEndian.Uint32(b[28:])
	entry := b[1024+64*n:]
	binary.LittleEndian.PutUint32(entry[0:], 99)
	binary.LittleEndian.PutUint32(entry[4:], 12345)
	binary.LittleEndian.PutUint32(b[28:], n+1)
	im := read(t, b)
	if got := digest(im); got != want || len(im.Warnings) > 0 {
		t.Errorf("differs, or warns: %q", im.Warnings)
	}
}

// TestAHugeClaimCostsNothing reads a file whose numbers speak of terabytes:
// what is not there must be neither allocated nor walked.
func TestAHugeClaimCostsNothing(t *testing.T) {
	made := recordingtest.Goldens()[0].Images[0]
	b := made.Bytes()
	for i := range binary.LittleEndian.Uint32(b[28:]) {
		entry := b[1024+64*i:]
		binary.LittleEndian.PutUint64(entry[16:], 1<<62) // reserved
		binary.LittleEndian.PutUint64(entry[24:], 1<<61) // used
	}
	folder := t.TempDir()
	path := filepath.Join(folder, made.Name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<42); err != nil {
		t.Skipf("the file system has no sparse files of 4 TiB: %v", err)
	}
	allocated := testing.AllocsPerRun(1, func() {
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(rec.Images[0].Warnings) == 0 {
			t.Error("no warning")
		}
	})
	if allocated > 100_000 {
		t.Errorf("%g allocations", allocated)
	}
}

func TestSparseAndPackedReadTheSame(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		t.Run(golden.Name, func(t *testing.T) {
			folder := t.TempDir()
			want := make(map[string]string)
			for _, made := range golden.Images {
				want[made.Name] = digest(read(t, made.Bytes()))
				if err := made.Write(folder, recordingtest.Sparse); err != nil {
					t.Fatal(err)
				}
			}
			check := func(state string) {
				rec, err := recording.Open(folder)
				if err != nil {
					t.Fatal(err)
				}
				for _, im := range rec.Images {
					im.Parent = nil // want was read without
					if got := digest(im); got != want[im.Name] {
						t.Errorf("%s %s:\n%s\nwant\n%s", state, im.Name, got, want[im.Name])
					}
				}
			}
			check("sparse")
			for _, made := range golden.Images {
				path := filepath.Join(folder, made.Name)
				if err := recording.Pack(path); err != nil {
					t.Fatal(err)
				}
				packed, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(packed, made.Bytes()) {
					t.Errorf("%s: packed otherwise than the writer packs", made.Name)
				}
				if err := recording.Pack(path); err != nil {
					t.Errorf("packing twice: %v", err)
				}
			}
			check("packed")
			if left, _ := filepath.Glob(filepath.Join(folder, ".pack*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestADamagedFileIsNotPacked(t *testing.T) {
	folder := t.TempDir()
	made := recordingtest.Goldens()[0].Images[0]
	path := filepath.Join(folder, made.Name)
	b := made.Bytes()
	b = b[:len(b)-8000]
	binary.LittleEndian.PutUint32(b[20:], 0)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := recording.Pack(path); err == nil {
		t.Error("packed")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(after, b) {
		t.Error("the damaged file was touched")
	}
}

// TestInUse maps an image and closes the descriptor, as the recorder does.
func TestInUse(t *testing.T) {
	folder := t.TempDir()
	made := recordingtest.Goldens()[0].Images[0]
	if err := made.Write(folder, recordingtest.Sparse); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, made.Name)
	if recording.InUse(path) {
		t.Fatal("in use, but nobody has it")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if !recording.InUse(path) {
		t.Error("mapped for writing, but not in use")
	}
	if rec, err := recording.Open(folder); err != nil || !rec.Images[0].Running {
		t.Errorf("read as if its process had ended (%v)", err)
	}
	if err := syscall.Munmap(mapped); err != nil {
		t.Fatal(err)
	}
	if recording.InUse(path) {
		t.Error("still in use")
	}
}

func TestForkChildResolvesInItsParent(t *testing.T) {
	rec, err := recording.Open(filepath.Join(handmade, "fork.mallow"))
	if err != nil {
		t.Fatal(err)
	}
	parent, child := rec.Images[0], rec.Images[1]
	if child.Parent != parent {
		t.Fatal("the child has not found its parent")
	}
	if got := digest(child); !strings.Contains(got, "/opt/demo/bin/demo") || strings.Contains(got, "lost") {
		t.Errorf("stacks from before the fork are lost:\n%s", got)
	}
	if child.Shards[0].InheritedFrees != 1 {
		t.Errorf("inherited frees: %d, want 1", child.Shards[0].InheritedFrees)
	}
}

func TestAnOrphanIsReadWithAWarning(t *testing.T) {
	folder := t.TempDir()
	child := recordingtest.Goldens()[2].Images[1]
	if err := child.Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	digest(rec.Images[0])
	if w := rec.Images[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "missing") {
		t.Errorf("warnings %q", w)
	}
}

func TestAnImageIsNotItsOwnAncestor(t *testing.T) {
	folder := t.TempDir()
	for _, made := range recordingtest.Goldens()[2].Images {
		b := made.Bytes()
		clear(b[256:384])
		copy(b[256:384], made.Name)
		binary.LittleEndian.PutUint32(b[72:], 1<<20)
		if err := os.WriteFile(filepath.Join(folder, made.Name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := recording.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range rec.Images {
		digest(im)
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(empty, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "image-1-2-0"), make([]byte, 9000), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(empty, "none"): "no such recording",
		empty:                        "no image file",
		file:                         "a folder NAME.mallow",
		foreign:                      "nothing readable",
	} {
		if _, err := recording.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// Whoever hands on a recording may have put anything into its folder.
func TestAFIFOInARecordingIsNotWaitedFor(t *testing.T) {
	folder := t.TempDir()
	fifo := filepath.Join(folder, "image-1-2-0")
	for _, path := range []string{fifo, filepath.Join(folder, "meta.json")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := recording.Open(folder)
		_, identified := recording.Identify(fifo)
		if packed := recording.Pack(fifo); identified == nil || packed == nil || recording.InUse(fifo) {
			err = fmt.Errorf("it was taken for an image: %w", err)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "nothing readable") {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is waited for")
	}
}

func TestMeta(t *testing.T) {
	folder := t.TempDir()
	made := recordingtest.Goldens()[0].Images[0]
	if err := made.Write(folder, recordingtest.Packed); err != nil {
		t.Fatal(err)
	}
	open := func() *recording.Recording {
		rec, err := recording.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if rec := open(); rec.Meta != nil || len(rec.Warnings) > 0 {
		t.Errorf("without meta.json: %+v, %q", rec.Meta, rec.Warnings)
	}
	meta := filepath.Join(folder, "meta.json")
	os.WriteFile(meta, []byte(`{"version":1,"command":["demo","-x"],"exit_status":3,"user_seconds":0.5}`), 0o600)
	if rec := open(); rec.Meta == nil || rec.Meta.ExitStatus != 3 || len(rec.Meta.Command) != 2 {
		t.Errorf("meta.json: %+v", rec.Meta)
	}
	os.WriteFile(meta, []byte(`{"version":1,"comm`), 0o600)
	if rec := open(); rec.Meta != nil || len(rec.Warnings) != 1 {
		t.Errorf("with half a meta.json: %+v, %q", rec.Meta, rec.Warnings)
	}
	os.WriteFile(meta, []byte(`{"version":2,"command":"in another form"}`), 0o600)
	if _, err := recording.Open(folder); !errors.Is(err, recording.ErrNewerVersion) || !strings.Contains(err.Error(), "meta.json") {
		t.Errorf("with a newer meta.json: %v", err)
	}
}

// walk follows every stack and asks for whatever it names.
func walk(t *testing.T, im *recording.Image) {
	im.EachStack(func(id uint32, c *recording.Counters) {
		c.LiveBlocks()
		if k := im.Knowledge(id); k != nil {
			for _, votes := range [][]recording.Vote{k.Size, k.BornAfter, k.FreedAfter, k.FreedBy} {
				for i := range votes {
					if v := &votes[i]; v.Least() > v.Most() || v.Most() > v.Voters {
						t.Fatalf("stack %d: a vote of %+v", id, *v)
					}
				}
			}
		}
		for n := im.StackNode(id); n != 0; {
			node, in := im.Node(n)
			if in == nil {
				break
			}
			if node.Parent >= n {
				t.Fatalf("node %d has parent %d", n, node.Parent)
			}
			in.Module(node.Extra)
			in.SymbolicFrame(node.Value())
			n = node.Parent
		}
	})
}

func FuzzImage(f *testing.F) {
	for _, golden := range recordingtest.Goldens() {
		for _, made := range golden.Images {
			b := made.Bytes()
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
	for _, image := range []string{"habits.mallow/image-700-1000000000-0", "fork_child.mallow/image-301-1000000000-0", "huge.mallow/image-800-1000000000-0"} {
		b, err := os.ReadFile(filepath.Join(harness.Root(), "format", "testdata", image))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := recording.ReadImage("image", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		walk(t, im)
	})
}

// What a hostile file says of regions and units is bounded and ends.
func TestDamagedRegions(t *testing.T) {
	im := recordingtest.NewImage(1, "/bin/hostile")
	outer := im.Region(7_000_000, "ahead")
	for range 100 {
		outer = im.Region(outer, "within itself")
	}
	deep := outer
	for i := range 1000 {
		deep = im.Region(deep, fmt.Sprint("level ", i))
	}
	im.Unit(recording.Unit{Name: "unit", Amount: 1 << 63, Refusal: 99})
	p := recordingtest.NewProcess(im)
	thread := p.Thread()
	thread.Enter(deep)
	thread.Leave(1 << 30)
	b := p.Finish().Bytes()
	read := read(t, b)
	if names := read.RegionNames(outer); len(names) != 2 || names[1] != "ahead" {
		t.Errorf("%q", names)
	}
	if names := read.RegionNames(deep); len(names) != 64 {
		t.Errorf("%d names", len(names))
	}
	if names := read.RegionNames(1 << 31); names != nil {
		t.Errorf("%q", names)
	}
	if len(read.Warnings) == 0 || !strings.Contains(strings.Join(read.Warnings, " "), "regions that lie within later ones: 1") {
		t.Errorf("%q", read.Warnings)
	}
	if text := read.Units[0].Refusal.String(); text == "" {
		t.Error("a reason that is not known has no words")
	}
}
