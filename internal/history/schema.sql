-- The schema of a history, version 1. Other databases take the same tables,
-- with BYTEA for BLOB and an identity column for each INTEGER PRIMARY KEY.
-- Times are ns since 1970, 0 where unknown.

CREATE TABLE series (
	id        INTEGER PRIMARY KEY,
	benchmark TEXT NOT NULL,
	platform  TEXT NOT NULL,
	build     TEXT NOT NULL,
	UNIQUE (benchmark, platform, build)
);

CREATE TABLE metric (
	id    INTEGER PRIMARY KEY,
	name  TEXT NOT NULL,
	unit  TEXT NOT NULL,
	class TEXT NOT NULL, -- exact, bounded, noisy, or ''
	UNIQUE (name, unit, class)
);

-- What is equal is kept once: a profile is named by the hash of its content.
CREATE TABLE profile (
	id      TEXT PRIMARY KEY,
	content BLOB NOT NULL
);

CREATE TABLE point (
	id          INTEGER PRIMARY KEY, -- in the order of insertion
	identity    TEXT NOT NULL UNIQUE,
	series      INTEGER NOT NULL REFERENCES series (id),
	revision    TEXT NOT NULL, -- commit
	commit_time BIGINT NOT NULL,
	run_time    BIGINT NOT NULL,
	dirty       INTEGER NOT NULL,
	profile     TEXT NOT NULL -- id, or ''
);

CREATE INDEX point_of_series ON point (series, revision);

CREATE TABLE value (
	point  INTEGER NOT NULL REFERENCES point (id),
	metric INTEGER NOT NULL REFERENCES metric (id),
	value  DOUBLE PRECISION NOT NULL,
	PRIMARY KEY (point, metric)
);
