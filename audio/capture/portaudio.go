//go:build cgo && portaudio

package capture

import (
	"errors"
	"fmt"
	"time"

	"github.com/gordonklaus/portaudio"

	"earshot/audio"
)

// Built says whether this program can open sound devices.
const Built = true

// portAudio is the driver. One at a time: PortAudio is one for the whole process.
type portAudio struct {
	infos []*portaudio.DeviceInfo
}

func openDriver() (driver, error) {
	if err := portaudio.Initialize(); err != nil {
		return nil, fmt.Errorf("start PortAudio: %w", err)
	}
	return &portAudio{}, nil
}

func (p *portAudio) close() { _ = portaudio.Terminate() } // the process ends with it

func (p *portAudio) inputs() ([]Device, error) {
	var err error
	if p.infos, err = portaudio.Devices(); err != nil {
		return nil, fmt.Errorf("list sound devices: %w", err)
	}
	standard, _ := portaudio.DefaultInputDevice() // an error means there is none
	var all []Device
	for i, d := range p.infos {
		if d.MaxInputChannels > 0 {
			all = append(all, Device{
				Name: d.Name, System: d.HostApi.Name,
				Rate: int(d.DefaultSampleRate), Channels: d.MaxInputChannels,
				Default: d == standard, index: i,
			})
		}
	}
	return all, nil
}

// deviceBuffer is how much a device is asked to hold for us: enough for a moment in
// which this process gets no processor.
const deviceBuffer = 200 * time.Millisecond

// open asks for float32, which holds all that a device of up to 24 bits has; PortAudio
// converts from whatever the device's samples are.
func (p *portAudio) open(d Device, f audio.Format) (input, error) {
	buf := make([]float32, f.Rate/blocksPerSecond*f.Channels)
	stream, err := portaudio.OpenStream(portaudio.StreamParameters{
		Input:           portaudio.StreamDeviceParameters{Device: p.infos[d.index], Channels: f.Channels, Latency: deviceBuffer},
		SampleRate:      float64(f.Rate),
		FramesPerBuffer: f.Rate / blocksPerSecond,
		Flags:           portaudio.ClipOff | portaudio.DitherOff,
	}, buf)
	if err != nil {
		if errors.Is(err, portaudio.DeviceUnavailable) {
			return nil, fmt.Errorf("%w: %w", errBusy, err)
		}
		return nil, err
	}
	if err := stream.Start(); err != nil {
		_ = stream.Close() // what matters is why it didn't start
		return nil, fmt.Errorf("start: %w", err)
	}
	return &portInput{stream, buf, f}, nil
}

type portInput struct {
	stream *portaudio.Stream
	buf    []float32 // the stream's
	format audio.Format
}

// read sleeps until the device has enough, and reads then. Left alone, PortAudio polls
// devices behind a sound server some thousand times a second while a block fills.
func (p *portInput) read(buf []float32) (bool, error) {
	for frames := len(buf) / p.format.Channels; ; {
		n, err := p.stream.AvailableToRead()
		if errors.Is(err, portaudio.InputOverflowed) {
			break // Read says so too
		}
		if err != nil {
			return false, fmt.Errorf("ask the device: %w", err)
		}
		if n >= frames {
			break
		}
		time.Sleep(max(time.Millisecond, time.Duration(frames-n)*time.Second/time.Duration(p.format.Rate)))
	}
	err := p.stream.Read()
	lost := errors.Is(err, portaudio.InputOverflowed)
	if err != nil && !lost {
		return false, fmt.Errorf("read from the device: %w", err)
	}
	copy(buf, p.buf)
	return lost, nil
}

func (p *portInput) waiting() int {
	n, err := p.stream.AvailableToRead()
	if err != nil {
		return 0 // the next read says so
	}
	return n
}

// close gives up what the device still holds.
func (p *portInput) close() {
	_ = p.stream.Abort()
	_ = p.stream.Close()
}
