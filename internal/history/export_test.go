package history

import (
	"database/sql"
	"testing"
	"time"
)

// Execute runs statements on a database of any kind.
func Execute(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// Impatient makes processes wait shortly for others.
func Impatient(t *testing.T) {
	was := patience
	patience = 50 * time.Millisecond
	t.Cleanup(func() { patience = was })
}

// Lock keeps others from reading and writing a database, until release.
func Lock(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		db.Exec("ROLLBACK")
		db.Close()
	}
}
