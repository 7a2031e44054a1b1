package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the steps of the schema in their order; step i leads to version i+1.
var migrations = func() []string {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		panic("BUG: no migrations")
	}
	return names
}()

// migrate brings a database to the newest schema, each step in a transaction of its
// own. There is no way back.
func migrate(ctx context.Context, db *sql.DB, now func() time.Time) error {
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	for i := version; i < len(migrations); i++ {
		if err := step(ctx, db, i, now()); err != nil {
			return fmt.Errorf("bring the schema to version %d: %w", i+1, classify(err))
		}
	}
	return nil
}

func step(ctx context.Context, db *sql.DB, i int, now time.Time) error {
	text, err := migrationFiles.ReadFile(migrations[i])
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations
		(version INTEGER PRIMARY KEY, name TEXT NOT NULL, at_ms INTEGER) STRICT`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO migrations VALUES (?, ?, ?)", i+1, migrations[i], millis(now)); err != nil {
		return err
	}
	// The driver has no placeholders in PRAGMA.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", i+1)); err != nil {
		return err
	}
	return tx.Commit()
}

// schemaVersion is 0 for an empty database, ErrNewer for one that we don't know. The version stands in two places, so that
// damage to one is not taken for a newer program.
func schemaVersion(ctx context.Context, db *sql.DB) (int, error) {
	var version, rows, tables int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, classify(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'").Scan(&tables); err != nil {
		return 0, classify(err)
	}
	if tables > 0 {
		if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&rows); err != nil {
			return 0, classify(err)
		}
	}
	if rows != version {
		return 0, fmt.Errorf("%w: its header says schema version %d, its table of migrations %d", ErrDamaged, version, rows)
	}
	if version > len(migrations) {
		return 0, fmt.Errorf("%w: its schema is version %d, known are versions up to %d", ErrNewer, version, len(migrations))
	}
	return version, nil
}
