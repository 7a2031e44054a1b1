package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
)

// piece is how many segments one read transaction takes.
const piece = 200

// Segments yields the segments of a recording with their words, in the order of their
// starts. Between pieces nothing is held: the caller may take as long as it likes, and
// segments that are stored meanwhile come too. An error is the last thing it yields;
// ErrNotFound where there is no such recording, at first or, since someone deletes it,
// later.
func (s *Store) Segments(ctx context.Context, recording int64) iter.Seq2[Segment, error] {
	return func(yield func(Segment, error) bool) {
		at, id := int64(-1), int64(0)
		for {
			list, err := s.segmentsAfter(ctx, recording, at, id)
			if err != nil {
				yield(Segment{}, fmt.Errorf("read segments of recording %d: %w", recording, err))
				return
			}
			for _, seg := range list {
				if !yield(seg, nil) {
					return
				}
				at, id = seg.Start.Microseconds(), seg.ID
			}
			if len(list) < piece {
				return
			}
		}
	}
}

const segmentColumns = `s.id, s.recording, s.start_us, s.end_us, s.wall_ms, s.text, s.language, s.speaker,
	s.avg_logprob, s.no_speech_prob, s.compression_ratio, s.temperature, s.model, s.plan, s.backend, s.fallback, s.notes`

func (s *Store) segmentsAfter(ctx context.Context, recording, at, id int64) (list []Segment, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		var there bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM recordings WHERE id = ? AND state <> 'deleting')", recording).Scan(&there); err != nil {
			return err
		}
		if !there {
			return ErrNotFound
		}
		list, err = querySegments(ctx, tx, `WHERE recording = ?1 AND (start_us, id) > (?2, ?3)
			ORDER BY start_us, id LIMIT ?4`, recording, at, id, piece)
		return err
	})
	return list, err
}

func querySegments(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]Segment, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+segmentColumns+" FROM segments s "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Segment
	for rows.Next() {
		seg, err := scanSegment(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, seg)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return list, addWords(ctx, tx, list)
}

func scanSegment(row scanner) (Segment, error) {
	var seg Segment
	var start, end int64
	var wall sql.NullInt64
	var d [4]sql.NullFloat64
	var notes string
	err := row.Scan(&seg.ID, &seg.Recording, &start, &end, &wall, &seg.Text, &seg.Language, &seg.Speaker,
		&d[0], &d[1], &d[2], &d[3], &seg.Model, &seg.Plan, &seg.Backend, &seg.Fallback, &notes)
	if err != nil {
		return seg, err
	}
	seg.Start, seg.End, seg.Wall = microseconds(start), microseconds(end), wallTime(wall)
	if d != [4]sql.NullFloat64{} {
		seg.Decoding = &Decoding{orNaN(d[0]), orNaN(d[1]), orNaN(d[2]), orNaN(d[3])}
	}
	if notes != "[]" {
		if err := json.Unmarshal([]byte(notes), &seg.Notes); err != nil {
			return seg, fmt.Errorf("notes of segment %d: %w", seg.ID, err)
		}
	}
	return seg, nil
}

func addWords(ctx context.Context, tx *sql.Tx, list []Segment) error {
	if len(list) == 0 {
		return nil
	}
	place := map[int64]int{}
	ids := make([]any, len(list))
	for i, seg := range list {
		place[seg.ID], ids[i] = i, seg.ID
	}
	rows, err := tx.QueryContext(ctx, "SELECT segment, start_us, end_us, text, probability FROM words WHERE segment IN (?"+
		strings.Repeat(", ?", len(ids)-1)+") ORDER BY segment, n", ids...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, start, end int64
		var w Word
		var p sql.NullFloat64
		if err := rows.Scan(&id, &start, &end, &w.Text, &p); err != nil {
			return err
		}
		w.Start, w.End, w.Probability = microseconds(start), microseconds(end), orNaN(p)
		seg := &list[place[id]]
		seg.Words = append(seg.Words, w)
	}
	return rows.Err()
}

// Events returns up to limit events of a recording behind the one with the id after (0
// for the first), in the order in which they were stored.
func (s *Store) Events(ctx context.Context, recording, after int64, limit int) ([]Event, error) {
	list := []Event{}
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, recording, kind, at_us, until_us, wall_ms, amount, detail FROM events
			WHERE recording = ? AND id > ? ORDER BY id LIMIT ?`, recording, after, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e Event
			var at, until int64
			var wall sql.NullInt64
			if err := rows.Scan(&e.ID, &e.Recording, &e.Kind, &at, &until, &wall, &e.Amount, &e.Detail); err != nil {
				return err
			}
			e.At, e.Until, e.Wall = microseconds(at), microseconds(until), wallTime(wall)
			list = append(list, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read events of recording %d: %w", recording, err)
	}
	return list, nil
}
