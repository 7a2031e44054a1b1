//go:build linux

package npu

import (
	"os"

	"golang.org/x/sys/unix"
)

// raiseDescriptors lets this process have as many file descriptors as it may, and returns
// how many: each allocation of the NPU's memory takes one (facts/npu.md 10.2).
func raiseDescriptors() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	if raised := (unix.Rlimit{Cur: l.Max, Max: l.Max}); l.Cur < l.Max && unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
		l = raised
	}
	return int(l.Cur)
}

// descriptors counts the open ones of this process, 0 where /proc is not there.
func descriptors() int {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return len(names) - 1 // without that of the folder
}
