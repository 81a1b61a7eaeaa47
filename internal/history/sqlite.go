package history

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

//go:embed schema.sql
var schema string

const (
	schemaVersion = 1
	applicationID = 0x6d616c6c // "mall": tells a history from databases of others
)

// patience is how long a process waits for others that write.
const patience = 30 * time.Second

// SQLite is a Store in one file. The file is made by the first Add: looking at
// a history writes nothing. Methods may be called from several goroutines.
type SQLite struct {
	path       string
	repository string // whose commit graph orders points, "" for none
	db         *sql.DB
}

// Open returns the history of a repository, which is any folder in it; see
// Location.
func Open(repository string) (Store, error) {
	path, err := Location(repository)
	if err != nil {
		return nil, err
	}
	return OpenFile(path, repository)
}

// OpenFile returns the history in a file, which need not exist yet. Points are
// ordered by the commits of the repository, "" for none.
func OpenFile(path, repository string) (*SQLite, error) {
	s := &SQLite{path: path, repository: repository}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// Path returns the file of the history.
func (s *SQLite) Path() string { return s.path }

func (s *SQLite) open() error {
	at := url.URL{Scheme: "file", Path: s.path, RawQuery: url.Values{
		"_txlock": {"immediate"}, // a reader that becomes a writer would not wait
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), "foreign_keys(1)"},
	}.Encode()}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return s.explain(err)
	}
	db.SetMaxOpenConns(1)
	s.db = db
	if err := s.prepare(); err != nil {
		db.Close()
		s.db = nil
		return s.explain(err)
	}
	return nil
}

