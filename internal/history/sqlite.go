package history

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
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
var patience = 30 * time.Second

// What never was a history, nor will be one.
var (
	errForeign = errors.New("is a database of another program")
	errNoFile  = errors.New("is no file, so there can be no history in it")
)

// SQLite is a Store in one file. The file is made by the first Add: looking at
// a history writes nothing. Methods may be called from several goroutines.
//
// What cannot be added because the file is locked or damaged is kept beside it,
// and added by the next process that can; see Waiting.
type SQLite struct {
	path       string
	repository string // whose commit graph orders points, "" for none

	opening sync.Mutex
	db      *sql.DB // nil before the first use
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

// OpenFile returns the history in a file, which need not exist yet, and which
// is opened when it is used. Points are ordered by the commits of the
// repository, "" for none.
func OpenFile(path, repository string) (*SQLite, error) {
	path, err := filepath.Abs(path)
	return &SQLite{path: path, repository: repository}, err
}

// Path returns the file of the history.
func (s *SQLite) Path() string { return s.path }

// open opens the file, if that was not done yet. Where there is none it makes
// one, for points that wait too, or opens nothing.
func (s *SQLite) open(create bool) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.db != nil {
		return nil
	}
	info, err := os.Stat(s.path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", s.path, errNoFile)
	}
	missing := errors.Is(err, os.ErrNotExist)
	if _, points := s.Waits(); points > 0 {
		create = true
	}
	if !create && (missing || err == nil && info.Size() == 0) {
		return nil
	}
	if missing {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return err
		}
	}
	at := url.URL{Scheme: "file", Path: s.path, RawQuery: url.Values{
		"_txlock": {"immediate"}, // a reader that becomes a writer would not wait
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), "foreign_keys(1)"},
	}.Encode()}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return s.explain(err)
	}
	db.SetMaxOpenConns(1)
	if err := s.prepare(db); err != nil {
		db.Close()
		return s.explain(err)
	}
	s.db = db
	s.takeWaiting()
	return nil
}

// prepare gives a new file its tables, and makes sure that an old one is a
// history of a version that we know.
func (s *SQLite) prepare(db *sql.DB) error {
	application, version, err := s.header(db)
	if err != nil || application == applicationID && version == schemaVersion {
		return err
	}
	tx, err := db.Begin()
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
		return fmt.Errorf("%s %w", s.path, errForeign)
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
	if err = q.QueryRow("PRAGMA application_id").Scan(&application); err == nil {
		err = q.QueryRow("PRAGMA user_version").Scan(&version)
	}
	return application, version, err
}

// Close ends the use of the store.
func (s *SQLite) Close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// Add keeps a point, at once and whole or not at all. One that cannot be added
// now is not lost: the error is a *Waiting then, unless it never could be.
func (s *SQLite) Add(p Point) error {
	_, err := s.AddAll([]Point{p})
	if err != nil && p.Check() == nil && !errors.Is(err, errForeign) && !errors.Is(err, errNoFile) {
		return s.wait(p, err)
	}
	return err
}

// AddAll keeps points: all of them, or none where it returns an error. It tells
// how many were not there before.
func (s *SQLite) AddAll(points []Point) (added int, err error) {
	for i := range points {
		if err := points[i].Check(); err != nil {
			return 0, err
		}
	}
	if err := s.open(true); err != nil {
		return 0, err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return 0, s.explain(err)
	}
	defer tx.Rollback()
	for i := range points {
		new, err := insert(tx, points[i])
		if err != nil {
			return 0, s.explain(err)
		}
		if new {
			added++
		}
	}
	return added, s.explain(tx.Commit())
}

