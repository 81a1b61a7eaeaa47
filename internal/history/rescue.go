package history

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Rescue copies what can be read of a damaged history into a new one, which
// must not exist. It tells how many points it saved. The damaged file is only
// read.
func Rescue(damaged, to string) (points int, err error) {
	if _, err := os.Lstat(to); err == nil {
		return 0, fmt.Errorf("%s is there already", to)
	}
	old, err := OpenFile(damaged, "")
	if err != nil {
		return 0, err
	}
	at := url.URL{Scheme: "file", Path: old.path, RawQuery: "mode=ro&immutable=1"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var last sql.NullInt64
	if err := db.QueryRow("SELECT max(id) FROM point").Scan(&last); err != nil {
		return 0, fmt.Errorf("nothing of %s can be read: %w", damaged, err)
	}
	new, err := OpenFile(to, "")
	if err != nil {
		return 0, err
	}
	defer new.Close()
	var whole []Point
	for id := int64(1); id <= last.Int64; id++ {
		if p, err := readOne(db, id); err == nil {
			whole = append(whole, p)
		}
		if len(whole) == 200 || id == last.Int64 { // profiles take room
			if _, err := new.AddAll(whole); err != nil {
				return points, err
			}
			points, whole = points+len(whole), nil
		}
	}
	if points == 0 {
		return 0, fmt.Errorf("no point of %s can be read", damaged)
	}
	return points, nil
}

// readOne reads a point with what of its profile is whole.
func readOne(db *sql.DB, id int64) (Point, error) {
	tx, err := db.Begin()
	if err != nil {
		return Point{}, err
	}
	defer tx.Rollback()
	points, ids, err := scanPoints(tx, "WHERE point.id = ?", []any{id})
	if err == nil && len(points) == 1 {
		err = scanValues(tx, points, ids, "WHERE point.id = ?", []any{id})
	}
	if err != nil || len(points) != 1 {
		return Point{}, errors.Join(err, errors.New("no such point"))
	}
	p := points[0]
	var content []byte
	if p.ProfileID != "" && tx.QueryRow("SELECT content FROM profile WHERE id = ?", p.ProfileID).Scan(&content) == nil && ContentID(content) == p.ProfileID {
		p.Profile = content
	}
	if p.Profile == nil {
		p.ProfileID = ""
	}
	return p, p.Check()
}
