package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"mallow/internal/history"
	"mallow/internal/term"
)

// mallow is our own format: a line of JSON for each thing, the first of which
// names the schema. A profile stands before the points that have it.
var mallow = Format{
	Name: "mallow", Whole: true,
	detect: func(head string) bool { return strings.HasPrefix(head, `{"schema":"mallow.points/`) },
	read:   readMallow, write: writeMallow,
}

const mallowSchema = "mallow.points/1"

type mallowLine struct {
	Schema  string         `json:"schema,omitempty"`
	Profile *mallowProfile `json:"profile,omitempty"`
	Point   *mallowPoint   `json:"point,omitempty"`
}

type mallowProfile struct {
	ID      string `json:"id"`
	Content []byte `json:"content"`
}

type mallowPoint struct {
	history.Key
	Commit     string                   `json:"commit"`
	CommitTime *time.Time               `json:"commit_time"`
	Time       *time.Time               `json:"time"`
	Dirty      bool                     `json:"dirty"`
	Metrics    map[string]history.Value `json:"metrics"`
	Profile    string                   `json:"profile"`
}

func readMallow(f *File) error {
	f.Dated = true
	profiles := make(map[string][]byte)
	number := 0
	for line := range bytes.Lines(f.content) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var l mallowLine
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		switch {
		case number == 1:
			if l.Schema != mallowSchema {
				return fmt.Errorf("it is of schema %q, and this mallow knows %q", l.Schema, mallowSchema)
			}
		case l.Profile != nil:
			if history.ContentID(l.Profile.Content) != l.Profile.ID {
				return fmt.Errorf("line %d: the profile is damaged", number)
			}
			profiles[l.Profile.ID] = l.Profile.Content
		case l.Point != nil:
			p := l.Point.point()
			if l.Point.Profile != "" {
				if p.Profile = profiles[l.Point.Profile]; p.Profile == nil {
					return fmt.Errorf("line %d: its profile does not stand before it", number)
				}
			}
			if err := p.Check(); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
			f.Points = append(f.Points, p)
		default:
			return fmt.Errorf("line %d: neither a profile nor a point", number)
		}
	}
	return nil
}

func (p *mallowPoint) point() history.Point {
	made := history.Point{Key: p.Key, Commit: p.Commit, Dirty: p.Dirty, Metrics: p.Metrics}
	if p.CommitTime != nil {
		made.CommitTime = p.CommitTime.UTC()
	}
	if p.Time != nil {
		made.Time = p.Time.UTC()
	}
	return made
}

func writeMallow(w io.Writer, points []history.Point, profile Profiles) error {
	if err := term.WriteJSON(w, &mallowLine{Schema: mallowSchema}, ""); err != nil {
		return err
	}
	written := make(map[string]bool)
	for i := range points {
		p := &points[i]
		id := p.ProfileID
		if id != "" && !written[id] {
			content, err := profile(id)
			if err != nil {
				return err
			}
			written[id] = true
			if err := term.WriteJSON(w, &mallowLine{Profile: &mallowProfile{id, content}}, ""); err != nil {
				return err
			}
		}
		if err := term.WriteJSON(w, &mallowLine{Point: &mallowPoint{
			p.Key, p.Commit, known(p.CommitTime), known(p.Time), p.Dirty, p.Metrics, id,
		}}, ""); err != nil {
			return err
		}
	}
	return nil
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
