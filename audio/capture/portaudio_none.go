//go:build !(cgo && portaudio)

package capture

// Built says whether this program can open sound devices.
const Built = false

func openDriver() (driver, error) { return nil, ErrNoPortAudio }
