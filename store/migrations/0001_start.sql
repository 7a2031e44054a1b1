-- Times on the sample clock are microseconds since the start of the recording
-- (_us); wall clock times are milliseconds since 1970 UTC (_ms), NULL where the
-- clock was not set.
--
-- Salvage tells tables apart by their number of columns, since that is all a page
-- of a broken tree says: keep the numbers different, and add columns only at the end.

CREATE TABLE recordings (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    title       TEXT NOT NULL,
    source      TEXT NOT NULL,
    started_ms  INTEGER,
    state       TEXT NOT NULL CHECK (state IN ('recording', 'done', 'interrupted', 'deleting')),
    task        TEXT NOT NULL,
    language    TEXT NOT NULL,
    model       TEXT NOT NULL,
    duration_us INTEGER NOT NULL CHECK (duration_us >= 0)
) STRICT;

CREATE TABLE segments (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    recording         INTEGER NOT NULL REFERENCES recordings ON DELETE CASCADE,
    start_us          INTEGER NOT NULL CHECK (start_us >= 0),
    end_us            INTEGER NOT NULL CHECK (end_us >= start_us),
    wall_ms           INTEGER,
    text              TEXT NOT NULL,
    language          TEXT NOT NULL,
    speaker           TEXT NOT NULL,
    avg_logprob       REAL,
    no_speech_prob    REAL,
    compression_ratio REAL,
    temperature       REAL,
    model             TEXT NOT NULL,
    plan              TEXT NOT NULL,
    backend           TEXT NOT NULL,
    fallback          TEXT NOT NULL, -- why another backend or plan than the first choice
    notes             TEXT NOT NULL CHECK (json_type(notes) = 'array')
) STRICT;
CREATE INDEX segments_time ON segments (recording, start_us, id);

CREATE TABLE words (
    id          INTEGER PRIMARY KEY,
    segment     INTEGER NOT NULL REFERENCES segments ON DELETE CASCADE,
    n           INTEGER NOT NULL CHECK (n >= 0),
    start_us    INTEGER NOT NULL CHECK (start_us >= 0),
    end_us      INTEGER NOT NULL CHECK (end_us >= start_us),
    text        TEXT NOT NULL,
    probability REAL
) STRICT;
CREATE UNIQUE INDEX words_place ON words (segment, n);

CREATE TABLE events (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    recording INTEGER NOT NULL REFERENCES recordings ON DELETE CASCADE,
    kind      TEXT NOT NULL,
    at_us     INTEGER NOT NULL CHECK (at_us >= 0),
    until_us  INTEGER NOT NULL CHECK (until_us >= at_us),
    wall_ms   INTEGER,
    amount    INTEGER NOT NULL,
    detail    TEXT NOT NULL
) STRICT;
CREATE INDEX events_time ON events (recording, at_us, id);

-- Sound kept as files in clips/. A pending clip waits to be transcribed.
CREATE TABLE clips (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    recording INTEGER NOT NULL REFERENCES recordings ON DELETE CASCADE,
    start_us  INTEGER NOT NULL CHECK (start_us >= 0),
    end_us    INTEGER NOT NULL CHECK (end_us >= start_us),
    wall_ms   INTEGER,
    made_ms   INTEGER,
    file      TEXT NOT NULL UNIQUE CHECK (file NOT GLOB '*/*' AND file <> ''),
    bytes     INTEGER NOT NULL CHECK (bytes >= 0),
    pending   INTEGER NOT NULL CHECK (pending IN (0, 1)),
    failure   TEXT NOT NULL -- why it could not be transcribed so far
) STRICT;
CREATE INDEX clips_time ON clips (recording, start_us, id);
CREATE INDEX clips_pending ON clips (id) WHERE pending;

-- Where copies of this database are, so that what is deleted goes from them too.
CREATE TABLE backups (
    path    TEXT PRIMARY KEY,
    made_ms INTEGER
) STRICT;

-- Damaged databases that were set aside; done is 1 when what they hold is here.
CREATE TABLE salvage (
    file   TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    done   INTEGER NOT NULL CHECK (done IN (0, 1)),
    rows   INTEGER NOT NULL,
    at_ms  INTEGER
) STRICT;

CREATE VIRTUAL TABLE segments_fts USING fts5 (
    text, content = 'segments', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
-- Without this, words of deleted text stay in the index until it is merged.
INSERT INTO segments_fts (segments_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER segments_insert AFTER INSERT ON segments BEGIN
    INSERT INTO segments_fts (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER segments_delete AFTER DELETE ON segments BEGIN
    INSERT INTO segments_fts (segments_fts, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER segments_update AFTER UPDATE OF text ON segments BEGIN
    INSERT INTO segments_fts (segments_fts, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO segments_fts (rowid, text) VALUES (new.id, new.text);
END;
