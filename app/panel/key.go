package panel

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Key is a key or a switch, on every input device that has it. Create it with NewKey; Run
// does the work. It calls Pressed and Moved for several devices at a time.
type Key struct {
	Code    Code
	Device  string        // the device's name or a part of it, or its path; empty takes any
	Pressed func()        // of a key: it was pressed
	Moved   func(on bool) // of a switch: where it stands, also when it was found
	Log     *slog.Logger

	status
	dir  string
	open func(path string, c Code) (*input, error)

	mu     sync.Mutex
	inUse  map[string]string      // names of devices by their paths
	others map[string]fs.FileInfo // devices that don't have the key, as they were then
	gone   chan struct{}          // one in use is no more
}

// NewKey returns a key that is looked for in /dev/input.
func NewKey(c Code) *Key {
	k := &Key{
		Code: c, Pressed: func() {}, Moved: func(bool) {}, Log: slog.New(slog.DiscardHandler),
		dir: "/dev/input", open: openInput,
		inUse: map[string]string{}, others: map[string]fs.FileInfo{}, gone: make(chan struct{}, 1),
	}
	k.set(Searching, "", "")
	return k
}

// Run listens to the key until ctx ends.
func (k *Key) Run(ctx context.Context) {
	var readers sync.WaitGroup
	defer readers.Wait()
	wait, lost := soonest, time.Time{}
	for ctx.Err() == nil {
		k.look(ctx, &readers)
		select {
		case <-ctx.Done():
		case <-k.gone:
			if time.Since(lost) > 2*latest {
				wait = soonest // it worked
			}
			lost = time.Now()
			sleep(ctx, wait)
		case <-time.After(wait):
		}
		wait = longer(wait)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// look opens the devices that have the key.
func (k *Key) look(ctx context.Context, readers *sync.WaitGroup) {
	paths, err := k.paths()
	for _, path := range paths {
		d, openErr := k.try(path)
		if openErr != nil {
			err = cmp.Or(err, openErr)
		}
		if d != nil {
			readers.Go(func() { k.read(ctx, path, d) })
		}
	}
	k.tell(err)
}

// paths are the devices to look at.
func (k *Key) paths() ([]string, error) {
	if filepath.IsAbs(k.Device) {
		return []string{k.Device}, nil
	}
	entries, err := os.ReadDir(k.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // as there is no input device
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "event") {
			paths = append(paths, filepath.Join(k.dir, e.Name()))
		}
	}
	return paths, err
}

// try opens a device, unless it is open or is known not to have the key: opening wakes it.
func (k *Key) try(path string) (*input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, open := k.inUse[path]; open {
		return nil, nil
	}
	if known := k.others[path]; known != nil && os.SameFile(known, info) && known.ModTime().Equal(info.ModTime()) {
		return nil, nil
	}
	delete(k.others, path)
	d, err := k.open(path, k.Code)
	if err != nil {
		return nil, err
	}
	if d != nil && !k.meant(d.name) {
		d.Close()
		d = nil
	}
	if d == nil {
		k.others[path] = info
		return nil, nil
	}
	k.inUse[path] = cmp.Or(d.name, path)
	return d, nil
}

// meant says whether the device with a name is one that was asked for.
func (k *Key) meant(name string) bool {
	return filepath.IsAbs(k.Device) || strings.Contains(strings.ToLower(name), strings.ToLower(k.Device))
}

// read passes on what a device says, to its end.
func (k *Key) read(ctx context.Context, path string, d *input) {
	stop := context.AfterFunc(ctx, func() { d.Close() })
	defer stop()
	k.position(d)
	err := readEvents(bufio.NewReaderSize(d, 64*eventBytes), func(e event) { k.take(d, e) })
	d.Close()
	k.mu.Lock()
	name := k.inUse[path]
	delete(k.inUse, path)
	k.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is gone")
	}
	k.tell(fmt.Errorf("%s: %w", name, err))
	select {
	case k.gone <- struct{}{}:
	default:
	}
}

func (k *Key) take(d *input, e event) {
	switch {
	case e.kind == evSyn && e.code == synDropped:
		k.position(d)
	case e.kind != k.Code.kind || e.code != k.Code.number:
	case k.Code.IsSwitch():
		k.Moved(e.value != 0)
	case e.value == 1:
		k.Pressed()
	}
}

// position asks where a switch stands.
func (k *Key) position(d *input) {
	if d.on == nil {
		return
	}
	on, err := d.on()
	if err != nil {
		k.Log.Warn("mute switch", "device", d.name, "problem", err) // what it says next is heard
		return
	}
	k.Moved(on)
}

// tell brings the status up to date; err is why a device is not in use.
func (k *Key) tell(err error) {
	k.mu.Lock()
	var devices []string
	for _, name := range k.inUse {
		devices = append(devices, name)
	}
	k.mu.Unlock()
	slices.Sort(devices)
	state, reason := Ready, ""
	if len(devices) == 0 {
		state, reason = Searching, fmt.Sprintf("no input device has %v", k.Code)
		if k.Device != "" {
			reason = fmt.Sprintf("no input device %q has %v", k.Device, k.Code)
		}
		if err != nil {
			reason = err.Error()
		}
	}
	if k.set(state, reason, strings.Join(devices, ", ")) {
		k.Log.Info("mute key", "state", state, "device", strings.Join(devices, ", "), "reason", reason)
	}
}
