package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/internal/history"
)

func open(t *testing.T, path string) *history.SQLite {
	t.Helper()
	s, err := history.OpenFile(path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func point(benchmark string, n int) history.Point {
	return history.Point{
		Key:    history.Key{Benchmark: benchmark, Platform: "x86_64-linux-gnu", Build: "release"},
		Commit: fmt.Sprintf("%040x", n), CommitTime: time.Unix(int64(n), 0).UTC(), Time: time.Unix(int64(n), 7).UTC(),
		Metrics: map[string]history.Value{
			"allocations": {Value: float64(1000 + n), Class: history.Exact},
			"bytes":       {Value: float64(64000 + n), Unit: "bytes", Class: history.Bounded},
		},
	}
}

func add(t *testing.T, s history.Store, points ...history.Point) {
	t.Helper()
	for _, p := range points {
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPointsComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mallow", "history.db")
	first, second, other := point("parse", 1), point("parse", 2), point("print", 3)
	second.Profile, second.Dirty = []byte("a profile"), true
	add(t, open(t, path), first, second, other, first)

	s := open(t, path)
	keys, err := s.Keys()
	if want := []history.Key{first.Key, other.Key}; err != nil || !reflect.DeepEqual(keys, want) {
		t.Errorf("keys %v, %v; want %v", keys, err, want)
	}
	points, err := s.At(second.Key, second.Commit)
	if err != nil || len(points) != 1 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	second.ProfileID = points[0].ProfileID
	if !reflect.DeepEqual(points[0], second) {
		t.Errorf("%+v\nwant %+v", points[0], second)
	}
	series, err := s.Series(first.Key, "bytes")
	second.Profile = nil
	if want := []history.Point{first, second}; err != nil || !reflect.DeepEqual(series, want) {
		t.Errorf("%+v, %v\nwant %+v", series, err, want)
	}
	if series, err := s.Series(first.Key, "peak_bytes"); err != nil || len(series) > 0 {
		t.Errorf("%v, %v for a metric that no point has", series, err)
	}
}

func TestLookingAtAHistoryWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mallow", "history.db")
	s := open(t, path)
	if keys, err := s.Keys(); err != nil || keys != nil {
		t.Errorf("%v, %v where there is no history", keys, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("a folder was made")
	}
	empty := filepath.Join(t.TempDir(), "history.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, empty)
	if keys, err := s.Keys(); err != nil || keys != nil {
		t.Errorf("%v, %v in an empty file", keys, err)
	}
	if info, err := os.Stat(empty); err != nil || info.Size() > 0 {
		t.Errorf("the empty file has %d bytes now", info.Size())
	}
	add(t, s, point("parse", 1))
	if keys, err := s.Keys(); err != nil || len(keys) != 1 {
		t.Errorf("%v, %v after a point was added to it", keys, err)
	}
}

func TestNamesOfFilesAreNoOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?_pragma=user_version(7)&mode=memory#%41 b.db")
	add(t, open(t, path), point("parse", 1))
	if points, err := open(t, path).Series(point("parse", 1).Key, ""); err != nil || len(points) != 1 {
		t.Errorf("%v, %v", points, err)
	}
}

func TestForeignAndDamagedFilesAreLeftAlone(t *testing.T) {
	for name, want := range map[string]string{"text": "is damaged", "newer": "is of version 2", "other": "of another program"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			switch name {
			case "text":
				os.WriteFile(path, []byte(strings.Repeat("no database\n", 100)), 0o600)
			case "newer":
				history.Execute(t, path, "PRAGMA application_id = 1835101292; PRAGMA user_version = 2; CREATE TABLE t (a)")
			case "other":
				history.Execute(t, path, "CREATE TABLE t (a)")
			}
			before, _ := os.ReadFile(path)
			s := open(t, path)
			_, err := s.All()
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want something that %s", err, want)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestPointsThatCannotBeTrueAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path)
	for name, spoil := range map[string]func(*history.Point){
		"no benchmark": func(p *history.Point) { p.Benchmark = "" },
		"no metric":    func(p *history.Point) { p.Metrics = nil },
		"long name":    func(p *history.Point) { p.Platform = strings.Repeat("x", 5000) },
		"class":        func(p *history.Point) { p.Metrics["bytes"] = history.Value{Class: "wild"} },
	} {
		p := point("parse", 1)
		spoil(&p)
		if err := s.Add(p); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("something was written")
	}
}

// What is locked or damaged is said, and the point is added later.
func TestPointsWaitUntilTheyCanBeAdded(t *testing.T) {
	for _, name := range []string{"locked", "damaged"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			first, second := point("parse", 1), point("parse", 2)
			second.Profile = []byte("a profile")
			add(t, open(t, path), first)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, repair := "is locked by another process", func() {}
			switch name {
			case "locked":
				history.Impatient(t)
				repair = history.Lock(t, path)
			case "damaged":
				want = "is damaged"
				os.WriteFile(path, append([]byte("SQLite format 3\x00"), make([]byte, 4096)...), 0o600)
				repair = func() { os.WriteFile(path, whole, 0o600) }
			}
			err = open(t, path).Add(second)
			var waiting *history.Waiting
			if !errors.As(err, &waiting) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%v, want one that waits because the file %s", err, want)
			}
			repair()
			points, err := open(t, path).At(second.Key, second.Commit)
			if err != nil || len(points) != 1 || string(points[0].Profile) != "a profile" {
				t.Errorf("%+v, %v: the point was lost", points, err)
			}
			if _, err := os.Stat(waiting.Folder); err == nil {
				t.Errorf("%s is still there", waiting.Folder)
			}
			if all, err := open(t, path).All(); err != nil || len(all) != 2 {
				t.Errorf("%d points, %v; want 2", len(all), err)
			}
		})
	}
}

// Whoever takes a damaged file away finds the point in the new one.
func TestPointsThatWaitForAFileThatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	os.WriteFile(path, append([]byte("SQLite format 3\x00"), make([]byte, 4096)...), 0o600)
	var waiting *history.Waiting
	if err := open(t, path).Add(point("parse", 1)); !errors.As(err, &waiting) {
		t.Fatal(err)
	}
	os.Remove(path)
	if points, err := open(t, path).All(); err != nil || len(points) != 1 {
		t.Errorf("%d points, %v; want the one that waited", len(points), err)
	}
	if _, err := os.Stat(waiting.Folder); err == nil {
		t.Errorf("%s is still there", waiting.Folder)
	}
}

