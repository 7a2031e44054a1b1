package cpu

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Threads returns how many threads make sense for one pool: one for each of
// [Cores], or fewer where the control group of the process may not use so much time.
func Threads() int { return machine{"/"}.threads() }

// Cores returns the CPUs that are worth a thread, in ascending order, out of those
// that the process may run on:
//
//   - Of the hardware threads of one core only the first: the kernels keep a core's
//     multipliers busy from one thread.
//   - On a board with big and small cores only the big ones: a loop ends when its
//     slowest thread does, and a Cortex-A55 takes some four times as long as an A78.
func Cores() []int { return machine{"/"}.cores() }

// machine is what the kernel shows of the processor and the process in the files
// below root.
type machine struct{ root string }

func (m machine) threads() int {
	return int(max(1, math.Ceil(min(float64(len(m.cores())), m.quota()))))
}

func (m machine) cores() []int {
	allowed := m.allowed()
	// A55: 0.25 to 0.3 of an A78. A cluster's fastest core exceeds the others by less.
	big := m.best(allowed, "cpu_capacity", 0.5)
	if len(big) == 0 && m.read(cpuFile(allowed[0], "regs/identification/midr_el1")) != "" {
		// Arm, with a device tree that has no capacities. Clock rates say little between
		// cores of different make (Genio 700: A55 2.0 GHz, A78 2.2 GHz), so only the
		// fastest are sure to be big. Elsewhere rates differ between equal cores.
		big = m.best(allowed, "cpufreq/cpuinfo_max_freq", 0.96)
	}
	if len(big) == 0 {
		big = allowed
	}
	return slices.DeleteFunc(slices.Clone(big), func(c int) bool {
		siblings := parseCPUs(m.read(cpuFile(c, "topology/thread_siblings_list")))
		return slices.ContainsFunc(big, func(b int) bool { return b < c && slices.Contains(siblings, b) })
	})
}

// best returns the CPUs whose figure in a file is at least share of the largest one,
// none where the file is missing.
func (m machine) best(cpus []int, file string, share float64) []int {
	figures := make([]float64, len(cpus))
	for i, c := range cpus {
		figures[i], _ = strconv.ParseFloat(m.read(cpuFile(c, file)), 64)
	}
	var best []int
	for i, c := range cpus {
		if figures[i] > 0 && figures[i] >= share*slices.Max(figures) {
			best = append(best, c)
		}
	}
	return best
}

// allowed lists the CPUs that the process may run on (its affinity mask).
func (m machine) allowed() []int {
	for line := range strings.Lines(m.read("proc/self/status")) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			if cpus := parseCPUs(strings.TrimSpace(list)); len(cpus) > 0 {
				return cpus
			}
		}
	}
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

// quota returns how many CPUs' time the control group of the process, and those
// around it, may use: cpu.max in version 2, cpu.cfs_quota_us in version 1.
func (m machine) quota() float64 {
	least := math.Inf(1)
	for line := range strings.Lines(m.read("proc/self/cgroup")) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(part) != 3 || part[1] != "" && !slices.Contains(strings.Split(part[1], ","), "cpu") {
			continue
		}
		mount := "sys/fs/cgroup"
		if part[1] != "" {
			mount = "sys/fs/cgroup/cpu"
		}
		for group := path.Clean("/" + part[2]); ; group = path.Dir(group) {
			least = min(least, m.groupQuota(mount+group))
			if group == "/" {
				break
			}
		}
	}
	return least
}

func (m machine) groupQuota(dir string) float64 {
	limit := m.read(dir+"/cpu.max") + " " + m.read(dir+"/cpu.cfs_quota_us") + " " + m.read(dir+"/cpu.cfs_period_us")
	var quota, period float64
	if n, _ := fmt.Sscan(limit, &quota, &period); n == 2 && quota > 0 && period > 0 {
		return quota / period
	}
	return math.Inf(1) // "max", or -1 in version 1
}

func cpuFile(cpu int, name string) string {
	return fmt.Sprintf("sys/devices/system/cpu/cpu%d/%s", cpu, name)
}

// read returns a small file without the space around it, "" where it cannot be read.
func (m machine) read(name string) string {
	b, _ := os.ReadFile(path.Join(m.root, name))
	return strings.TrimSpace(string(b))
}

// parseCPUs reads the kernel's lists: "0-3,8". What is malformed is left out.
func parseCPUs(list string) []int {
	const most = 1 << 16
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 0 || b >= most {
			continue
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus
}
