package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Segment is a stretch of text with its place in a recording, and how it came about.
type Segment struct {
	ID        int64
	Recording int64
	// Start and End are on the sample clock, since the start of the recording. They are
	// stored in microseconds.
	Start, End time.Duration
	Wall       time.Time // the wall clock at Start, taken when the sound was captured; zero where it was not set
	Text       string
	Language   string
	Speaker    string
	Decoding   *Decoding // nil where no decoder was asked
	Model      string
	Plan       string   // what the planner chose, in its words
	Backend    string   // "cpu" or "npu"
	Fallback   string   // why it is not the backend or plan that was chosen first
	Notes      []string // remarks, such as low confidence
	Words      []Word
}

// Decoding is how sure the decoder was. NaN and infinities are stored as unknown, and
// come back as NaN.
type Decoding struct {
	AvgLogProb, NoSpeechProb, CompressionRatio, Temperature float64
}

// Word is one word of a segment.
type Word struct {
	Start, End  time.Duration // on the sample clock, since the start of the recording
	Text        string
	Probability float64
}

// Event is something that happened to a recording, other than speech.
type Event struct {
	ID        int64
	Recording int64
	Kind      string        // such as "gap", "overflow", "state"; "clock" is the store's own
	At, Until time.Duration // on the sample clock; equal for a moment
	Wall      time.Time
	Amount    int64 // samples lost, milliseconds jumped; what Kind counts
	Detail    string
}

// Utterance is what is stored in one transaction: the text of a stretch of speech, which
// may be none, and what belongs to it.
type Utterance struct {
	Segments []Segment
	Events   []Event
	// Clip is the pending clip that this is the text of, or 0. It is pending no more;
	// where clips are not kept, its file goes.
	Clip int64
	// Until is how much has been heard so far; the recording is at least as long.
	Until time.Duration
}

// clockJump is how far the wall clock may move against the sample clock from one
// segment to the next before that counts as a jump.
const clockJump = 2 * time.Second

// Append stores an utterance and returns the ids of its segments. When it returns, they
// are on the disk. Where the wall clock has jumped since the segment before, an event
// "clock" says by how many milliseconds. ErrNotFound says that the recording was deleted.
func (s *Store) Append(ctx context.Context, recording int64, u Utterance) (ids []int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		ids, err = appendUtterance(ctx, tx, recording, u)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store %d segments of recording %d: %w", len(u.Segments), recording, err)
	}
	if u.Clip != 0 && !s.settings().KeepAudio {
		// The text is stored: that its clip could not be deleted must not look otherwise.
		if err := s.deleteClips(ctx, "id = ?", u.Clip); err != nil {
			s.problems.note(ProblemRetention, err)
		}
	}
	return ids, nil
}

func appendUtterance(ctx context.Context, tx *sql.Tx, recording int64, u Utterance) (ids []int64, err error) {
	until := u.Until
	for _, seg := range u.Segments {
		until = max(until, seg.End)
	}
	for _, e := range u.Events {
		until = max(until, e.Until)
	}
	if err := one(tx.ExecContext(ctx, "UPDATE recordings SET duration_us = max(duration_us, ?) WHERE id = ? AND state <> 'deleting'",
		until.Microseconds(), recording)); err != nil {
		return nil, err
	}
	for _, seg := range u.Segments {
		if err := noteClockJump(ctx, tx, recording, seg); err != nil {
			return nil, err
		}
		id, err := insertSegment(ctx, tx, recording, seg)
		if err != nil {
			return nil, fmt.Errorf("segment at %v: %w", seg.Start, err)
		}
		ids = append(ids, id)
	}
	for _, e := range u.Events {
		if _, err := insertEvent(ctx, tx, recording, e); err != nil {
			return nil, err
		}
	}
	if u.Clip != 0 {
		if _, err := tx.ExecContext(ctx, "UPDATE clips SET pending = 0 WHERE id = ? AND recording = ?", u.Clip, recording); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func insertSegment(ctx context.Context, tx *sql.Tx, recording int64, seg Segment) (int64, error) {
	notes := []byte("[]")
	if len(seg.Notes) > 0 {
		notes, _ = json.Marshal(seg.Notes) // strings always can
	}
	var d [4]sql.NullFloat64
	if seg.Decoding != nil {
		d = [4]sql.NullFloat64{number(seg.Decoding.AvgLogProb), number(seg.Decoding.NoSpeechProb),
			number(seg.Decoding.CompressionRatio), number(seg.Decoding.Temperature)}
	}
	id, err := insert(ctx, tx, `INSERT INTO segments (recording, start_us, end_us, wall_ms, text, language, speaker,
		avg_logprob, no_speech_prob, compression_ratio, temperature, model, plan, backend, fallback, notes)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		recording, seg.Start.Microseconds(), seg.End.Microseconds(), millis(seg.Wall), seg.Text, seg.Language, seg.Speaker,
		d[0], d[1], d[2], d[3], seg.Model, seg.Plan, seg.Backend, seg.Fallback, string(notes))
	if err != nil || len(seg.Words) == 0 {
		return id, err
	}
	add, err := tx.PrepareContext(ctx, "INSERT INTO words (segment, n, start_us, end_us, text, probability) VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return 0, err
	}
	defer add.Close()
	for n, w := range seg.Words {
		if _, err := add.ExecContext(ctx, id, n, w.Start.Microseconds(), w.End.Microseconds(), w.Text, number(w.Probability)); err != nil {
			return 0, fmt.Errorf("word %d: %w", n, err)
		}
	}
	return id, nil
}

// number is NULL for what is no number.
func number(v float64) sql.NullFloat64 {
	return sql.NullFloat64{Float64: v, Valid: !math.IsNaN(v) && !math.IsInf(v, 0)}
}

func orNaN(v sql.NullFloat64) float64 {
	if !v.Valid {
		return math.NaN()
	}
	return v.Float64
}

// noteClockJump compares the two clocks at seg and at the segment stored before it.
func noteClockJump(ctx context.Context, tx *sql.Tx, recording int64, seg Segment) error {
	wall := millis(seg.Wall)
	if !wall.Valid {
		return nil
	}
	var before int64 // wall clock at 0 of the sample clock
	err := tx.QueryRowContext(ctx, `SELECT wall_ms - start_us / 1000 FROM segments
		WHERE recording = ? AND wall_ms IS NOT NULL AND start_us <= ? ORDER BY start_us DESC, id DESC LIMIT 1`,
		recording, seg.Start.Microseconds()).Scan(&before)
	if err != nil {
		if err == sql.ErrNoRows {
			return nil
		}
		return err
	}
	jump := wall.Int64 - seg.Start.Milliseconds() - before
	if max(jump, -jump) < clockJump.Milliseconds() {
		return nil
	}
	_, err = insertEvent(ctx, tx, recording, Event{Kind: "clock", At: seg.Start, Until: seg.Start, Wall: seg.Wall, Amount: jump,
		Detail: fmt.Sprintf("the clock was set by %v", time.Duration(jump)*time.Millisecond)})
	return err
}

func insertEvent(ctx context.Context, tx *sql.Tx, recording int64, e Event) (int64, error) {
	id, err := insert(ctx, tx, `INSERT INTO events (recording, kind, at_us, until_us, wall_ms, amount, detail) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		recording, e.Kind, e.At.Microseconds(), max(e.At, e.Until).Microseconds(), millis(e.Wall), e.Amount, e.Detail)
	if err != nil {
		return 0, fmt.Errorf("event %q: %w", e.Kind, err)
	}
	return id, nil
}
