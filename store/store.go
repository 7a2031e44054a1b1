// Package store keeps what was said: recordings, their segments, words and events in
// one SQLite database, and clips of sound as files beside it.
//
// It owns these files in its folder, and nobody else touches them:
//
//	earshot.db, -wal, -shm   the database and SQLite's log
//	earshot.lock             who has it open, see lock.go
//	earshot.copies           held by who makes or changes copies
//	earshot.mark             the last ids that were committed, see mark.go
//	earshot.damaged          what was found wrong in use, see damaged.go
//	earshot.reserve          room for text on a full disk, see space.go
//	earshot-damaged-*        databases that were found damaged, set aside
//	backups/                 copies made at intervals
//	clips/                   WAV or other sound files
//
// What is committed stays: the log is synced at every commit (synchronous=FULL), so
// that not even a power cut takes a segment that was acknowledged. There is one writing
// connection, used by one caller at a time in the order of their coming, always in an
// immediate transaction: one that reads first and then writes could otherwise fail at
// once, whatever the busy timeout (cases.md, C103). Other processes may write too; all
// wait for each other. Readers have connections of their own, and no read transaction
// outlives a piece of a few hundred rows, however slowly a caller takes them, since the
// log cannot be reset while one is open (C105).
//
// Deleted means gone: pages are overwritten (secure_delete, in the search index too),
// the log is emptied, clips are removed, and backups and salvaged files go the same way.
//
// A database that is damaged is set aside and a new one begun, at once; older rows come
// back from what can be read and from the last backup (salvage.go).
//
// The package knows no audio and no transcript formats. It logs nothing: what is wrong
// is an error, or stands in Status until it is right again.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options say where and how. Only Dir is needed.
type Options struct {
	Dir string // the folder; made if it is not there
	// NoHistory keeps everything in memory, and a recording only until it is finished.
	NoHistory bool
	Retention Retention
	// MinFree is how many bytes of the disk stay free: below, the oldest clips go, and
	// no new ones are kept. 0 is 64 MiB.
	MinFree int64
	// Reserve is the size of a file that gives text room when the disk is full. 0 is
	// 2 MiB.
	Reserve int64
	// TextForSpace allows that the oldest text is deleted too while less than MinFree is
	// free.
	TextForSpace bool
	// BackupEvery is the interval of copies in backups/ while Run runs; 0 makes none.
	BackupEvery time.Duration
	Backups     int              // how many of them are kept; 0 is 2
	Now         func() time.Time // the wall clock; nil is time.Now
}

const (
	dbName      = "earshot.db"
	clipsDir    = "clips"
	backupsDir  = "backups"
	reserveName = "earshot.reserve"

	// checkTime bounds what Open spends looking for damage: a restart takes less than
	// two seconds, however large the database. Run looks at the rest.
	checkTime = time.Second
)

// Store is an open database. Its methods may be used by many goroutines.
type Store struct {
	opts Options
	w, r *sql.DB       // the writing connection, and readers
	turn chan struct{} // held by who writes
	lock *fileLock     // nil in memory and where the folder is read-only
	mark *markFile     // nil likewise

	merged string // a temporary copy, where a log could not be read otherwise

	problems problems
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	broken   context.Context // ends when damage is found
	breaks   context.CancelFunc
	work     sync.WaitGroup // goroutines of the store
	salvaged chan struct{}  // closed when nothing is left to salvage
	checked  bool           // the whole database was checked since Open
	clock    clockWatch     // of Run

	mu        sync.Mutex // over what follows
	retention Retention
	gone      []Clip // without a file; their rows are to go

	closing sync.Once
	closed  error // what Close returns
}

// Open opens the store in a folder, or makes one. A damaged database is set aside and
// reported in Status; it is no error. In a folder that cannot be written, what is there
// can be read, and writing gives ErrReadOnly.
//
// The first to open it, when no other process has, looks for damage, brings the schema
// up to date and marks as interrupted what was being recorded when the power went.
//
// On a full disk the last of the reserve goes, which is kept for this.
func Open(ctx context.Context, opts Options) (*Store, error) {
	s, err := open(ctx, opts)
	if isFull(err) && !opts.NoHistory && os.Remove(filepath.Join(opts.Dir, reserveName)) == nil {
		s, err = open(ctx, opts)
	}
	return s, err
}

