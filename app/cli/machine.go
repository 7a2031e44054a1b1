package cli

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine is what a program runs on.
type machine struct {
	Processor   string `json:"processor"`
	Cores       int    `json:"cores"`        // that the process may use
	MemoryBytes int64  `json:"memory_bytes"` // 0 where the system does not say
}

func thisMachine() machine {
	m := machine{Processor: processor(), Cores: runtime.NumCPU()}
	if kib, ok := lineOf("/proc/meminfo", "MemTotal"); ok {
		n, _ := strconv.ParseInt(strings.TrimSuffix(kib, " kB"), 10, 64)
		m.MemoryBytes = n * 1024
	}
	return m
}

// processor names the processor, or the board where only that has a name (Arm).
func processor() string {
	if name, ok := lineOf("/proc/cpuinfo", "model name"); ok {
		return name
	}
	if board, err := os.ReadFile("/proc/device-tree/model"); err == nil {
		return strings.Trim(string(board), "\x00 \n")
	}
	return runtime.GOARCH
}

// lineOf finds "key : value" in one of the files that the kernel makes up.
func lineOf(file, key string) (value string, found bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
