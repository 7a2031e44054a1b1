package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Clip is a file with the sound of a stretch of a recording.
type Clip struct {
	ID         int64
	Recording  int64
	Start, End time.Duration // on the sample clock
	Wall       time.Time     // the wall clock at Start
	Type       string        // the ending of the file's name: "wav", "flac"
	// Pending clips have not been transcribed yet. Nothing but lack of space ends them,
	// and that only where text may go for space too: they are what was said.
	Pending bool
	Failure string // why it could not be transcribed so far
	Bytes   int64
	Path    string // of the file
}

// SaveClip stores a clip, whose file write fills, and returns it with ID, Bytes and
// Path. The file is on the disk before the row that names it. Where little room is left
// a clip that is not pending gives ErrNoRoom. Without history no clip is kept: the
// returned ID is 0.
func (s *Store) SaveClip(ctx context.Context, c Clip, write func(io.WriteSeeker) error) (Clip, error) {
	if s.opts.NoHistory || !c.Pending && !s.settings().KeepAudio {
		return Clip{}, nil
	}
	fail := func(err error) (Clip, error) {
		return Clip{}, fmt.Errorf("save clip of recording %d at %v: %w", c.Recording, c.Start, classify(err))
	}
	if err := s.writable(); err != nil {
		return fail(err)
	}
	if s.makeRoom(ctx); !c.Pending && s.problems.reason(ProblemSpace) != "" {
		return fail(ErrNoRoom)
	}
	path, err := s.writeClip(c, write)
	if err != nil {
		return fail(err)
	}
	c.Path, c.Bytes = path, size(path)
	err = s.write(ctx, func(tx *sql.Tx) error {
		c.ID, err = insert(ctx, tx, `INSERT INTO clips (recording, start_us, end_us, wall_ms, made_ms, file, bytes, pending, failure)
			SELECT id, ?, ?, ?, ?, ?, ?, ?, '' FROM recordings WHERE id = ? AND state <> 'deleting'`,
			c.Start.Microseconds(), c.End.Microseconds(), millis(c.Wall), millis(s.opts.Now()), filepath.Base(path), c.Bytes, c.Pending, c.Recording)
		return err
	})
	if err != nil {
		os.Remove(path)
		return fail(err)
	}
	return c, nil
}

const partial = ".part"

func (s *Store) writeClip(c Clip, write func(io.WriteSeeker) error) (path string, err error) {
	f, err := os.CreateTemp(s.path(clipsDir), fmt.Sprintf("r%d-%dms-*.%s%s", c.Recording, c.Start.Milliseconds(), c.Type, partial))
	if err != nil {
		return "", err
	}
	path = strings.TrimSuffix(f.Name(), partial)
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return path, nil
}

// rename moves a file within its folder for good.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return flush(filepath.Dir(to))
}

// flush sees to it that a file, or what was renamed or removed in a folder, stays so.
func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Clips lists clips of a recording in the order of their starts.
func (s *Store) Clips(ctx context.Context, recording int64) ([]Clip, error) {
	return s.clips(ctx, "recording = ? ORDER BY start_us, id", recording)
}

// Pending lists up to limit clips that wait to be transcribed, oldest first.
func (s *Store) Pending(ctx context.Context, limit int) ([]Clip, error) {
	return s.clips(ctx, "pending ORDER BY id LIMIT ?", limit)
}

func (s *Store) clips(ctx context.Context, where string, args ...any) ([]Clip, error) {
	list := []Clip{}
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, recording, start_us, end_us, wall_ms, file, bytes, pending, failure FROM clips WHERE "+where, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c Clip
			var start, end int64
			var wall sql.NullInt64
			var file string
			if err := rows.Scan(&c.ID, &c.Recording, &start, &end, &wall, &file, &c.Bytes, &c.Pending, &c.Failure); err != nil {
				return err
			}
			c.Start, c.End, c.Wall = microseconds(start), microseconds(end), wallTime(wall)
			c.Path, c.Type = filepath.Join(s.path(clipsDir), filepath.Base(file)), strings.TrimPrefix(filepath.Ext(file), ".")
			list = append(list, c)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list clips: %w", err)
	}
	return list, nil
}

// FailClip notes why a pending clip could not be transcribed. It stays pending, unless
// there is no use in another try.
func (s *Store) FailClip(ctx context.Context, id int64, reason string, again bool) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, "UPDATE clips SET failure = ?, pending = ? WHERE id = ?", reason, again, id))
	})
	if err != nil {
		return fmt.Errorf("failure of clip %d: %w", id, err)
	}
	return nil
}

// deleteClips deletes those that a condition holds for.
func (s *Store) deleteClips(ctx context.Context, where string, args ...any) error {
	list, err := s.clips(ctx, where, args...)
	if err != nil {
		return err
	}
	return s.dropClips(ctx, list)
}

// dropClips removes files and then their rows, so that no file is left without a row.
func (s *Store) dropClips(ctx context.Context, list []Clip) error {
	if len(list) == 0 {
		return nil
	}
	for _, c := range list {
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete clip: %w", err)
		}
	}
	if err := flush(s.path(clipsDir)); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, c := range list {
			if _, err := tx.ExecContext(ctx, "DELETE FROM clips WHERE id = ?", c.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweepClips removes files that no row names, whose writing was cut off, and rows without
// a file, whose deletion was. It is for when no other process has the store open. After a
// salvage there may be files whose rows are lost; those stay.
func (s *Store) sweepClips(ctx context.Context) error {
	var salvages int
	if err := s.w.QueryRowContext(ctx, "SELECT count(*) FROM salvage").Scan(&salvages); err != nil {
		return classify(err)
	}
	entries, err := os.ReadDir(s.path(clipsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		var known bool
		if err := s.w.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM clips WHERE file = ?)", e.Name()).Scan(&known); err != nil {
			return classify(err)
		}
		if !known && (salvages == 0 || strings.HasSuffix(e.Name(), partial)) {
			if err := os.Remove(filepath.Join(s.path(clipsDir), e.Name())); err != nil {
				return err
			}
		}
	}
	clips, err := s.clips(ctx, "pending = 0")
	if err != nil {
		return err
	}
	return s.dropClips(ctx, slices.DeleteFunc(clips, func(c Clip) bool {
		_, err := os.Stat(c.Path)
		return !errors.Is(err, fs.ErrNotExist)
	}))
}
