package store

import (
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
)

// What callers may want to tell apart; errors wrap them.
var (
	ErrNotFound = errors.New("no such recording")
	ErrNothing  = errors.New("nothing has been recorded yet")
	ErrReadOnly = errors.New("the store can only be read")
	ErrFull     = errors.New("the disk is full")
	// ErrDamaged says that the database was found damaged in use. To close the store and
	// open it again sets the damaged file aside, unless other processes have it open too.
	ErrDamaged = errors.New("the database is damaged")
	ErrNewer   = errors.New("the database was made by a newer earshot")
	// ErrNoRoom says that a clip was not kept since little room is left; text goes on.
	ErrNoRoom = errors.New("too little room for clips")
)

// Primary result codes of SQLite (sqlite.org/rescode.html).
const (
	codeError      = 1
	codeBusy       = 5
	codeReadOnly   = 8
	codeIOErr      = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeConstraint = 19
	codeMismatch   = 20
	codeNotADB     = 26

	codeShortRead = codeIOErr | 2<<8
	codeShmSize   = codeIOErr | 19<<8 // no room for the index of the log
)

// classify wraps what SQLite says in one of the errors above, where one fits.
func classify(err error) error {
	switch code(err) {
	case codeReadOnly:
		return wrapped(ErrReadOnly, err)
	case codeCorrupt, codeNotADB:
		return wrapped(ErrDamaged, err)
	case codeFull:
		return wrapped(ErrFull, err)
	}
	if errors.Is(err, syscall.ENOSPC) || extendedCode(err) == codeShmSize {
		return wrapped(ErrFull, err)
	}
	return err
}

func wrapped(kind, err error) error {
	if errors.Is(err, kind) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// code is the primary result code in err, or 0.
func code(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func isBusy(err error) bool       { return code(err) == codeBusy }
func isFull(err error) bool       { return errors.Is(err, ErrFull) }
func isDamaged(err error) bool    { return errors.Is(err, ErrDamaged) }
func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