func open(ctx context.Context, opts Options) (*Store, error) {
	opts.MinFree, opts.Reserve = cmp.Or(opts.MinFree, 64<<20), cmp.Or(opts.Reserve, 2<<20)
	opts.Backups = cmp.Or(opts.Backups, 2)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{opts: opts, turn: make(chan struct{}, 1), salvaged: make(chan struct{}), retention: opts.Retention}
	s.problems.now = opts.Now
	s.clock = clockWatch{wall: opts.Now(), at: time.Now()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.broken, s.breaks = context.WithCancel(s.ctx)
	connect := s.openFolder
	if opts.NoHistory {
		connect = s.openMemory
	}
	if err := connect(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("open %s: %w", s.path(dbName), classify(err))
	}
	return s, nil
}

// Exists says whether there is a store in a folder, be it damaged.
func Exists(dir string) bool {
	for _, name := range []string{dbName, markName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func (s *Store) path(name string) string { return filepath.Join(s.opts.Dir, name) }

// openMemory has one connection for all, since a second one would see another memory.
func (s *Store) openMemory(ctx context.Context) error {
	close(s.salvaged)
	s.checked = true
	var err error
	if s.w, err = connect(":memory:", pragmasWrite, 1); err != nil {
		return err
	}
	s.r = s.w
	return migrate(ctx, s.w, s.opts.Now)
}

func (s *Store) openFolder(ctx context.Context) error {
	if err := s.makeFolders(); err != nil {
		if !errors.Is(err, fs.ErrPermission) && !isReadOnlyFS(err) {
			return err
		}
		return s.openReadOnly(ctx, err)
	}
	var err error
	if s.lock, err = openLock(s.path("earshot.lock")); err != nil {
		return err
	}
	first, err := s.lock.acquire(ctx)
	if err != nil {
		return err
	}
	if first {
		if err := s.first(ctx); err != nil {
			return err
		}
	}
	if err := s.connect(ctx); err != nil {
		return s.found(err)
	}
	if first {
		// Nobody may delete anything before it is salvaged.
		release, err := s.holdCopies(ctx)
		if err != nil {
			return err
		}
		s.work.Go(func() { defer release(); s.salvageAll() })
	} else {
		close(s.salvaged)
		if err := s.known(ctx); err != nil {
			return err
		}
	}
	return s.lock.share()
}

// makeFolders also finds out whether the folder can be written.
func (s *Store) makeFolders() error {
	for _, dir := range []string{s.opts.Dir, s.path(clipsDir), s.path(backupsDir)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(s.path("earshot.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// first is the work of the process that finds the database open nowhere else.
func (s *Store) first(ctx context.Context) error {
	reason, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	given := readMark(s.path(markName))
	if reason != "" {
		if err := s.setAside(); err != nil {
			return fmt.Errorf("set the damaged database aside: %w", err)
		}
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, s.w, s.opts.Now); err != nil {
		return err
	}
	if err := s.adopt(ctx, reason, given); err != nil {
		return err
	}
	s.sweepCopies()
	s.makeReserve()
	if err := s.interrupt(ctx); err != nil {
		return err
	}
	return s.sweepClips(ctx)
}

// connect opens the connections, unless they are open.
func (s *Store) connect(ctx context.Context) (err error) {
	if s.w != nil {
		return nil
	}
	// SQLite gives its log the permissions of the database.
	f, err := os.OpenFile(s.path(dbName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if s.w, err = connect(s.path(dbName), pragmasWrite, 1); err != nil {
		return err
	}
	if s.r, err = connect(s.path(dbName), pragmasRead, 4); err != nil {
		return err
	}
	if s.mark, err = openMark(s.path(markName)); err != nil {
		return err
	}
	return classify(s.w.PingContext(ctx))
}

// Salvaged waits until the rows of a damaged database are back.
func (s *Store) Salvaged(ctx context.Context) error {
	select {
	case <-s.salvaged:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for salvage: %w", ctx.Err())
	}
}

// Close ends the work of the store and empties the log. What is committed needs no
// Close.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = s.close() })
	return s.closed
}

func (s *Store) close() error {
	s.stop()
	s.work.Wait()
	var err error
	if s.w != nil && s.lock != nil {
		_, err = s.checkpoint(context.Background(), checkpointWait)
	}
	for _, db := range []*sql.DB{s.r, s.w} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if s.merged != "" {
		os.Remove(s.merged)
	}
	if s.mark != nil {
		s.mark.Close()
	}
	if s.lock != nil {
		s.lock.Close()
	}
	return err
}
