//go:build linux

package npu

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// sharedMemory makes a file in memory. Its pages are allocated at once: where there are
// none left this fails, and not whoever writes later.
func sharedMemory(name string, size int) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	if err := unix.Fallocate(fd, 0, 0, int64(size)); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("%d bytes of shared memory: %w", size, err)
	}
	return fd, nil
}

// fill makes shared memory, which is the caller's, with what f writes into it.
func fill(name string, size int, f func(mem []byte)) (int, error) {
	fd, err := sharedMemory(name, size)
	if err != nil {
		return -1, err
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	f(mem)
	_ = unix.Munmap(mem)
	return fd, nil
}

// mapFile maps the whole of a file for reading.
func mapFile(fd int) ([]byte, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	if stat.Size < 1 || stat.Size > math.MaxInt {
		return nil, fmt.Errorf("memory of %d bytes", stat.Size)
	}
	return unix.Mmap(fd, 0, int(stat.Size), unix.PROT_READ, unix.MAP_SHARED)
}

// withMemory maps the memory that came with a message.
func withMemory(fds []int, f func(mem []byte) error) error {
	if len(fds) != 1 {
		return fmt.Errorf("a message with %d pieces of memory", len(fds))
	}
	mem, err := mapFile(fds[0])
	if err != nil {
		return err
	}
	defer unix.Munmap(mem)
	return f(mem)
}
