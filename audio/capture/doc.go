// Package capture delivers live sound: 16 kHz mono samples with their position, from a
// sound device, a file that is paced like one, or a pipe.
//
// # Time
//
// The sample clock never stops. Where a device gave nothing (it was unplugged, its
// driver lost samples, or the reader was too slow) a Block says how much is missing,
// so that the position of what follows is right. The clock starts with the first
// sample; a device that is not there yet has no clock.
//
// # Devices
//
// PortAudio runs in a process of its own (`earshot capture`, here Child), since sound
// drivers hang, crash, and keep lists of devices that are out of date. Whatever goes
// wrong there has one cure: the process is ended and started again, which looks for
// the device by its name once more. The process sends what it reads through a pipe, as
// the device gives it; the supervisor in this process mixes, converts, filters and
// buffers it. A device that is missing or lost is a state with a reason (Status), never
// an end.
//
// The messages of the pipe are documented in wire.go.
//
// # Building
//
// PortAudio is compiled in with cgo and the build tag portaudio (`make build` sets it
// where PortAudio's headers are installed). Without it all other sources work, and
// devices fail with ErrNoPortAudio.
//
// # What it owns
//
// A Source owns its goroutines, the process it started, and a ring of Options.Buffer.
// The package reads files and converts rates only through the functions in Options: it
// knows no file format and no filter but its own high-pass.
package capture
