//go:build linux

package npu

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// arena is memory outside Go's, for what the library keeps pointers to.
type arena struct {
	blocks [][]byte
	free   []byte // of the last block
}

// arenaBlock is the smallest block, bytes.
const arenaBlock = 1 << 18

// get returns size bytes, all zero.
func (a *arena) get(size int) ([]byte, error) {
	n := aligned(size)
	if n > len(a.free) {
		block, err := unix.Mmap(-1, 0, max(n, arenaBlock), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return nil, fmt.Errorf("%d bytes of memory: %w", n, err)
		}
		a.blocks, a.free = append(a.blocks, block), block
	}
	b := a.free[:size:size]
	a.free = a.free[n:]
	return b, nil
}

func (a *arena) close() {
	for _, b := range a.blocks {
		_ = unix.Munmap(b)
	}
	*a = arena{}
}