// A database of another program will never be a history: a point that waited
// for it would wait for ever.
func TestNothingWaitsForADatabaseOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	history.Execute(t, path, "CREATE TABLE t (a)")
	err := open(t, path).Add(point("parse", 1))
	var waiting *history.Waiting
	if err == nil || errors.As(err, &waiting) || err.Error() != path+" is a database of another program" {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("%v was left", left)
	}
}

// Nor for a place that is no file: MALLOW_HISTORY=/dev/null would leave a folder
// in /dev.
func TestNothingWaitsForWhatIsNoFile(t *testing.T) {
	folder := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/null", path) },
	} {
		path := filepath.Join(folder, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		want := path + " is no file, so there can be no history in it"
		if err := open(t, path).Add(point("parse", 1)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := open(t, path).All(); err == nil || err.Error() != want {
			t.Errorf("%s: looked at: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*.*")); len(left) > 0 {
		t.Errorf("%v was left", left)
	}
}

// Without git a repository is not found, and that there is none is not true.
func TestLocationWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(history.Environment, "")
	if _, err := history.Location("."); err == nil || !strings.HasPrefix(err.Error(), "there is no git command in PATH") {
		t.Errorf("%v", err)
	}
}

// What no process takes in is told, and not only by who looks into the folder.
func TestPointsThatGoOnWaitingAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path)
	add(t, s, point("parse", 1))
	if _, points := s.Waits(); points != 0 {
		t.Errorf("%d where nothing waits", points)
	}
	s.Close()
	if err := os.Mkdir(path+".waiting", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a.json": `{"Version":1`, "b.json": `{"Version":2}`, ".new-c": ""} {
		if err := os.WriteFile(filepath.Join(path+".waiting", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, path)
	if points, err := s.All(); err != nil || len(points) != 1 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	if folder, points := s.Waits(); folder != path+".waiting" || points != 2 {
		t.Errorf("%d in %s, want 2", points, folder)
	}
}

func TestRescueReadsWhatIsWhole(t *testing.T) {
	folder := t.TempDir()
	path, saved := filepath.Join(folder, "history.db"), filepath.Join(folder, "saved.db")
	s := open(t, path)
	var all []history.Point
	for i := range 300 {
		p := point("parse", i)
		p.Profile = []byte(strings.Repeat(fmt.Sprint(i), 100))
		all = append(all, p)
	}
	if _, err := s.AddAll(all); err != nil {
		t.Fatal(err)
	}
	s.Close()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[len(content)/2 : len(content)/2+8192])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := history.Rescue(path, saved)
	if err != nil || n < 100 {
		t.Fatalf("%d points, %v", n, err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(after, content) {
		t.Error("the damaged file was changed")
	}
	points, err := open(t, saved).All()
	if err != nil || len(points) != n {
		t.Errorf("%d points, %v; want %d", len(points), err, n)
	}
	if _, err := history.Rescue(path, saved); err == nil {
		t.Error("a history was written over")
	}
}

// Readers need no right to write.
func TestReadOnlyHistory(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "history.db")
	add(t, open(t, path), point("parse", 1))
	os.Chmod(path, 0o400)
	os.Chmod(folder, 0o500)
	defer os.Chmod(folder, 0o700)
	if points, err := open(t, path).All(); err != nil || len(points) != 1 {
		t.Errorf("%d points, %v", len(points), err)
	}
}