// prepare gives a new file its tables, and makes sure that an old one is a
// history of a version that we know.
func (s *SQLite) prepare() error {
	application, version, err := s.header(s.db)
	if err != nil || application == applicationID && version == schemaVersion {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	application, version, err = s.header(tx) // another process may have been faster
	if err != nil {
		return err
	}
	var tables int
	if err := tx.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	switch {
	case application == applicationID && version == schemaVersion:
		return nil
	case application == applicationID:
		return fmt.Errorf("%s is of version %d, and this mallow knows version %d: use a newer mallow", s.path, version, schemaVersion)
	case application != 0 || tables > 0:
		return fmt.Errorf("%s is a database of another program", s.path)
	}
	if _, err := tx.Exec(schema); err != nil {
		return err
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

type querier interface {
	QueryRow(query string, args ...any) *sql.Row
	Query(query string, args ...any) (*sql.Rows, error)
}

func (s *SQLite) header(q querier) (application, version int, err error) {
	err = errors.Join(q.QueryRow("PRAGMA application_id").Scan(&application), q.QueryRow("PRAGMA user_version").Scan(&version))
	return application, version, err
}

// Close ends the use of the store.
func (s *SQLite) Close() error {
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// Add keeps a point, at once and whole or not at all.
func (s *SQLite) Add(p Point) error { return s.AddAll([]Point{p}) }

// AddAll keeps points: all of them, or none where it returns an error.
func (s *SQLite) AddAll(points []Point) error {
	for i := range points {
		if err := points[i].check(); err != nil {
			return err
		}
	}
	if s.db == nil {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return err
		}
		if err := s.open(); err != nil {
			return err
		}
	}
	tx, err := s.db.Begin()
	if err != nil {
		return s.explain(err)
	}
	defer tx.Rollback()
	for i := range points {
		if err := insert(tx, points[i]); err != nil {
			return s.explain(err)
		}
	}
	return s.explain(tx.Commit())
}

func insert(tx *sql.Tx, p Point) error {
	if p.Profile != nil {
		p.ProfileID = contentID(p.Profile)
		if _, err := tx.Exec("INSERT INTO profile (id, content) VALUES (?, ?) ON CONFLICT DO NOTHING", p.ProfileID, p.Profile); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("INSERT INTO series (benchmark, platform, build) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", p.Benchmark, p.Platform, p.Build); err != nil {
		return err
	}
	var point int64
	err := tx.QueryRow(`INSERT INTO point (identity, series, revision, commit_time, run_time, dirty, profile)
		SELECT ?, id, ?, ?, ?, ?, ? FROM series WHERE benchmark = ? AND platform = ? AND build = ?
		ON CONFLICT DO NOTHING RETURNING id`,
		p.identity(), p.Commit, stamp(p.CommitTime), stamp(p.Time), p.Dirty, p.ProfileID,
		p.Benchmark, p.Platform, p.Build).Scan(&point)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // it is there already
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Metrics)) {
		v := p.Metrics[name]
		if _, err := tx.Exec("INSERT INTO metric (name) VALUES (?) ON CONFLICT DO NOTHING", name); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO value (point, metric, value, unit, class) SELECT ?, id, ?, ?, ? FROM metric WHERE name = ?",
			point, v.Value, v.Unit, v.Class, name); err != nil {
			return err
		}
	}
	return nil
}

// Keys returns the keys that have points, sorted.
func (s *SQLite) Keys() ([]Key, error) {
	if s.db == nil {
		return nil, nil
	}
	rows, err := s.db.Query("SELECT benchmark, platform, build FROM series ORDER BY benchmark, platform, build")
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	var keys []Key
	for rows.Next() {
		var k Key
		if err := rows.Scan(&k.Benchmark, &k.Platform, &k.Build); err != nil {
			return nil, s.explain(err)
		}
		keys = append(keys, k)
	}
	return keys, s.explain(rows.Err())
}

// Series returns the points of a key that have a metric, in order.
func (s *SQLite) Series(k Key, metric string) ([]Point, error) {
	points, err := s.points(`WHERE benchmark = ? AND platform = ? AND build = ?
		AND (? = '' OR EXISTS (SELECT 1 FROM value v JOIN metric m ON m.id = v.metric WHERE v.point = point.id AND m.name = ?))`,
		k.Benchmark, k.Platform, k.Build, metric, metric)
	if err != nil {
		return nil, err
	}
	return ordered(s.repository, points), nil
}

// At returns the points of a commit with their profiles.
func (s *SQLite) At(k Key, commit string) ([]Point, error) {
	points, err := s.points("WHERE benchmark = ? AND platform = ? AND build = ? AND revision = ?", k.Benchmark, k.Platform, k.Build, commit)
	for i := range points {
		if points[i].ProfileID == "" {
			continue
		}
		if points[i].Profile, err = s.Profile(points[i].ProfileID); err != nil {
			return nil, err
		}
	}
	return points, err
}

// Profile returns a profile by its id.
func (s *SQLite) Profile(id string) ([]byte, error) {
	if s.db == nil {
		return nil, fmt.Errorf("%s does not exist", s.path)
	}
	var content []byte
	err := s.db.QueryRow("SELECT content FROM profile WHERE id = ?", id).Scan(&content)
	if err == nil && contentID(content) != id {
		err = fmt.Errorf("%s is damaged: the content of a profile is not what it was", s.path)
	}
	return content, s.explain(err)
}

// points returns those that a condition selects, as they were added.
func (s *SQLite) points(where string, args ...any) ([]Point, error) {
	if s.db == nil {
		return nil, nil
	}
	rows, err := s.db.Query(`SELECT point.id, benchmark, platform, build, revision, commit_time, run_time, dirty, profile,
			metric.name, value.value, value.unit, value.class
		FROM point JOIN series ON series.id = point.series JOIN value ON value.point = point.id JOIN metric ON metric.id = value.metric `+
		where+" ORDER BY point.id, metric.name", args...)
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	var points []Point
	last := int64(-1)
	for rows.Next() {
		var p Point
		var id, commitTime, runTime int64
		var metric string
		var v Value
		if err := rows.Scan(&id, &p.Benchmark, &p.Platform, &p.Build, &p.Commit, &commitTime, &runTime, &p.Dirty, &p.ProfileID,
			&metric, &v.Value, &v.Unit, &v.Class); err != nil {
			return nil, s.explain(err)
		}
		if id != last {
			last = id
			p.CommitTime, p.Time, p.Metrics = moment(commitTime), moment(runTime), make(map[string]Value)
			points = append(points, p)
		}
		points[len(points)-1].Metrics[metric] = v
	}
	return points, s.explain(rows.Err())
}

// explain says in one sentence what to do about an error of the database.
func (s *SQLite) explain(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("%s is locked by another process, for more than %v: nothing was written", s.path, patience)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%s is damaged (%w): nothing was written", s.path, err)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("%s cannot be written or opened: %w", s.path, err)
	case codes.SQLITE_FULL:
		return fmt.Errorf("no room on the disk of %s: nothing was written", s.path)
	}
	return fmt.Errorf("%s: %w", s.path, err)
}
