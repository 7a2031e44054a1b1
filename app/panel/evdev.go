package panel

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// input is an open input device.
type input struct {
	io.ReadCloser
	name string
	// on says where its switch stands; nil for a key.
	on func() (bool, error)
}

// openInput opens a device. It is nil where the device does not have the code.
func openInput(path string, c Code) (*input, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // so that Close ends Read
	if err != nil {
		return nil, err
	}
	d := &input{ReadCloser: f}
	has, err := d.probe(f, c)
	if err != nil || !has {
		f.Close()
		return nil, err
	}
	return d, nil
}

// probe asks whether the device has the code, and for nothing but that: of a keyboard, what
// is typed never gets here.
func (d *input) probe(f *os.File, c Code) (has bool, err error) {
	codes := make(bits, maxKey/8+1)
	if err := ioctl(f, eviocGBit(c.kind, len(codes)), codes); err != nil {
		return false, fmt.Errorf("%s: is it an input device? %w", f.Name(), err)
	}
	if !codes.has(c.number) {
		return false, nil
	}
	name := make(bits, 256)
	if err := ioctl(f, eviocGName(len(name)), name); err == nil {
		d.name = string(bytes.TrimRight(name, "\x00"))
	}
	// Linux before 4.4 can't do that, and sends everything.
	_ = mask(f, evSyn, c.kind)
	_ = mask(f, c.kind, c.number)
	if c.IsSwitch() {
		d.on = func() (bool, error) {
			state := make(bits, maxSwitch/8+1)
			err := ioctl(f, eviocGSw(len(state)), state)
			return state.has(c.number), err
		}
	}
	return true, nil
}

// bits is a set of numbers, as the kernel writes it; on little-endian machines it makes no
// difference that there it consists of longs.
type bits []byte

func (b bits) has(n uint16) bool { return int(n/8) < len(b) && b[n/8]>>(n%8)&1 != 0 }

// Requests of linux/input.h, as _IOC of asm-generic/ioctl.h makes them: direction, size,
// type 'E', number.
const (
	iocWrite = 1 << 30
	iocRead  = 2 << 30

	eviocSMask = iocWrite | 16<<16 | 'E'<<8 | 0x93
)

func eviocGName(size int) uint { return iocRead | uint(size)<<16 | 'E'<<8 | 0x06 }
func eviocGSw(size int) uint   { return iocRead | uint(size)<<16 | 'E'<<8 | 0x1b }
func eviocGBit(kind uint16, size int) uint {
	return iocRead | uint(size)<<16 | 'E'<<8 | (0x20 + uint(kind))
}

// mask leaves only one code of a type to what f reads. For evSyn the codes are the types.
func mask(f *os.File, kind, code uint16) error {
	codes := make(bits, maxKey/8+1)
	codes[code/8] = 1 << (code % 8)
	// struct input_mask: type, bytes of the codes, their address.
	m := struct {
		kind, size uint32
		codes      unsafe.Pointer
	}{uint32(kind), uint32(len(codes)), unsafe.Pointer(&codes[0])}
	return call(f, eviocSMask, unsafe.Pointer(&m))
}

func ioctl(f *os.File, request uint, into bits) error {
	return call(f, request, unsafe.Pointer(&into[0]))
}

func call(f *os.File, request uint, p unsafe.Pointer) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno unix.Errno
	if err := conn.Control(func(fd uintptr) { _, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, uintptr(request), uintptr(p)) }); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}
