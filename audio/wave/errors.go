package wave

import (
	"errors"
	"fmt"
)

// What Open, NewReader and Read say about input that is recognised but useless.
// They are wrapped with the file's name and the details.
var (
	ErrEmpty    = errors.New("empty input")
	ErrDamaged  = errors.New("damaged file")
	ErrRate     = errors.New("sample rate out of range")
	ErrChannels = errors.New("channel count out of range")
)

// Accepted lists what this package reads, for messages.
const Accepted = "WAV (PCM of 8, 16, 24 or 32 bits, IEEE float of 32 or 64 bits, A-law, mu-law; also RF64 and BW64), " +
	"FLAC, MP3, Ogg Vorbis, Ogg Opus"

// FormatError says that the input is in a format that is not read here.
type FormatError struct {
	File  string // as given to Open or NewReader
	Found string // the format found, e.g. "WAV with MS ADPCM (0x0002)"
	// Reason says what is missing where the format is known in principle; else "".
	Reason string
}

func (e *FormatError) Error() string {
	reason := ""
	if e.Reason != "" {
		reason = " (" + e.Reason + ")"
	}
	return fmt.Sprintf("%s: found %s, which cannot be read%s; accepted are %s", e.File, e.Found, reason, Accepted)
}

// named puts the file's name into err.
func named(name string, err error) error {
	if e, ok := errors.AsType[*FormatError](err); ok {
		e.File = name
		return err
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// damagedf is ErrDamaged with what is wrong.
func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}
