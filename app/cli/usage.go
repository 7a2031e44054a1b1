package cli

import (
	"strconv"
	"strings"
	"syscall"
	"time"
)

// peakRSS is the most memory that the process has held, in bytes, or 0 where the
// system does not say. (getrusage will not do: what it counts starts with the peak
// of the process that started this one.)
func peakRSS() int64 {
	kib, _ := lineOf("/proc/self/status", "VmHWM")
	n, _ := strconv.ParseInt(strings.TrimSuffix(kib, " kB"), 10, 64)
	return n * 1024
}

// cpuTime is what all threads of the process have computed, in and outside the
// kernel, since it started.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