// insert adds a point, unless it is there.
func insert(tx *sql.Tx, p Point) (new bool, err error) {
	if p.Profile != nil {
		p.ProfileID = ContentID(p.Profile)
		if _, err := tx.Exec("INSERT INTO profile (id, content) VALUES (?, ?) ON CONFLICT DO NOTHING", p.ProfileID, p.Profile); err != nil {
			return false, err
		}
	}
	if _, err := tx.Exec("INSERT INTO series (benchmark, platform, build) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", p.Benchmark, p.Platform, p.Build); err != nil {
		return false, err
	}
	var point int64
	err = tx.QueryRow(`INSERT INTO point (identity, series, revision, commit_time, run_time, dirty, profile)
		SELECT ?, id, ?, ?, ?, ?, ? FROM series WHERE benchmark = ? AND platform = ? AND build = ?
		ON CONFLICT DO NOTHING RETURNING id`,
		p.identity(), p.Commit, stamp(p.CommitTime), stamp(p.Time), p.Dirty, p.ProfileID,
		p.Benchmark, p.Platform, p.Build).Scan(&point)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil // it is there already
	}
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Metrics)) {
		v := p.Metrics[name]
		if _, err := tx.Exec("INSERT INTO metric (name, unit, class) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", name, v.Unit, v.Class); err != nil {
			return false, err
		}
		if _, err := tx.Exec("INSERT INTO value (point, metric, value) SELECT ?, id, ? FROM metric WHERE name = ? AND unit = ? AND class = ?",
			point, v.Value, name, v.Unit, v.Class); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Keys returns the keys that have points, sorted.
func (s *SQLite) Keys() ([]Key, error) {
	if err := s.open(false); err != nil || s.db == nil {
		return nil, err
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
	ReadGraph(s.repository, points).Sort(points)
	return points, nil
}

// All returns every point as it was added.
func (s *SQLite) All() ([]Point, error) { return s.points("") }

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
	if err := s.open(false); err != nil {
		return nil, err
	}
	if s.db == nil {
		return nil, fmt.Errorf("%s does not exist", s.path)
	}
	var content []byte
	err := s.db.QueryRow("SELECT content FROM profile WHERE id = ?", id).Scan(&content)
	if err == nil && ContentID(content) != id {
		err = fmt.Errorf("%s is damaged: the content of a profile is not what it was", s.path)
	}
	return content, s.explain(err)
}

// points returns those that a condition selects, as they were added.
func (s *SQLite) points(where string, args ...any) ([]Point, error) {
	if err := s.open(false); err != nil || s.db == nil {
		return nil, err
	}
	tx, err := s.db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true}) // all of one moment
	if err != nil {
		return nil, s.explain(err)
	}
	defer tx.Rollback()
	points, ids, err := scanPoints(tx, where, args)
	if err != nil {
		return nil, s.explain(err)
	}
	return points, s.explain(scanValues(tx, points, ids, where, args))
}

func scanPoints(tx *sql.Tx, where string, args []any) (points []Point, ids []int64, err error) {
	rows, err := tx.Query(`SELECT point.id, benchmark, platform, build, revision, commit_time, run_time, dirty, profile
		FROM point JOIN series ON series.id = point.series `+where+" ORDER BY point.id", args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p Point
		var id, commitTime, runTime int64
		if err := rows.Scan(&id, &p.Benchmark, &p.Platform, &p.Build, &p.Commit, &commitTime, &runTime, &p.Dirty, &p.ProfileID); err != nil {
			return nil, nil, err
		}
		p.CommitTime, p.Time, p.Metrics = moment(commitTime), moment(runTime), make(map[string]Value)
		points, ids = append(points, p), append(ids, id)
	}
	return points, ids, rows.Err()
}

func scanValues(tx *sql.Tx, points []Point, ids []int64, where string, args []any) error {
	type metric struct {
		name string
		Value
	}
	metrics := make(map[int64]metric)
	rows, err := tx.Query("SELECT id, name, unit, class FROM metric")
	if err != nil {
		return err
	}
	for rows.Next() {
		var id int64
		var m metric
		if err := rows.Scan(&id, &m.name, &m.Unit, &m.Class); err != nil {
			return errors.Join(err, rows.Close())
		}
		metrics[id] = m
	}
	if err := rows.Err(); err != nil {
		return err
	}
	restriction := ""
	if where != "" {
		restriction = "WHERE value.point IN (SELECT point.id FROM point JOIN series ON series.id = point.series " + where + ")"
	}
	rows, err = tx.Query("SELECT point, metric, value FROM value "+restriction+" ORDER BY point", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	at := 0
	var point, id int64
	var value float64
	for rows.Next() {
		if err := rows.Scan(&point, &id, &value); err != nil {
			return err
		}
		for at < len(ids) && ids[at] < point {
			at++
		}
		if at == len(ids) || ids[at] != point {
			continue
		}
		m := metrics[id]
		m.Value.Value = value
		points[at].Metrics[m.name] = m.Value
	}
	return rows.Err()
}

// explain says in one sentence what to do about an error of the database.
func (s *SQLite) explain(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("%s is locked by another process, for more than %v", s.path, patience)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%s is damaged: %w; it is left as it is. mallow history rescue --db FILE -o NEW saves what can be read of it", s.path, err)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("%s cannot be opened or written: %w", s.path, err)
	case codes.SQLITE_FULL:
		return fmt.Errorf("there is no room on the disk of %s", s.path)
	}
	return fmt.Errorf("%s: %w", s.path, err)
}
