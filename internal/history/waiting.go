package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mallow/internal/own"
)

// Waiting is the error of a point that could not be added, and was not lost: it
// is in a file beside the history, which the next process that opens the
// history takes in.
type Waiting struct {
	Folder string
	Err    error // why it could not be added
}

func (w *Waiting) Error() string {
	return fmt.Sprintf("%v; the point waits in %s until the history can be written", w.Err, w.Folder)
}

func (w *Waiting) Unwrap() error { return w.Err }

// waitingVersion is that of the files.
const waitingVersion = 1

type waitingFile struct {
	Version int
	Point   Point
}

func (s *SQLite) waitingFolder() string { return s.path + ".waiting" }

// wait keeps a point that could not be added because of err.
func (s *SQLite) wait(p Point, err error) error {
	if p.Profile != nil {
		p.ProfileID = ContentID(p.Profile)
	}
	content, fault := json.Marshal(waitingFile{waitingVersion, p})
	if fault == nil {
		fault = own.Replace(filepath.Join(s.waitingFolder(), p.identity()+".json"), content)
	}
	if fault != nil {
		return fmt.Errorf("%w; nor can the point be kept in %s: %v", err, s.waitingFolder(), fault)
	}
	return &Waiting{s.waitingFolder(), err}
}

// takeWaiting adds what waits. What it cannot add goes on waiting.
func (s *SQLite) takeWaiting() {
	entries, err := os.ReadDir(s.waitingFolder())
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(s.waitingFolder(), e.Name())
		if !isWaiting(e) || s.takeIn(path) != nil {
			continue
		}
		os.Remove(path)
	}
	os.Remove(s.waitingFolder()) // when it is empty
}

func isWaiting(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".json") }

// Waits returns the folder of points that could not be added, and how many
// there are. What waits in an open history could not be taken in: it is
// damaged, another user's, or of another version of mallow.
func (s *SQLite) Waits() (folder string, points int) {
	entries, _ := os.ReadDir(s.waitingFolder())
	for _, e := range entries {
		if isWaiting(e) {
			points++
		}
	}
	return s.waitingFolder(), points
}

func (s *SQLite) takeIn(path string) error {
	content, err := own.Read(path, 2*biggestProfile)
	if err != nil {
		return err
	}
	var f waitingFile
	if err := json.Unmarshal(content, &f); err != nil {
		return err
	}
	if f.Version != waitingVersion {
		return errors.New("of another version")
	}
	if err := f.Point.Check(); err != nil {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := insert(tx, f.Point); err != nil {
		return err
	}
	return tx.Commit()
}
