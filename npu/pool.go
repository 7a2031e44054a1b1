//go:build linux

package npu

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pool is the memory of all inputs, or of all outputs, of a network: one descriptor,
// that another process can map too.
type pool struct {
	layout
	fd     int
	dmaBuf bool
	mem    []byte
}

// dmaHeap is where memory for devices comes from.
const dmaHeap = "/dev/dma_heap/system"

// newPool allocates from a heap of dma-bufs, or, where that does not give any, from the
// memory that shared files have.
func newPool(l layout, heap string) (*pool, error) {
	size := max(l.total, alignment)
	fd, err := fromHeap(heap, size)
	if dmaBuf := err == nil; dmaBuf {
		return mapPool(l, fd, true)
	}
	if fd, err = sharedMemory("earshot-npu", size); err != nil {
		return nil, err
	}
	return mapPool(l, fd, false)
}

// mapPool takes fd over.
func mapPool(l layout, fd int, dmaBuf bool) (*pool, error) {
	size := max(l.total, alignment)
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return &pool{l, fd, dmaBuf, mem}, nil
}

func (p *pool) close() {
	if p != nil && p.mem != nil {
		_ = unix.Munmap(p.mem)
		unix.Close(p.fd)
		p.mem = nil
	}
}

// at is tensor i.
func (p *pool) at(i int) []byte {
	from, to := p.offsets[i], p.offsets[i]+p.tensors[i].Bytes
	return p.mem[from:to:to]
}

// put copies tensors in.
func (p *pool) put(src [][]byte) error {
	return p.access(dmaBufWrite, func() {
		for i, b := range src {
			copy(p.at(i), b)
		}
	})
}

// get copies tensors out.
func (p *pool) get(dst [][]byte) error {
	return p.access(dmaBufRead, func() {
		for i, b := range dst {
			copy(b, p.at(i))
		}
	})
}

// DMA_BUF_IOCTL_SYNC and DMA_HEAP_IOCTL_ALLOC: linux/dma-buf.h, linux/dma-heap.h.
const (
	dmaBufSync    = 0x40086200
	dmaBufRead    = 1
	dmaBufWrite   = 2
	dmaBufEnd     = 4
	dmaHeapAlloc  = 0xc0184800
	dmaHeapFDFlag = unix.O_RDWR | unix.O_CLOEXEC
)

// access is what the processor does with the memory of a device: between the two calls
// its cache is kept equal to it.
func (p *pool) access(flags uint64, f func()) error {
	if !p.dmaBuf {
		f()
		return nil
	}
	if err := ioctl(p.fd, dmaBufSync, unsafe.Pointer(&flags)); err != nil {
		return fmt.Errorf("DMA_BUF_IOCTL_SYNC: %w", err)
	}
	f()
	flags |= dmaBufEnd
	if err := ioctl(p.fd, dmaBufSync, unsafe.Pointer(&flags)); err != nil {
		return fmt.Errorf("DMA_BUF_IOCTL_SYNC: %w", err)
	}
	return nil
}

// fromHeap allocates a dma-buf.
func fromHeap(path string, size int) (int, error) {
	heap, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return -1, err
	}
	defer heap.Close()
	request := struct {
		len       uint64
		fd        uint32
		fdFlags   uint32
		heapFlags uint64
	}{len: uint64(size), fdFlags: dmaHeapFDFlag}
	if err := ioctl(int(heap.Fd()), dmaHeapAlloc, unsafe.Pointer(&request)); err != nil {
		return -1, fmt.Errorf("%s: DMA_HEAP_IOCTL_ALLOC of %d bytes: %w", path, size, err)
	}
	return int(request.fd), nil
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
		runtime.KeepAlive(argument)
		switch errno {
		case 0:
			return nil
		case unix.EINTR, unix.EAGAIN:
		default:
			return errno
		}
	}
}
